"""Schemas of the exported tables. `docs/how-to/export.md` describes them; a test compares the two.

Column names or a column `unit` state the unit. Every table starts with the experiment, so that tables of several
experiments can be concatenated.
"""

from dataclasses import dataclass
from enum import StrEnum

from paribus.errors import UsageError
from paribus.registry import nearest

Cell = bool | int | float | str | list[int] | None
Row = tuple[Cell, ...]


class FileFormat(StrEnum):
    """File formats; the value is also the suffix. HLOG is HdrHistogram's, and has response times alone."""

    CSV = "csv"
    PARQUET = "parquet"
    HLOG = "hlog"


class ColumnType(StrEnum):
    """Types of columns; `orders` are lists of trial orders, `json` is JSON text."""

    INTEGER = "integer"
    REAL = "real"
    BOOLEAN = "boolean"
    TEXT = "text"
    JSON = "json"
    ORDERS = "orders"


@dataclass(frozen=True, slots=True)
class ExportColumn:
    """Name and type of a column."""

    name: str
    type: ColumnType


@dataclass(frozen=True, slots=True)
class ExportTable:
    """An exported table; the file has its name."""

    name: str
    columns: tuple[ExportColumn, ...]


def _table(name: str, columns: str) -> ExportTable:
    """Return the table with columns declared as `trial:integer`; a column without a type is text."""
    declarations = (column.partition(":") for column in ["experiment", *columns.split()])
    return ExportTable(
        name, tuple(ExportColumn(column, ColumnType(type_ or "text")) for column, _, type_ in declarations)
    )


TABLES = {
    table.name: table
    for table in (
        _table(
            "trials",
            "trial:integer round:integer block:integer attempt:integer position:integer application:integer purpose "
            "factor arm baseline:boolean workload load:integer load_unit settings:json state invalid_because:json "
            "failure failure_message supersedes:integer started_unix_s:real applied_unix_s:real ended_unix_s:real "
            "file line:integer",
        ),
        _table(
            "measurements",
            "trial:integer phase metric unit source n:integer mean:real low:real high:real total:real",
        ),
        _table("series", "trial:integer phase metric unit source time_s:real value:real"),
        _table(
            "effects",
            "factor baseline arm workload response load:integer load_unit log_ratio:real log_ratio_low:real "
            "log_ratio_high:real percent:real percent_low:real percent_high:real confidence:real pairs:integer "
            "margin_ratio:real method look:integer verdict tags:json reasons:json checks:json "
            "better_probability:real within_probability:real alpha_spent:real trials:orders",
        ),
        _table(
            "cells",
            "factor arm workload load:integer load_unit metric mean:real low:real high:real trials:orders",
        ),
        _table(
            "points",
            "matrix workload write_share:real small:integer large:integer metric mean:real low:real high:real "
            "trials:orders",
        ),
        _table(
            "looks",
            "factor arm workload response purpose number:integer pairs:integer alpha_spent:real log_ratio:real "
            "log_ratio_low:real log_ratio_high:real verdict",
        ),
        _table("changes", "trial:integer knob address before wanted observed state refused not_taken"),
    )
}


RESPONSE_TIMES = _table("response_times", "tag start_unix_s:real length_s:real highest_ms:real histogram")
"""A row per trial. `histogram`: its response times in nanoseconds as HdrHistogram's V2, deflated, in base64."""


def select_tables(names: str, form: FileFormat = FileFormat.CSV) -> list[ExportTable]:
    """Return the tables named in a list such as `trials,series`, all if it is empty. Raises UsageError."""
    selected = [name.strip() for name in names.split(",") if name.strip()]
    if form is FileFormat.HLOG:
        if selected:
            raise UsageError(f"hlog has response times alone, not {', '.join(selected)}", "leave the tables out")
        return [RESPONSE_TIMES]
    for name in selected:
        if name not in TABLES:
            raise UsageError(f"unknown table {name!r}", nearest(name, TABLES) or f"tables: {', '.join(TABLES)}")
    return [table for table in TABLES.values() if not selected or table.name in selected]
