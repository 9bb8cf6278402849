"""Shapes of tables of MySQL, MariaDB and Percona Server, read from information_schema and from a sample of rows."""

import re
from collections import defaultdict
from collections.abc import Sequence

from paribus.databases.mysql.mysql_variables import quoted
from paribus.databases.server.state import Ask
from paribus.lab.statement_mix.dialect import MYSQL
from paribus.lab.statement_mix.samples import ColumnSample, first_time, sampled_rows, seconds_between
from paribus.lab.statement_mix.table_shape import (
    LARGE_DIGITS,
    ColumnShape,
    Expression,
    IndexShape,
    TableShape,
    counters,
    number_itself,
)

_SYSTEM = "('mysql', 'information_schema', 'performance_schema', 'sys')"
_WHOLE = ("tinyint", "smallint", "mediumint", "int", "bigint", "year", "bit")
_FRACTIONAL = ("decimal", "float", "double")
_TIMES = ("date", "datetime", "timestamp")
_TEXTS = (
    "char", "varchar", "tinytext", "text", "mediumtext", "longtext",
    "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob",
)  # fmt: skip
_COUNTED_BELOW = 200_000  # rows: the estimate of InnoDB is coarse
_INDEXED = ("BTREE", "HASH")


class MysqlTables:
    """The tables of a server, each read when a statement needs it."""

    dialect = MYSQL

    def __init__(self, ask: Ask) -> None:
        """List the tables of all users' databases. Raises QueryRefused and ServerGone."""
        self._ask = ask
        rows = ask(
            "SELECT table_schema, table_name, table_rows, avg_row_length FROM information_schema.tables "
            f"WHERE table_type = 'BASE TABLE' AND table_schema NOT IN {_SYSTEM}"
        ).rows
        self._estimates = {
            (database or "", name or ""): (int(count or 0), int(length or 0)) for database, name, count, length in rows
        }
        self._shapes: dict[tuple[str, str], TableShape] = {}

    def databases(self, name: str) -> list[str]:
        """The databases that have a table of this name."""
        return [database for database, table in self._estimates if table == name]

    def shape(self, database: str, name: str) -> TableShape:
        """The shape of a table. Raises QueryRefused where the user may not read it, and ServerGone."""
        if (database, name) not in self._shapes:
            self._shapes[database, name] = self._read(database, name)
        return self._shapes[database, name]

    def _read(self, database: str, name: str) -> TableShape:
        where = f"WHERE table_schema = {quoted(database)} AND table_name = {quoted(name)}"
        described = self._ask(
            "SELECT column_name, data_type, column_type, is_nullable, column_default, extra, collation_name, "
            f"character_maximum_length FROM information_schema.columns {where} ORDER BY ordinal_position"
        ).rows
        table = f"{MYSQL.quoted(database)}.{MYSQL.quoted(name)}"
        count, row_length = self._estimates[database, name]
        if count < _COUNTED_BELOW:
            count = int(self._ask(f"SELECT COUNT(*) FROM {table}").rows[0][0] or 0)
        indexes, lost = self._indexes(where)
        leading = {index.columns[0] for index in indexes}
        kinds = {column[0] or "": column[1] or "" for column in described}
        samples = self._samples(table, kinds, leading, sampled_rows(row_length))
        sampled = max((sample.total for sample in samples.values()), default=0)
        indexed = {column for index in indexes for column in index.columns}
        unique = {index.columns[0] for index in indexes if index.unique and len(index.columns) == 1}
        columns = []
        for column in described:
            is_unique = column[0] in unique
            sample = samples[column[0] or ""].of_table(count, unique=is_unique)
            values = [value or "" for value in column]
            shape = _column(values, sample, indexed=column[0] in indexed, unique=is_unique, rows=count)
            if shape:
                columns.append(shape)
            else:
                lost.append(f"column {column[0]} of type {column[1]}")
        names = {column.name for column in columns}
        usable = tuple(index for index in indexes if names.issuperset(index.columns))
        lost += [f"index {index.name}" for index in indexes if index not in usable]
        return TableShape(
            database=database,
            name=name,
            rows=count,
            columns=tuple(columns),
            indexes=usable,
            counters=counters(usable, {name: sample.distinct for name, sample in samples.items()}, sampled, count),
            lost=tuple(lost),
        )

    def _indexes(self, where: str) -> tuple[list[IndexShape], list[str]]:
        rows = self._ask(
            "SELECT index_name, column_name, sub_part, non_unique, index_type FROM information_schema.statistics "
            f"{where} ORDER BY index_name <> 'PRIMARY', index_name, seq_in_index"
        ).rows
        parts: dict[str, list[Sequence[str | None]]] = defaultdict(list)
        for row in rows:
            parts[row[0] or ""].append(row)
        indexes, lost = [], []
        for name, of_index in parts.items():
            if any(column is None or kind not in _INDEXED for _, column, _, _, kind in of_index):
                lost.append(f"index {name}")
                continue
            columns = tuple(column or "" for _, column, _, _, _ in of_index)
            written = tuple(
                MYSQL.quoted(column or "") + (f"({prefix})" if prefix else "") for _, column, prefix, _, _ in of_index
            )
            is_unique = of_index[0][3] == "0"
            indexes.append(IndexShape(name, columns, written, is_unique, name == "PRIMARY"))
        return indexes, lost

    def _samples(self, table: str, kinds: dict[str, str], leading: set[str], rows: int) -> dict[str, ColumnSample]:
        """Bounds, distinct values and lengths, of the first rows; bounds of an index's first column of all rows."""
        figures = []
        for name, kind in kinds.items():
            column = MYSQL.quoted(name)
            bounds = f"MIN({column}), MAX({column})" if _has_bounds(kind) else "NULL, NULL"
            figures.append(f"{bounds}, COUNT({column}), COUNT(DISTINCT {column}), AVG(LENGTH({column}))")
        query = f"SELECT COUNT(*), {', '.join(figures)} FROM (SELECT * FROM {table} LIMIT {rows}) AS sample"
        total, *values = self._ask(query).rows[0]
        samples = {}
        for number, (name, kind) in enumerate(kinds.items()):
            low, high, filled, distinct, length = values[5 * number : 5 * number + 5]
            if name in leading and _has_bounds(kind):
                column = MYSQL.quoted(name)
                low, high = self._ask(f"SELECT MIN({column}), MAX({column}) FROM {table}").rows[0]
            samples[name] = ColumnSample.read(low, high, filled, distinct, length, total)
        return samples


