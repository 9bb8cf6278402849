"""`paribus status`: the experiments of the store, and what is changed on this machine right now."""

from paribus.cli.options import AsJson, Become, StoreUrl, TargetName
from paribus.cli.terminal import say_json


def status(
    store: StoreUrl = None, target: TargetName = "local", become: Become = False, as_json: AsJson = False
) -> None:
    """List the experiments, and the settings that are changed right now on this machine, or on a target.

    Ends with exit code 4 where the machine cannot be looked at, or a journal is damaged.

    Example: paribus status
    """
    from paribus.cli import overview
    from paribus.cli.console import VisibleConsole
    from paribus.knobs.journal import raise_problems

    document = overview.document(store, target, become=become)
    if as_json:
        say_json(document.model_dump_json(indent=2))
    else:
        overview.show(document, VisibleConsole(highlight=False))
    raise_problems(document.problems)
