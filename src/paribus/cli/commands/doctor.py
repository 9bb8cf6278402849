"""`paribus doctor`: is this machine fit to measure on?"""

from typing import Annotated

import typer

from paribus.cli.options import AsJson, Become, FailOn, fail_if, read_conditions
from paribus.cli.terminal import report_line, say_json


def doctor(
    target: Annotated[
        str, typer.Argument(metavar="[TARGET]", help="local, or ssh://[user@]host[:port].", show_default=False)
    ] = "local",
    path: Annotated[str, typer.Option(help="The folder for data, target.path of a plan.")] = ".",
    libvirt: Annotated[
        str,
        typer.Option(
            metavar="URI",
            help="The libvirt there, whose guests are examined. [default: qemu:///system, if there is one]",
        ),
    ] = "",
    become: Become = False,
    fail_on: FailOn = "",
    as_json: AsJson = False,
) -> None:
    """Check whether a machine is fit to measure on; change nothing.

    Lists what would spoil a measurement, with remedies: other load, neighbours, governor, turbo, clock, swap,
    space, heat, layers that are not aligned, and other programs that set knobs. Of guests that run there it
    lists what loses data or costs time, such as a disk's cache mode. Takes a few seconds.
    With --fail-on suspect it ends with exit code 1 where the machine is not fit.

    Example: paribus doctor ssh://dba@db1 --path /data
    """
    from paribus.cli.console import VisibleConsole
    from paribus.cli.texts.doctor import show
    from paribus.lab.machine.doctor import examine
    from paribus.lab.results.conditions import FailCondition

    conditions = read_conditions(fail_on)

    document = examine(target, path, libvirt=libvirt, become=become, report=report_line)
    if as_json:
        say_json(document.model_dump_json(indent=2))
    else:
        show(document, VisibleConsole(highlight=False))
    fail_if(conditions, frozenset() if document.fit else frozenset({FailCondition.SUSPECT}))
