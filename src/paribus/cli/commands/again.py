"""`paribus again`: ask the open questions of an experiment in a new one."""

from typing import Annotated

import typer

from paribus.cli.carrying_out import CourseOptions, carry_out, with_course_options
from paribus.cli.options import ExperimentName
from paribus.cli.terminal import report_line, say_as_is


@with_course_options
def again(
    experiment: ExperimentName = "last",
    budget: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="The most machine time, such as 1h. Default: what would decide every question, if effects are as "
            "estimated, and half as much again.",
            show_default=False,
        ),
    ] = "",
    print_plan: Annotated[
        bool, typer.Option("--print", help="Print the plan, to be saved and edited; do nothing else.")
    ] = False,
    *,
    options: CourseOptions,
) -> None:
    """Ask the open questions of an experiment in a new one, with more pairs.

    Keeps the plan; a setting that is decided stays at its baseline. The new verdicts rest on the new pairs alone.
    Without a name, or with last, it is the newest experiment that is done.

    Example: paribus again last --budget 1h
    """
    from paribus.lab.plans.follow_up_plan import parsed_follow_up_plan
    from paribus.lab.running import started_as_parsed
    from paribus.lab.store.stores import open_store

    parsed = parsed_follow_up_plan(open_store(options.store), experiment, budget, report_line)
    if print_plan:
        say_as_is(parsed.text)
        return
    with started_as_parsed(parsed, options.store, report_line, options.admission) as session:
        carry_out(session, options)
