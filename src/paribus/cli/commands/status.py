"""`paribus status`: experiments of the store, and open changes of a machine."""

from paribus.cli.options import AsJson, Become, StoreUrl, TargetName
from paribus.cli.terminal import report_line, say_json


def status(
    store: StoreUrl = None, target: TargetName = "local", become: Become = False, as_json: AsJson = False
) -> None:
    """List experiments, and the settings that are changed now.

    Ends with exit code 4 if the machine cannot be inspected, or a journal is damaged.

    Example: paribus status
    """
    from paribus.cli.console import VisibleConsole
    from paribus.cli.texts.status import show
    from paribus.lab.status import document as status_document
    from paribus.lab.status import raise_problems

    document = status_document(store, target, become=become, report=report_line)
    if as_json:
        say_json(document.model_dump_json(indent=2))
    else:
        show(document, VisibleConsole(highlight=False))
    raise_problems(document.problems)
