"""The tables of an export: their forms, names and columns. README.md describes them; a test compares the two.

Units stand in the names of columns, or in a column `unit`. Every table begins with the experiment, so that those of
several can be put together.
"""

from dataclasses import dataclass
from enum import StrEnum

from paribus.errors import UsageError
from paribus.registry import nearest

Cell = bool | int | float | str | list[int] | None
Row = tuple[Cell, ...]


class Form(StrEnum):
    """The forms of files, each also their suffix."""

    CSV = "csv"
    PARQUET = "parquet"


class Type(StrEnum):
    """What a column holds; `orders` are numbers of trials, `json` is text in JSON."""

    INTEGER = "integer"
    REAL = "real"
    BOOLEAN = "boolean"
    TEXT = "text"
    JSON = "json"
    ORDERS = "orders"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Table:
    """A table, which becomes one file of that name."""

    name: str
    columns: tuple[Column, ...]


def _table(name: str, columns: str) -> Table:
    """A table from words such as `trial:integer`; a column without a type is text."""
    pairs = (word.partition(":") for word in ["experiment", *columns.split()])
    return Table(name, tuple(Column(column, Type(kind or "text")) for column, _, kind in pairs))


TABLES = {
    table.name: table
    for table in (
        _table(
            "trials",
            "trial:integer round:integer block:integer attempt:integer position:integer application:integer purpose "
            "factor arm baseline:boolean workload load:integer load_unit settings:json state invalid_because:json "
            "failure failure_message supersedes:integer started_unix_s:real applied_unix_s:real ended_unix_s:real",
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


def chosen(names: str) -> list[Table]:
    """The tables that a list such as `trials,series` names; all where it is empty. Raises UsageError."""
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    for name in wanted:
        if name not in TABLES:
            raise UsageError(f"there is no table {name!r}", nearest(name, TABLES) or f"there are: {', '.join(TABLES)}")
    return [table for table in TABLES.values() if not wanted or table.name in wanted]
