"""`paribus export`: an experiment as tables for other programs."""

from pathlib import Path
from typing import Annotated

import typer

from paribus.cli.options import AsJson, ExperimentName, StoreUrl
from paribus.cli.terminal import say, say_json
from paribus.lab.results.export_tables import TABLES, FileFormat, select_tables


def _tables(incomplete: str) -> list[str]:
    complete_names, comma, prefix = incomplete.rpartition(",")
    return [f"{complete_names}{comma}{name}" for name in TABLES if name.startswith(prefix)]


def export(
    experiment: ExperimentName = "last",
    form: Annotated[FileFormat, typer.Option("--format", help="The form of the files.")] = FileFormat.CSV,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="The folder to write to. Default: a new one in this folder."
        ),
    ] = None,
    only: Annotated[
        str,
        typer.Option(
            metavar="TABLES",
            autocompletion=_tables,
            help=f"Only these tables, with commas between: {', '.join(TABLES)}.",
            show_default=False,
        ),
    ] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Write an experiment as tables, in CSV or Parquet, or its response times for HdrHistogram.

    Each table is one file: trials, measurements, time series, effects, looks and others. Effects and means name their
    trials. Parquet needs: pip install pyarrow. With hlog it is one file, a histogram for each trial.

    Example: paribus export last --format parquet -o results --only trials,effects
    """
    from paribus.lab.results import exporting
    from paribus.lab.store.stores import open_experiment

    tables = select_tables(only, form)
    opened_store, recorded = open_experiment(store, experiment)
    document = exporting.export(
        opened_store, recorded, form, tables, output or Path(f"paribus-{recorded.id}"), force=force
    )
    if as_json:
        say_json(document.model_dump_json(indent=2))
        return
    width = max(len(str(file.rows)) for file in document.files)
    for file in document.files:
        say(f"{file.rows:>{width}} rows  {file.path}")
