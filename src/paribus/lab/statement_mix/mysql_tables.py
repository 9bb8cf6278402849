"""Shapes of tables of MySQL, MariaDB and Percona Server, by information_schema."""

import re
from collections.abc import Sequence

from paribus.databases.mysql.mysql_variables import quoted
from paribus.lab.statement_mix.dialect import MYSQL
from paribus.lab.statement_mix.samples import first_time, seconds_between
from paribus.lab.statement_mix.server_tables import (
    ColumnSummary,
    DescribedColumn,
    IndexPart,
    ServerTables,
)
from paribus.lab.statement_mix.table_shape import LARGE_DIGITS, ColumnShape, Expression, number_itself

_SYSTEM = "('mysql', 'information_schema', 'performance_schema', 'sys')"
_TABLES = f"""SELECT table_schema, table_name, table_rows, data_length FROM information_schema.tables
WHERE table_type = 'BASE TABLE' AND table_schema NOT IN {_SYSTEM}"""
_FUNCTIONS = f"""SELECT DISTINCT routine_name FROM information_schema.routines
WHERE routine_type = 'FUNCTION' AND routine_schema NOT IN {_SYSTEM}"""
_COLUMNS = """SELECT column_name, data_type, column_type, is_nullable = 'YES' OR column_default IS NOT NULL,
extra LIKE '%auto_increment%', coalesce(collation_name, '') FROM information_schema.columns
WHERE table_schema = {database} AND table_name = {name} ORDER BY ordinal_position"""
_INDEXES = """SELECT index_name, column_name, sub_part, non_unique = 0, index_type IN ('BTREE', 'HASH')
FROM information_schema.statistics WHERE table_schema = {database} AND table_name = {name}
ORDER BY index_name <> 'PRIMARY', index_name, seq_in_index"""
_WHOLE = ("tinyint", "smallint", "mediumint", "int", "bigint", "year")
_FRACTIONAL = ("decimal", "float", "double")
_TIMES = ("date", "datetime", "timestamp")
_TEXTS = ("char", "varchar", "tinytext", "text", "mediumtext", "longtext")
_BYTES = ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob")
_MOST_CHARACTERS = {"tinytext": 255, "tinyblob": 255, "text": 2**16 - 1, "blob": 2**16 - 1}


class MysqlTables(ServerTables):
    """The tables of all databases of a server of MySQL's family."""

    dialect = MYSQL
    _tables, _functions = _TABLES, _FUNCTIONS
    _bounded = (*_WHOLE, *_FRACTIONAL, *_TIMES)

    def _described(self, database: str, name: str) -> list[DescribedColumn]:
        rows = self._ask(_COLUMNS.format(database=quoted(database), name=quoted(name))).rows
        return [
            DescribedColumn(column or "", kind or "", written or "", nullable == "1", automatic == "1", collation or "")
            for column, kind, written, nullable, automatic, collation in rows
        ]

    def _index_parts(self, database: str, name: str) -> list[IndexPart]:
        rows = self._ask(_INDEXES.format(database=quoted(database), name=quoted(name))).rows
        return [
            IndexPart(
                index or "",
                column or "",
                MYSQL.quoted(column or "") + (f"({prefix})" if prefix else ""),
                unique == "1",
                index == "PRIMARY",
                column is not None and usable == "1",
            )
            for index, column, prefix, unique, usable in rows
        ]

    def _lengths(self, column: str, _kind: str) -> str:
        return f"COUNT({column}), COUNT(DISTINCT {column}), AVG(LENGTH({column}))"

    def _column(self, column: DescribedColumn, summary: ColumnSummary) -> ColumnShape | None:
        sample, kind = summary.sample, column.kind
        low, high, whole, digits, letters = 1.0, float(sample.distinct), True, 0, 0
        expression: Expression = number_itself
        if kind in ("enum", "set"):
            members = re.findall(r"'(?:[^']|'')*'", column.type)
            high, expression = min(high, len(members)), _chosen(members)
        elif kind in (*_TEXTS, *_BYTES):
            declared = re.search(r"\((\d+)\)", column.type)
            digits = int(declared[1]) if declared else _MOST_CHARACTERS.get(kind, 2**20)
            length = min(max(sample.length, LARGE_DIGITS if summary.unique else len(str(sample.distinct))), digits)
            letters = length if not summary.indexed and sample.distinct >= summary.rows else 0
            expression = number_itself if letters else _padded(length)
        elif kind == "json":
            expression = _json(max(sample.length - 8, 1))
        elif kind == "date":
            low, high = 0.0, max(seconds_between(sample.low, sample.high) // 86_400, 1.0)
            expression = _later(first_time(sample.low)[:10], "DAY")
        elif kind in _TIMES:
            low, high = 0.0, seconds_between(sample.low, sample.high)
            expression = _later(first_time(sample.low), "SECOND")
        elif kind == "time":
            low, high, expression = 0.0, 86_399.0, "SEC_TO_TIME({})".format
        elif kind == "bit":
            low, high = 0.0, 1.0
        elif kind in _WHOLE:
            low, high = int(sample.low or 1), int(sample.high or 1)
        elif kind in _FRACTIONAL:
            low, high, whole = float(sample.low or 1), float(sample.high or 1), False
        else:
            return None
        return ColumnShape(
            name=column.name,
            type=f"{column.type} COLLATE {column.extra}" if column.extra and kind != "json" else column.type,
            low=low,
            high=high,
            expression=expression,
            whole=whole,
            nullable=column.nullable,
            automatic=column.automatic,
            always_null=summary.is_empty and column.nullable,
            longest=digits,
            letters=letters,
            large_type=("bigint unsigned" if "unsigned" in column.type else "bigint") if kind in _WHOLE[:5] else "",
        )


def _padded(length: int) -> Expression:
    return lambda number: f"RPAD({number}, {length}, 'x')"


def _json(length: int) -> Expression:
    return lambda number: f"CONCAT('{{\"k\": \"', RPAD({number}, {length}, 'x'), '\"}}')"


def _later(start: str, unit: str) -> Expression:
    return lambda number: f"TIMESTAMPADD({unit}, {number}, '{start}')"


def _chosen(members: Sequence[str]) -> Expression:
    return lambda number: f"ELT({number}, {', '.join(members)})"