def _has_bounds(kind: str) -> bool:
    return kind in (*_WHOLE, *_FRACTIONAL, *_TIMES, "time") and kind != "bit"


def _column(
    described: Sequence[str], sample: ColumnSample, *, indexed: bool, unique: bool, rows: int
) -> ColumnShape | None:
    """Return the shape of a column; None for a type of which no value can be made."""
    name, kind, written, nullable, default, extra, collation, longest = described
    low, high, whole, digits, letters = 1.0, float(sample.distinct), True, 0, 0
    expression: Expression = number_itself
    if kind in ("enum", "set"):
        members = re.findall(r"'(?:[^']|'')*'", written)
        high, expression = min(high, len(members)), _chosen(members)
    elif kind in _TEXTS:
        digits = min(int(longest or 255), 2**20)
        length = min(max(sample.length, LARGE_DIGITS if unique else len(str(sample.distinct))), digits)
        letters = length if not indexed and sample.distinct >= rows else 0
        expression = number_itself if letters else _padded(length)
    elif kind == "json":
        expression = _json(max(sample.length - 8, 1))
    elif kind in _TIMES:
        start, high = first_time(sample.low), seconds_between(sample.low, sample.high)
        low, expression = 0.0, _later(start, "SECOND")
        if kind == "date":
            high, expression = max(high // 86_400, 1.0), _later(start[:10], "DAY")
    elif kind == "time":
        low, high, expression = 0.0, min(float(max(sample.distinct - 1, 1)), 86_399.0), "SEC_TO_TIME({})".format
    elif kind == "bit":
        low, high = 0.0, 1.0
    elif kind in _WHOLE or kind in _FRACTIONAL:
        low, high, whole = float(sample.low or 1), float(sample.high or 1), kind in _WHOLE
        low, high = (int(sample.low or 1), int(sample.high or 1)) if whole else (low, high)
    else:
        return None
    return ColumnShape(
        name=name,
        type=f"{written} COLLATE {collation}" if collation and kind != "json" else written,
        low=low,
        high=high,
        expression=expression,
        whole=whole,
        nullable=nullable == "YES" or bool(default and "auto_increment" not in extra),
        automatic="auto_increment" in extra,
        always_null=sample.filled == 0 and sample.total > 0 and nullable == "YES",
        longest=digits,
        letters=letters,
        large_type=("bigint unsigned" if "unsigned" in written else "bigint") if kind in _WHOLE[:5] else "",
    )


def _padded(length: int) -> Expression:
    return lambda number: f"RPAD({number}, {length}, 'x')"


def _json(length: int) -> Expression:
    return lambda number: f"CONCAT('{{\"k\": \"', RPAD({number}, {length}, 'x'), '\"}}')"


def _later(start: str, unit: str) -> Expression:
    return lambda number: f"TIMESTAMPADD({unit}, {number}, '{start}')"


def _chosen(members: Sequence[str]) -> Expression:
    return lambda number: f"ELT({number}, {', '.join(members)})"
