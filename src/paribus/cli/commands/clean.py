"""`paribus clean`: list the data that experiments have left on a machine, and remove it."""

from typing import Annotated

import typer

from paribus.cli.options import AsJson, Become, StoreUrl, TargetName
from paribus.cli.terminal import report_line, say_json


def clean(
    path: Annotated[
        str, typer.Argument(metavar="[PATH]", help="The folder that plans name as target.path.", show_default=True)
    ] = ".",
    target: TargetName = "local",
    become: Become = False,
    remove: Annotated[
        list[str] | None,
        typer.Option("--remove", metavar="EXPERIMENT", help="Remove the data of this experiment. Repeatable."),
    ] = None,
    remove_all: Annotated[
        bool,
        typer.Option("--all", help="Remove the data of experiments that are done, and of yours that the store lacks."),
    ] = False,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """List or remove the data that experiments left in a folder.

    An experiment removes its data at its end; only one that was killed leaves some. Needs no store: the data names its
    experiment.

    Example: paribus clean /var/lib/bench --all
    """
    from paribus.cli.console import VisibleConsole
    from paribus.cli.texts.cleaning import show
    from paribus.errors import UsageError
    from paribus.lab.cleaning import clean as clean_folder

    if remove and remove_all:
        raise UsageError("--remove and --all exclude each other", "name experiments, or remove all")
    document = clean_folder(
        path, store, target=target, become=become, names=remove or (), unneeded=remove_all, report=report_line
    )
    if as_json:
        say_json(document.model_dump_json(indent=2))
    else:
        show(document, VisibleConsole(highlight=False))
