"""`paribus store`: stores as a whole."""

from typing import Annotated

import typer

from paribus.cli.options import refuse_password
from paribus.cli.terminal import report_line, say

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def store() -> None:
    """Copy experiments between stores.

    Example: paribus store copy paribus.db postgresql://lab@db0/lab
    """


@app.command("copy")
def copy(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FROM", help="A store: a file, or a database's URL.", callback=refuse_password, show_default=False
        ),
    ],
    target: Annotated[
        str,
        typer.Argument(
            metavar="TO",
            help="A store, which is made where it is missing.",
            callback=refuse_password,
            show_default=False,
        ),
    ],
) -> None:
    """Copy every finished experiment and imported set that the other store lacks.

    What is there already stays as it is. Each experiment is copied as a whole or not at all. One that is not finished
    is left out: copy again when it is.

    Example: paribus store copy /var/lib/paribus/paribus.db postgresql://lab@db0/lab
    """
    from paribus.lab.stores import copy_store

    counts = copy_store(source, target, report_line)
    unfinished = f"; not finished, and left out: {counts.unfinished}" if counts.unfinished else ""
    say(f"copied: {counts.copied}; there already: {counts.present}{unfinished}")
