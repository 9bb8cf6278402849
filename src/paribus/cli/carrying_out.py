"""The course of an experiment on the terminal, from its first trial to its report and exit code."""

import contextlib
import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import typer

from paribus.cli.options import (
    Anyway,
    AsJson,
    FailOn,
    LogFile,
    NoReport,
    Quiet,
    ReportFile,
    StoreUrl,
    Strict,
    Verbose,
    Wait,
    fail_if,
    read_admission,
    read_conditions,
    refuse_together,
)
from paribus.cli.progress_log import progress_log
from paribus.cli.terminal import say_json

if TYPE_CHECKING:
    from paribus.lab.admission import Admission
    from paribus.lab.results.conditions import FailCondition
    from paribus.lab.running import Session


@dataclass(frozen=True, slots=True)
class CourseOptions:
    """The options of every command that carries out an experiment: its store, when it begins, how it is shown and ends.

    `report_file` None is the default file of the HTML report.
    """

    store: str | None
    report_file: Path | None
    no_report: bool
    conditions: "frozenset[FailCondition]"
    strict: bool
    admission: "Admission"
    verbose: bool
    quiet: bool
    log_file: Path | None
    as_json: bool

    @classmethod
    def of(
        cls,
        store: StoreUrl = None,
        report_file: ReportFile = None,
        no_report: NoReport = False,
        fail_on: FailOn = "",
        strict: Strict = False,
        wait: Wait = False,
        anyway: Anyway = False,
        verbose: Verbose = False,
        quiet: Quiet = False,
        log_file: LogFile = None,
        as_json: AsJson = False,
    ) -> Self:
        """Return the options. Raises UsageError where one is wrong, or two exclude each other."""
        refuse_together({f"--report {report_file}": report_file is not None, "--no-report": no_report})
        refuse_together({"--verbose": verbose, "--quiet": quiet})
        with progress_log(log_file):  # refused before anything begins
            pass
        return cls(
            store=store,
            report_file=report_file,
            no_report=no_report,
            conditions=read_conditions(fail_on),
            strict=strict,
            admission=read_admission(wait=wait, anyway=anyway),
            verbose=verbose,
            quiet=quiet,
            log_file=log_file,
            as_json=as_json,
        )


def with_course_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the parameters of CourseOptions.of after its own, in place of its last, `options`."""
    signature = inspect.signature(command)
    *parameters, _ = signature.parameters.values()
    common = inspect.signature(CourseOptions.of).parameters

    @functools.wraps(command)
    def completed(**arguments: Any) -> None:
        options = CourseOptions.of(**{name: arguments.pop(name) for name in common})
        command(**arguments, options=options)

    completed.__signature__ = signature.replace(parameters=[*parameters, *common.values()])  # type: ignore[attr-defined]
    return completed


def carry_out(session: "Session", options: CourseOptions) -> None:
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
    from paribus.lab.store.stores import default_report_path
    from paribus.report.render import text

    experiment = session.experiment
    stop = StopRequest()
    stop.listen()
    stderr = VisibleConsole(stderr=True, highlight=False, quiet=options.quiet)
    with progress_log(options.log_file) as log, ProgressDisplay(stderr, verbose=options.verbose, log=log) as display:
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
    if not options.no_report:  # first: it is there whoever reads what follows
        report_path = options.report_file or default_report_path(session.store, experiment.id)
        with contextlib.suppress(OSError):  # which writing tells of
            make_folder(report_path.parent)
        report_path = reporting.write_html(view, report_path)
    if options.as_json:
        say_json(reporting.report_document(session.store, ended).model_dump_json(indent=2))
    else:
        console = VisibleConsole(highlight=False)
        console.print()
        text.conclusions(view, console)
        if report_path is not None:
            console.print(f"\nreport: {report_path}", markup=False, soft_wrap=True)
    if options.strict and is_incomplete(judgement):
        raise typer.Exit(ParibusError.exit_code)
    fail_if(options.conditions, of_judgement(judgement))
