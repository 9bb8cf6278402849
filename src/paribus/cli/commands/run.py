"""`paribus run`: carry out a plan."""

from typing import Annotated

import typer

from paribus.cli.carrying_out import CourseOptions, carry_out, with_course_options
from paribus.cli.options import Overrides, PlanFile, read_overrides
from paribus.cli.terminal import report_line


@with_course_options
def run(
    plan_file: PlanFile,
    overrides: Overrides = None,
    digest: Annotated[str, typer.Option(hidden=True)] = "",  # a fleet checks with it that all machines have one plan
    *,
    options: CourseOptions,
) -> None:
    """Run the experiment of a plan, and restore the machine.

    Ctrl-C stops it at any point. The machine is restored, what was measured is kept, and paribus resume continues.

    Example: paribus run examples/first.toml
    """
    from paribus.lab.running import started

    keys = read_overrides(overrides)
    with started(str(plan_file), keys, options.store, report_line, options.admission, digest) as session:
        carry_out(session, options)
