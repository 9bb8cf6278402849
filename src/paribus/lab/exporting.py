"""Export of an experiment as tables, whose rows are read from the store when they are written."""

import functools
from collections.abc import Callable, Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict
from sqlalchemy.engine import Engine as Store

from paribus.export import folder, rows
from paribus.export.tables import ExportTable, FileFormat, Row
from paribus.lab import reporting
from paribus.model import Experiment
from paribus.store import read


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
    store: Store, experiment: Experiment, form: FileFormat, tables: list[ExportTable], where: Path, *, force: bool
) -> ExportDocument:
    """Write the tables of an experiment into a folder. Raises UsageError and StoreError.

    Of an experiment that goes on, what is judged is read first, so that each of its trials is in the other tables.
    """
    own = experiment.id
    judged = functools.cache(lambda: reporting.report_document(store, experiment))
    sources: dict[str, Callable[[], Iterable[Row]]] = {
        "effects": lambda: rows.effect_rows(judged()),
        "cells": lambda: rows.cell_rows(judged()),
        "points": lambda: rows.point_rows(judged()),
        "trials": lambda: rows.trial_rows(read.trials(store, own)),
        "measurements": lambda: rows.measurement_rows(own, read.each_measurement(store, own)),
        "series": lambda: rows.series_rows(own, read.each_measurement(store, own, only_time_series=True)),
        "looks": lambda: rows.look_rows(own, read.looks(store, own)),
        "changes": lambda: rows.change_rows(own, read.changes(store, own)),
    }
    ordered = sorted(tables, key=lambda table: list(sources).index(table.name))
    written = folder.write(where, form, ordered, lambda table: sources[table.name](), force=force)
    files = [ExportedFile(table=one.table, path=str(one.path), rows=one.rows) for one in written]
    return ExportDocument(experiment=experiment.id, format=form, files=files)
