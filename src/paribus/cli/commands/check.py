"""`paribus check`: preview of a plan."""

from typing import Annotated

import typer

from paribus.cli.options import AsJson, Overrides, PlanFile, StoreUrl, read_overrides
from paribus.cli.terminal import report_line, say_json


def check(
    plan_file: PlanFile,
    overrides: Overrides = None,
    store: StoreUrl = None,
    as_json: AsJson = False,
    trials: Annotated[bool, typer.Option("--trials/--no-trials", help="List every block in order.")] = True,
) -> None:
    """Check a plan against this machine; change nothing.

    Prints all problems at once. If there are none, prints every command with its undo, the blocks of trials in order,
    and the time.

    Example: paribus check examples/scheduler.toml --set target.device=/dev/sdb
    """
    from paribus.cli.console import VisibleConsole
    from paribus.cli.texts.checking import show
    from paribus.lab.checking import check_plan

    document = check_plan(str(plan_file), read_overrides(overrides), store, report_line)
    if as_json:
        say_json(document.model_dump_json(indent=2))
    else:
        show(document, VisibleConsole(highlight=False), every_block=trials)
