"""`paribus resume`: continue an interrupted experiment."""

from pathlib import Path
from typing import Annotated

import typer

from paribus.cli.commands.run import ReportFile, carry_out
from paribus.cli.options import AsJson, ExperimentName, StoreUrl
from paribus.cli.terminal import report_line


def resume(
    experiment: ExperimentName = "last",
    plan_file: Annotated[
        Path | None,
        typer.Option("--plan", metavar="FILE", help="Refuse unless this file is the plan of the experiment."),
    ] = None,
    store: StoreUrl = None,
    report_file: ReportFile = None,
    as_json: AsJson = False,
) -> None:
    """Continue an interrupted experiment.

    Starts with the first incomplete block. The plan is the one that was stored at the start; a changed plan file is a
    new experiment.

    Example: paribus resume last
    """
    from paribus.lab.running import resumed

    with resumed(experiment, str(plan_file) if plan_file is not None else None, store, report_line) as session:
        carry_out(session, report_file, as_json=as_json)
