"""The course of an experiment on the terminal, from its first trial to its report and exit code."""

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import typer

from paribus.cli.options import fail_if, read_conditions
from paribus.cli.progress_log import progress_log
from paribus.cli.terminal import say_json

if TYPE_CHECKING:
    from paribus.lab.results.conditions import FailCondition
    from paribus.lab.running import Session


@dataclass(frozen=True, slots=True)
class Ending:
    """The options of a command that say how an experiment is shown and how it ends.

    `report_file` None is the default file of the HTML report.
    """

    report_file: Path | None
    no_report: bool
    conditions: "frozenset[FailCondition]"
    strict: bool
    verbose: bool
    quiet: bool
    log_file: Path | None
    as_json: bool

    @classmethod
    def of(
        cls,
        report_file: Path | None,
        no_report: bool,
        fail_on: str,
        *,
        strict: bool,
        verbose: bool,
        quiet: bool,
        log_file: Path | None,
        as_json: bool,
    ) -> Self:
        """Return the options. Raises UsageError where one is wrong, or two exclude each other."""
        from paribus.errors import UsageError

        for together, names in (
            (no_report and report_file is not None, f"--report {report_file} and --no-report"),
            (verbose and quiet, "--verbose and --quiet"),
        ):
            if together:
                raise UsageError(f"{names} exclude each other", "give one of them")
        with progress_log(log_file):  # refused before anything begins
            pass
        return cls(report_file, no_report, read_conditions(fail_on), strict, verbose, quiet, log_file, as_json)


def carry_out(session: "Session", ending: Ending) -> None:
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
    from paribus.lab.stores import default_report_path
    from paribus.report.render import text

    experiment = session.experiment
    stop = StopRequest()
    stop.listen()
    stderr = VisibleConsole(stderr=True, highlight=False, quiet=ending.quiet)
    with progress_log(ending.log_file) as log, ProgressDisplay(stderr, verbose=ending.verbose, log=log) as display:
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
    report_path = None
    if not ending.no_report:  # first: it is there whoever reads what follows
        report_path = ending.report_file or default_report_path(session.store, experiment.id)
        with contextlib.suppress(OSError):  # which writing tells of
            make_folder(report_path.parent)
        report_path = reporting.write_html(view, report_path)
    if ending.as_json:
        say_json(reporting.report_document(session.store, ended).model_dump_json(indent=2))
    else:
        console = VisibleConsole(highlight=False)
        console.print()
        text.conclusions(view, console)
        if report_path is not None:
            console.print(f"\nreport: {report_path}", markup=False, soft_wrap=True)
    if ending.strict and is_incomplete(judgement):
        raise typer.Exit(ParibusError.exit_code)
    fail_if(ending.conditions, of_judgement(judgement))
