"""`paribus run`: carry out a plan."""

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paribus.cli.options import (
    AsJson,
    FailOn,
    Overrides,
    PlanFile,
    StoreUrl,
    fail_if,
    read_conditions,
    read_overrides,
)
from paribus.cli.terminal import report_line, say_json

if TYPE_CHECKING:
    from paribus.lab.results.conditions import FailCondition
    from paribus.lab.running import Session

ReportFile = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="FILE", help="The file of the HTML report. Default: in reports/ beside the store."
    ),
]

NoReport = Annotated[
    bool, typer.Option("--no-report", help="Write no HTML report. Later, paribus report --format html writes it.")
]

Strict = Annotated[
    bool,
    typer.Option("--strict", help="End with exit code 3 if a comparison has too few usable trials to be judged."),
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Print a line for each finished trial instead of one per minute.")
]


def run(
    plan_file: PlanFile,
    overrides: Overrides = None,
    store: StoreUrl = None,
    report_file: ReportFile = None,
    no_report: NoReport = False,
    fail_on: FailOn = "",
    strict: Strict = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Run the experiment of a plan, and restore the machine.

    Ctrl-C stops it at any point. The machine is restored, what was measured is kept, and paribus resume continues.

    Example: paribus run examples/first.toml
    """
    from paribus.lab.running import started

    conditions = read_conditions(fail_on)
    refuse_contradiction(report_file, no_report)
    with started(str(plan_file), read_overrides(overrides), store, report_line) as session:
        report_path = html_report_path(session, report_file, no_report)
        carry_out(session, report_path, conditions, strict=strict, verbose=verbose, as_json=as_json)


def refuse_contradiction(report_file: Path | None, no_report: bool) -> None:
    """Raise UsageError where a file is given for a report that is not wanted."""
    from paribus.errors import UsageError

    if no_report and report_file is not None:
        raise UsageError(f"--report {report_file} and --no-report exclude each other", "give one of them")


def html_report_path(session: "Session", report_file: Path | None, no_report: bool) -> Path | None:
    """Return the file of the HTML report; None for no report."""
    from paribus.lab.stores import default_report_path

    return None if no_report else report_file or default_report_path(session.store, session.experiment.id)


def carry_out(
    session: "Session",
    report_path: Path | None,
    conditions: "frozenset[FailCondition]",
    *,
    strict: bool,
    verbose: bool,
    as_json: bool,
) -> None:
    """Run or resume an experiment with its progress on stderr; end with its verdicts, report and exit code.

    The code is 0, or 3 if `strict` and something could not be judged, or 1 if one of the `conditions` holds.
    """
    from paribus.cli.console import VisibleConsole
    from paribus.cli.progress import ProgressDisplay
    from paribus.cli.signals import StopRequest
    from paribus.errors import ParibusError
    from paribus.files import make_folder
    from paribus.lab.results import reporting
    from paribus.lab.results.conditions import is_incomplete, of_judgement
    from paribus.report.render import text

    experiment = session.experiment
    stop = StopRequest()
    stop.listen()
    stderr = VisibleConsole(stderr=True, highlight=False)
    with ProgressDisplay(stderr, verbose=verbose) as display:
        display.on_notes(
            [f"experiment {experiment.id} ({experiment.name})", *(f"note: {note}" for note in experiment.notes)]
        )
        session.carry_out(display, stop.is_requested)
    stop.release(
        "stopped before the report was written; all is measured", f"write it with: paribus report {experiment.id}"
    )
    judgement = session.judge()
    ended = session.ended()
    view = reporting.report_view(session.store, ended)
    if report_path is not None:  # first: it is there whoever reads what follows
        with contextlib.suppress(OSError):  # which writing tells of
            make_folder(report_path.parent)
        report_path = reporting.write_html(view, report_path)
    if as_json:
        say_json(reporting.report_document(session.store, ended).model_dump_json(indent=2))
    else:
        console = VisibleConsole(highlight=False)
        console.print()
        text.conclusions(view, console)
        if report_path is not None:
            console.print(f"\nreport: {report_path}", markup=False, soft_wrap=True)
    if strict and is_incomplete(judgement):
        raise typer.Exit(ParibusError.exit_code)
    fail_if(conditions, of_judgement(judgement))
