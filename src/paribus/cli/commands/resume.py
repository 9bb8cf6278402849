"""`paribus resume`: continue an interrupted experiment."""

from pathlib import Path
from typing import Annotated

import typer

from paribus.cli.carrying_out import CourseOptions, carry_out, with_course_options
from paribus.cli.options import ExperimentName
from paribus.cli.terminal import report_line


@with_course_options
def resume(
    experiment: ExperimentName = "last",
    plan_file: Annotated[
        Path | None,
        typer.Option("--plan", metavar="FILE", help="Refuse unless this file is the plan of the experiment."),
    ] = None,
    budget: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="The most machine time, such as 1h, with what was used before. Default: that of the plan.",
            show_default=False,
        ),
    ] = "",
    *,
    options: CourseOptions,
) -> None:
    """Continue an interrupted experiment.

    Without a name, or with last, it is the newest experiment that is not done. Starts with the first incomplete block.
    The plan is the one that was stored at the start; a changed plan file is a new experiment. An experiment that has
    used up its budget continues with a larger one.

    Example: paribus resume last
    """
    from paribus.lab.running import resumed

    plan = str(plan_file) if plan_file is not None else None
    with resumed(experiment, plan, options.store, report_line, options.admission, budget) as session:
        carry_out(session, options)
