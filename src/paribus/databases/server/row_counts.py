"""Rows of the tables of a database: counted when they were made, and again when they were restored."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from paribus.databases.server.state import Ask, State

LONGEST_S = 10.0  # counting reads a whole index of each table; a longer count is not repeated


@dataclass(frozen=True, slots=True)
class RowCounts:
    """Rows by table, and the duration of the count."""

    rows: Mapping[str, int]
    took_s: float


def count(state: State, ask: Ask) -> RowCounts:
    """Count all rows of the database of the connection. Raises QueryRefused."""
    began = time.monotonic()
    rows = {}
    for table in state.tables(ask):
        (number,) = ask(f"SELECT COUNT(*) FROM {table}").rows[0]  # noqa: S608  a quoted name of the server's own
        rows[table] = int(number or 0)
    return RowCounts(rows, time.monotonic() - began)


def difference(expected: RowCounts, counted: RowCounts) -> str:
    """A text about tables that differ; empty where none does."""
    differences = [
        f"{table} has {counted.rows[table]:,} rows instead of {rows:,}" if table in counted.rows else f"{table} is gone"
        for table, rows in expected.rows.items()
        if counted.rows.get(table) != rows
    ]
    return "; ".join([*differences, *(f"{table} was not made" for table in counted.rows if table not in expected.rows)])
