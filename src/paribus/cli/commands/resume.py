"""`paribus resume`: continue an interrupted experiment."""

from pathlib import Path
from typing import Annotated

import typer

from paribus.cli.commands.run import (
    NoReport,
    ReportFile,
    Strict,
    Verbose,
    carry_out,
    html_report_path,
    refuse_contradiction,
)
from paribus.cli.options import AsJson, ExperimentName, FailOn, StoreUrl, read_conditions
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
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Continue an interrupted experiment.

    Without a name, or with last, it is the newest experiment that is not done. Starts with the first incomplete block.
    The plan is the one that was stored at the start; a changed plan file is a new experiment.

    Example: paribus resume last
    """
    from paribus.lab.running import resumed

    conditions = read_conditions(fail_on)
    refuse_contradiction(report_file, no_report)
    with resumed(experiment, str(plan_file) if plan_file is not None else None, store, report_line) as session:
        report_path = html_report_path(session, report_file, no_report)
        carry_out(session, report_path, conditions, strict=strict, verbose=verbose, as_json=as_json)
