"""The rows that the tables of a database have: counted when they were made, and again when they were put back."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from paribus.databases.server.state import Ask, State

LONGEST_S = 10.0  # counting reads a whole index of each table; what takes longer is not repeated


@dataclass(frozen=True, slots=True)
class Contents:
    """Rows by table, and how long it took to count them."""

    rows: Mapping[str, int]
    took_s: float


def count(state: State, ask: Ask) -> Contents:
    """Count all rows of the database that is asked. Raises QueryRefused."""
    began = time.monotonic()
    rows = {}
    for table in state.tables(ask):
        (number,) = ask(f"SELECT COUNT(*) FROM {table}").rows[0]  # noqa: S608  a quoted name of the server's own
        rows[table] = int(number or 0)
    return Contents(rows, time.monotonic() - began)


def difference(made: Contents, found: Contents) -> str:
    """In words, where it is not as it was made; empty where it is."""
    wrong = [
        f"{table} has {found.rows[table]:,} rows instead of {rows:,}" if table in found.rows else f"{table} is gone"
        for table, rows in made.rows.items()
        if found.rows.get(table) != rows
    ]
    return "; ".join([*wrong, *(f"{table} was not made" for table in found.rows if table not in made.rows)])
