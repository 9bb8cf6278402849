"""Export of an experiment as tables."""

import functools
from collections.abc import Callable, Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict
from sqlalchemy.engine import Engine as Store

from paribus.errors import UsageError
from paribus.export import folder, rows
from paribus.export.tables import ExportTable, FileFormat, Row
from paribus.lab.results import reporting
from paribus.model import Experiment, TrialState
from paribus.store import read
from paribus.store import sources as stored_sources


class ExportedFile(BaseModel):
    """A table and where it is."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    table: str
    path: str
    rows: int


class ExportDocument(BaseModel):
    """The answer of `paribus export --json`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    experiment: str
    format: FileFormat
    files: list[ExportedFile]


def export(
    store: Store,
    experiment: Experiment,
    file_format: FileFormat,
    tables: list[ExportTable],
    folder_path: Path,
    *,
    force: bool,
) -> ExportDocument:
    """Write the tables of an experiment into a folder. Raises UsageError and StoreError.

    The judged tables are read first. If the experiment is running, the other tables then contain every judged trial.
    """
    experiment_id = experiment.id
    judged = functools.cache(lambda: reporting.report_document(store, experiment))
    sources: dict[str, Callable[[], Iterable[Row]]] = {
        "effects": lambda: rows.effect_rows(judged()),
        "cells": lambda: rows.cell_rows(judged()),
        "points": lambda: rows.point_rows(judged()),
        "trials": lambda: rows.trial_rows(read.trials(store, experiment_id), _lines(store, experiment_id)),
        "measurements": lambda: rows.measurement_rows(experiment_id, read.each_measurement(store, experiment_id)),
        "series": lambda: rows.series_rows(
            experiment_id, read.each_measurement(store, experiment_id, only_time_series=True)
        ),
        "looks": lambda: rows.look_rows(experiment_id, read.looks(store, experiment_id)),
        "response_times": lambda: _response_times(store, experiment_id),
        "changes": lambda: rows.change_rows(experiment_id, read.changes(store, experiment_id)),
    }
    ordered = sorted(tables, key=lambda table: list(sources).index(table.name))
    written = folder.write(folder_path, file_format, ordered, lambda table: sources[table.name](), force=force)
    files = [
        ExportedFile(table=written_table.table, path=str(written_table.path), rows=written_table.rows)
        for written_table in written
    ]
    return ExportDocument(experiment=experiment.id, format=file_format, files=files)


def _lines(store: Store, experiment_id: str) -> dict[int, tuple[str, int]]:
    """Return the file and the first line of each imported trial."""
    paths = {source.number: source.path for source in stored_sources.sources(store, experiment_id)}
    origins = stored_sources.origins(store, experiment_id)
    return {order: (paths[origin.source], origin.lines[0]) for order, origin in origins.items()}


def _response_times(store: Store, experiment: str) -> Iterable[Row]:
    """The histograms of the trials that can be used. Raises UsageError where there is none."""
    trials = [trial for trial in read.trials(store, experiment) if trial.state is TrialState.DONE and trial.ended]
    orders = [trial.order for trial in trials]
    histograms = read.histograms(store, experiment, "response_mean_s", orders)
    if not histograms:
        raise UsageError(
            f"no trial of {experiment} has a histogram of response times",
            "export csv: other tools and imported sets have at most percentiles",
        )
    rates = {
        order: of_trial.get("throughput_per_s")
        for order, of_trial in read.summaries(store, experiment, metrics=("throughput_per_s",)).items()
    }
    windows_s = {order: rate.total / rate.mean for order, rate in rates.items() if rate and rate.mean > 0}
    return rows.response_time_rows(trials, histograms, windows_s)
