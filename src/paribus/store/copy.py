"""Copying of experiments from one store to another, such as from a file to PostgreSQL."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from paribus.errors import StoreError
from paribus.model import ExperimentState
from paribus.store import schema
from paribus.store.open import connected
from paribus.store.write import insert_conditions, transaction

_ROWS = 500  # at a time: measurements hold points
_COPY_LOCK = 0x7061726963  # of PostgreSQL's advisory locks: "paric"
_FINISHED = (ExperimentState.DONE, ExperimentState.FAILED, ExperimentState.IMPORTED)


@dataclass(frozen=True, slots=True)
class Copied:
    """Numbers of experiments: copied, present in the target before, and unfinished, which are left out."""

    copied: int
    present: int
    unfinished: int


_SHARED = (schema.conditions, schema.calibration)  # by all experiments of a store


def copy(source: Engine, target: Engine, report: Callable[[str], None]) -> Copied:
    """Copy every finished experiment that the target lacks, one transaction each; `report` receives their ids.

    An experiment of the same id in the target stays as it is, and one that may still be written is left out. Raises
    StoreError.
    """
    table = schema.experiment
    with connected(source) as reading:
        rows = reading.execute(sa.select(table.c.id, table.c.state).order_by(table.c.started))
        states = {row.id: row.state for row in rows}
    finished = [name for name, state in states.items() if ExperimentState(state) in _FINISHED]
    copied = 0
    for name in finished:
        with _snapshot(source) as reading, _alone(target) as writing:
            if writing.scalar(sa.select(table.c.id).where(table.c.id == name)) is None:
                _copy_experiment(reading, writing, name)
                copied += 1
                report(name)
    with _snapshot(source) as reading, _alone(target) as writing:
        _copy_calibrations(reading, writing)
    return Copied(copied, len(finished) - copied, len(states) - len(finished))


@contextmanager
def _snapshot(source: Engine) -> Iterator[Connection]:
    """A connection whose queries all see the store at one moment."""
    with connected(source) as connection:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN")
        else:
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        yield connection


@contextmanager
def _alone(target: Engine) -> Iterator[Connection]:
    """A transaction beside no other copy into the same store."""
    with transaction(target) as connection:
        if connection.dialect.name != "sqlite":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_COPY_LOCK)))
        yield connection


def _copy_experiment(reading: Connection, writing: Connection, name: str) -> None:
    """Copy all rows of an experiment, those that others refer to first, and count them again."""
    digests = sa.select(schema.trial.c.fingerprint).where(schema.trial.c.experiment == name)
    for row in _rows(reading, schema.conditions, schema.conditions.c.digest.in_(digests)):
        insert_conditions(writing, row.digest, row.facts)
    for table in schema.metadata.sorted_tables:
        if table not in _SHARED:
            key = table.c.id if table is schema.experiment else table.c.experiment
            copied = sum(_insert(writing, table, rows) for rows in _chunks(_rows(reading, table, key == name)))
            arrived = writing.scalar(sa.select(sa.func.count()).select_from(table).where(key == name))
            if arrived != copied:
                raise StoreError(f"{name}: {arrived} of {copied} rows of {table.name} arrived", "copy again")


def _copy_calibrations(reading: Connection, writing: Connection) -> None:
    table = schema.calibration
    keys = (table.c.host, table.c.workload, table.c.load, table.c.load_unit, table.c.made)
    present = {tuple(row) for row in writing.execute(sa.select(*keys))}
    rows = [row for row in _rows(reading, table) if tuple(getattr(row, key.name) for key in keys) not in present]
    for chunk in _chunks(iter(rows)):
        _insert(writing, table, chunk)


def _rows(reading: Connection, table: sa.Table, *conditions: sa.ColumnElement[bool]) -> Iterator[Any]:
    query = sa.select(table).where(*conditions).order_by(*table.primary_key.columns)
    yield from reading.execution_options(yield_per=_ROWS).execute(query)


def _chunks(rows: Iterator[Any]) -> Iterator[list[Any]]:
    chunk: list[Any] = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == _ROWS:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _insert(writing: Connection, table: sa.Table, rows: Sequence[Any]) -> int:
    """Insert rows with new numbers where these only count; the number of rows."""
    counted = {"id"} if table is not schema.experiment and "id" in table.c else set()
    writing.execute(
        sa.insert(table), [{name: value for name, value in row._mapping.items() if name not in counted} for row in rows]
    )
    return len(rows)
