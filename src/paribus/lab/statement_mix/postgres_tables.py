"""Shapes of tables of PostgreSQL, by its catalogue."""

from paribus.databases.postgres.postgres_variables import quoted
from paribus.lab.statement_mix.dialect import POSTGRES
from paribus.lab.statement_mix.samples import first_time, seconds_between
from paribus.lab.statement_mix.server_tables import (
    ColumnSummary,
    DescribedColumn,
    IndexPart,
    ServerTables,
)
from paribus.lab.statement_mix.table_shape import LARGE_DIGITS, ColumnShape, Expression, number_itself

_OWN = "n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_%'"
_TABLES = f"""SELECT n.nspname, c.relname,
CASE WHEN c.reltuples < 0 THEN pg_table_size(c.oid) / 100 ELSE c.reltuples END, pg_table_size(c.oid)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p') AND {_OWN}"""
_FUNCTIONS = f"SELECT DISTINCT p.proname FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE {_OWN}"
_COLUMNS = """SELECT a.attname, coalesce(b.typname, t.typname), CASE t.typtype WHEN 'd' THEN
format_type(t.typbasetype, t.typtypmod) ELSE format_type(a.atttypid, a.atttypmod) END, t.typtype,
NOT a.attnotnull OR a.atthasdef,
a.attidentity <> '' OR coalesce(pg_get_expr(d.adbin, d.adrelid), '') LIKE 'nextval(%'
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_type b ON b.oid = nullif(t.typbasetype, 0)
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = {table}::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"""
_INDEXES = """SELECT c.relname, a.attname, x.indisunique, x.indisprimary,
x.indexprs IS NULL AND x.indpred IS NULL AND m.amname = 'btree'
FROM pg_index x JOIN pg_class c ON c.oid = x.indexrelid JOIN pg_am m ON m.oid = c.relam
CROSS JOIN LATERAL unnest(x.indkey::int2[]) WITH ORDINALITY AS k (attnum, place)
LEFT JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = k.attnum
WHERE x.indrelid = {table}::regclass AND k.place <= x.indnkeyatts ORDER BY NOT x.indisprimary, c.relname, k.place"""
_WHOLE = ("int2", "int4", "int8")
_FRACTIONAL = ("numeric", "float4", "float8")
_TIMES = ("date", "timestamp", "timestamptz")
_SECONDS = "CAST({} AS double precision) * interval '1 second'"
_TEXTS = ("text", "varchar", "bpchar", "citext", "name")


class PostgresTables(ServerTables):
    """The tables of all schemas of a database of PostgreSQL."""

    dialect = POSTGRES
    _tables, _functions = _TABLES, _FUNCTIONS
    _bounded = (*_WHOLE, *_FRACTIONAL, *_TIMES)

    def _described(self, database: str, name: str) -> list[DescribedColumn]:
        rows = self._ask(_COLUMNS.format(table=_quoted_table(database, name))).rows
        return [
            DescribedColumn(
                column or "", kind or "", written or "", nullable == "t", automatic == "t", type_class or ""
            )
            for column, kind, written, type_class, nullable, automatic in rows
        ]

    def _index_parts(self, database: str, name: str) -> list[IndexPart]:
        rows = self._ask(_INDEXES.format(table=_quoted_table(database, name))).rows
        return [
            IndexPart(
                index or "", column or "", POSTGRES.quoted(column or ""), unique == "t", primary == "t", usable == "t"
            )
            for index, column, unique, primary, usable in rows
        ]

    def _lengths(self, column: str, kind: str) -> str:
        measured = column if kind == "bytea" else f"{column}::text"
        return f"count({column}), count(DISTINCT {column}::text), avg(octet_length({measured}))"

    def _column(self, column: DescribedColumn, summary: ColumnSummary) -> ColumnShape | None:
        sample, kind, written = summary.sample, column.kind, column.type
        low, high, whole, digits, letters = 1.0, float(sample.distinct), True, 0, 0
        expression: Expression = number_itself
        if kind in _TEXTS or column.extra == "e":
            written = written if kind in {"text", "varchar", "bpchar"} else "text"
            digits = int(written.partition("(")[2].rstrip(")") or 2**20)
            length = min(max(sample.length, LARGE_DIGITS if summary.unique else len(str(sample.distinct))), digits)
            letters = length if not summary.indexed and sample.distinct >= summary.rows else 0
            expression = number_itself if letters else _padded(length, kind)
        elif kind == "uuid":
            digits, expression = 32, "CAST(md5(CAST({} AS text)) AS uuid)".format
        elif kind in {"json", "jsonb"}:
            expression = _json(max(sample.length - 8, 1), kind)
        elif kind == "bytea":
            expression = _bytes(sample.length)
        elif kind == "bool":
            low, high, expression = 0.0, 1.0, "(CAST({} AS bigint) = 1)".format
        elif kind == "date":
            low, high = 0.0, max(seconds_between(sample.low, sample.high) // 86_400, 1.0)
            expression = _later(f"CAST('{first_time(sample.low)[:10]}' AS date)", "CAST({} AS integer)")
        elif kind in _TIMES:
            low, high = 0.0, seconds_between(sample.low, sample.high)
            expression = _later(f"CAST('{first_time(sample.low)}' AS {kind})", _SECONDS)
        elif kind == "time":
            low, high, expression = 0.0, 86_399.0, _later("CAST('00:00' AS time)", _SECONDS)
        elif kind in _WHOLE:
            low, high = int(sample.low or 1), int(sample.high or 1)
        elif kind in _FRACTIONAL:
            low, high, whole = float(sample.low or 1), float(sample.high or 1), False
        else:
            return None
        return ColumnShape(
            name=column.name,
            type=written,
            low=low,
            high=high,
            expression=expression,
            whole=whole,
            nullable=column.nullable,
            automatic=column.automatic and kind in _WHOLE,
            always_null=summary.is_empty and column.nullable,
            longest=digits,
            letters=letters,
            large_type="bigint" if kind in _WHOLE else "",
        )


def _quoted_table(schema: str, name: str) -> str:
    return quoted(f"{POSTGRES.quoted(schema)}.{POSTGRES.quoted(name)}")


def _padded(length: int, kind: str) -> Expression:
    if kind == "bpchar":  # compared with another type, the column would be converted, and its index not used
        return lambda number: f"CAST(rpad(CAST({number} AS text), {length}, 'x') AS {kind})"
    return lambda number: f"rpad(CAST({number} AS text), {length}, 'x')"


def _json(length: int, kind: str) -> Expression:
    return lambda number: f"CAST('{{\"k\": \"' || rpad(CAST({number} AS text), {length}, 'x') || '\"}}' AS {kind})"


def _bytes(length: int) -> Expression:
    return lambda number: f"convert_to(rpad(CAST({number} AS text), {length}, 'x'), 'UTF8')"


def _later(start: str, distance: str) -> Expression:
    return lambda number: f"({start} + {distance.format(number)})"
