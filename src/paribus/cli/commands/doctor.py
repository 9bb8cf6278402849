"""`paribus doctor`: is this machine fit to measure on?"""

from typing import Annotated

import typer

from paribus.cli.options import AsJson, Become
from paribus.cli.terminal import say_json


def doctor(
    target: Annotated[
        str, typer.Argument(metavar="[TARGET]", help="local, or ssh://[user@]host[:port].", show_default=False)
    ] = "local",
    path: Annotated[str, typer.Option(help="The folder under which data would be made.")] = ".",
    become: Become = False,
    as_json: AsJson = False,
) -> None:
    """Look whether a machine is fit to measure on, and say what mends it. Nothing is changed.

    Takes a few seconds: other load, neighbours, governor, turbo, clock, swap, space, heat, and who else sets knobs.

    Example: paribus doctor ssh://dba@db1 --path /data
    """
    from paribus.cli import diagnosis
    from paribus.cli.console import VisibleConsole
    from paribus.cli.target import site
    from paribus.hosts.transport import described

    with site(target, become=become) as there, described(target):
        found = diagnosis.document(there, path)
    if as_json:
        say_json(found.model_dump_json(indent=2))
    else:
        diagnosis.show(found, VisibleConsole(highlight=False))
