"""`paribus resume`: continue an interrupted experiment."""

from pathlib import Path
from typing import Annotated

import typer

from paribus.cli.carrying_out import Ending, carry_out
from paribus.cli.options import (
    Anyway,
    AsJson,
    ExperimentName,
    FailOn,
    LogFile,
    NoReport,
    Quiet,
    ReportFile,
    StoreUrl,
    Strict,
    Verbose,
    Wait,
    read_admission,
)
from paribus.cli.terminal import report_line


def resume(
    experiment: ExperimentName = "last",
    plan_file: Annotated[
        Path | None,
        typer.Option("--plan", metavar="FILE", help="Refuse unless this file is the plan of the experiment."),
    ] = None,
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
) -> None:
    """Continue an interrupted experiment.

    Without a name, or with last, it is the newest experiment that is not done. Starts with the first incomplete block.
    The plan is the one that was stored at the start; a changed plan file is a new experiment.

    Example: paribus resume last
    """
    from paribus.lab.running import resumed

    ending = Ending.of(
        report_file,
        no_report,
        fail_on,
        strict=strict,
        verbose=verbose,
        quiet=quiet,
        log_file=log_file,
        as_json=as_json,
    )
    admission = read_admission(wait=wait, anyway=anyway)
    with resumed(
        experiment, str(plan_file) if plan_file is not None else None, store, report_line, admission
    ) as session:
        carry_out(session, ending)
