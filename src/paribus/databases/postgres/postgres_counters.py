"""The statement that reads PostgreSQL's counters, made for the views and columns of this version."""

from collections.abc import Iterable

from paribus.databases.server import counters
from paribus.databases.server.kind import Ask

_AGE = "pg_wal_lsn_diff(pg_current_wal_insert_lsn(), (SELECT redo_lsn FROM pg_control_checkpoint()))"
_MAY_AGE = "SELECT NOT pg_is_in_recovery() AND has_function_privilege('pg_control_checkpoint()', 'execute')"
_COLUMNS = """SELECT relname, attname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
WHERE relnamespace = 'pg_catalog'::regnamespace AND relname LIKE 'pg\\_stat\\_%' AND attnum > 0"""
_PARTS = {
    "data": "object <> 'wal'",
    "log": "object = 'wal'",
    "backends": "object = 'relation' AND backend_type NOT IN ('checkpointer', 'background writer')",
}
"""Rows of pg_stat_io, which has those of the log from PostgreSQL 18 on."""


def statement(ask: Ask) -> str:
    """The statement, which returns names and numbers and reads each view once. Raises QueryRefused."""
    there = {f"{view}.{column}" for view, column in ask(_COLUMNS).rows}
    (may_age,) = ask(_MAY_AGE).rows[0]
    return made_of([name for name in counters.names("postgres") if _column_of(name) in there], age=may_age == "t")


def made_of(names: Iterable[str], *, age: bool) -> str:
    """The statement for these counters, with the age of the checkpoint or without it."""
    views: dict[str, list[str]] = {}
    for name in names:
        views.setdefault(_column_of(name).partition(".")[0], []).append(name)
    selects = [f"SELECT '{counters.CHECKPOINT_AGE}' AS name, {_AGE} AS number"] if age else []
    for view, of_view in views.items():
        sums = ", ".join(f"{_sum(name)} AS sum_{place}" for place, name in enumerate(of_view))
        pairs = ", ".join(f"('{name}', sum_{place}::numeric)" for place, name in enumerate(of_view))
        selects.append(f"SELECT one.* FROM (SELECT {sums} FROM {view}) AS all_rows, LATERAL (VALUES {pairs}) AS one")  # noqa: S608
    return " UNION ALL ".join(selects)


def _column_of(name: str) -> str:
    """The view and the column of a counter, without the part of its rows."""
    view, _, column = name.partition(".")
    return f"{view.partition(':')[0]}.{column}"


def _sum(name: str) -> str:
    view, _, column = name.partition(".")
    part = view.partition(":")[2]
    return f"coalesce(sum({column}) FILTER (WHERE {_PARTS[part]}), 0)" if part else f"sum({column})"
