"""`paribus try`: settings of the command line compared without a plan file."""

from typing import Annotated

import typer

from paribus.cli.carrying_out import CourseOptions, carry_out, with_course_options
from paribus.cli.options import Overrides, knob_names, read_overrides, workload_names
from paribus.cli.terminal import report_line, say_as_is


def _servers(incomplete: str) -> list[str]:
    from paribus.model import FAMILIES

    return [kind for kind in FAMILIES if kind.startswith(incomplete)]


@with_course_options
def try_(
    settings: Annotated[
        list[str],
        typer.Argument(
            metavar="KEY=LEVEL,LEVEL…",
            help="Settings, each with two levels or more; the first is the baseline. A level holds no comma.",
            autocompletion=knob_names,
            show_default=False,
        ),
    ],
    workload: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="The load. Default: that of a parameter among the settings, else oltp_read_write for a server, "
            "else fileio.",
            autocompletion=workload_names,
            show_default=False,
        ),
    ] = "",
    threads: Annotated[
        str, typer.Option(metavar="N,N…", help="Load levels: operations outstanding at once. Default: 1.")
    ] = "",
    database: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="A private server: mariadb, mysql, percona, postgres, or sqlite. Default: by the names of settings.",
            autocompletion=_servers,
        ),
    ] = "",
    path: Annotated[
        str, typer.Option(metavar="FOLDER", help="The folder under which data is made. Default: this folder.")
    ] = "",
    device: Annotated[
        str, typer.Option(metavar="DISK", help="The disk of block.* knobs. Default: the one under the path.")
    ] = "",
    margin: Annotated[
        str, typer.Option(metavar="SHARE", help="What is too small to matter, such as 3%. Default: as in a plan.")
    ] = "",
    trial: Annotated[str, typer.Option(metavar="TIME", help="Measured time of a trial. Default: as in a plan.")] = "",
    budget: Annotated[
        str, typer.Option(metavar="TIME", help="The most machine time, such as 20min. Default: as in a plan.")
    ] = "",
    print_plan: Annotated[
        bool, typer.Option("--print", help="Print the plan, to be saved and edited; do nothing else.")
    ] = False,
    overrides: Overrides = None,
    *,
    options: CourseOptions,
) -> None:
    """Compare levels of settings without a plan file, and restore the machine.

    Makes a plan and runs it as paribus run does. The store keeps the plan, so that paribus resume continues.

    Example: paribus try mysql.innodb_io_capacity=200,2000 --threads 4,16 --budget 20min
    """
    from paribus.lab.plans.short_plan import ShortPlan, parsed_short_plan, printed
    from paribus.lab.running import started_as_parsed

    short_plan = ShortPlan(
        settings=settings,
        workload=workload,
        database=database,
        threads=threads,
        path=path,
        device=device,
        margin=margin,
        trial=trial,
        budget=budget,
    )
    parsed = parsed_short_plan(short_plan, read_overrides(overrides))
    if print_plan:
        say_as_is(printed(parsed))  # its writer escapes what cannot be printed
        return
    with started_as_parsed(parsed, options.store, report_line, options.admission) as session:
        carry_out(session, options)
