"""`paribus run`: carry out a plan."""

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paribus.cli.options import AsJson, Overrides, PlanFile, StoreUrl, read_overrides
from paribus.cli.terminal import report_line, say_json

if TYPE_CHECKING:
    from paribus.lab.running import Session

ReportFile = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="FILE", help="The file of the HTML report. Default: in reports/ beside the store."
    ),
]


def run(
    plan_file: PlanFile,
    overrides: Overrides = None,
    store: StoreUrl = None,
    report_file: ReportFile = None,
    as_json: AsJson = False,
) -> None:
    """Run the experiment of a plan, and restore the machine.

    Ctrl-C stops it at any point. The machine is restored, what was measured is kept, and paribus resume continues.

    Example: paribus run examples/first.toml
    """
    from paribus.lab.running import started

    with started(str(plan_file), read_overrides(overrides), store, report_line) as session:
        carry_out(session, report_file, as_json=as_json)


def carry_out(session: "Session", report_file: Path | None, *, as_json: bool) -> None:
    """Run or resume an experiment with its progress on stderr; end with its verdicts and its exit code."""
    from paribus.cli.console import VisibleConsole
    from paribus.cli.progress import ProgressDisplay
    from paribus.cli.signals import StopRequest
    from paribus.lab.results import reporting
    from paribus.lab.stores import default_report_path
    from paribus.report.render import text

    experiment = session.experiment
    stop = StopRequest()
    stop.listen()
    stderr = VisibleConsole(stderr=True, highlight=False)
    with ProgressDisplay(stderr) as display:
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
    path = report_file or default_report_path(session.store, experiment.id)
    with contextlib.suppress(OSError):  # which writing tells of
        path.parent.mkdir(parents=True, exist_ok=True)
    written = reporting.write_html(view, path)  # first: it is there whoever reads what follows
    if as_json:
        say_json(reporting.report_document(session.store, ended).model_dump_json(indent=2))
    else:
        console = VisibleConsole(highlight=False)
        console.print()
        text.conclusions(view, console)
        console.print(f"\nreport: {written}", markup=False, soft_wrap=True)
    raise typer.Exit(reporting.exit_code(judgement))
