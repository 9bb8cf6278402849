"""Reader of exported statistics of statements: pg_stat_statements, and events_statements_summary_by_digest."""

import csv
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from paribus.parsers.statements.digest import StatementDigest, StatementRecord
from paribus.parsers.statements.literals import digest_key, without_comments
from paribus.parsers.statements.shortened import expanded

_LONGEST_FIELD = 2**24
_ESCAPED = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "0": "\0"}


@dataclass(frozen=True, slots=True)
class _Export:
    """Columns of an export: each has one of these names. `seconds` is the unit of its times."""

    form: str
    protocol: Literal["mysql", "postgres"]
    text: str
    calls: Sequence[str]
    times: Sequence[str]
    seconds: float
    rows: Sequence[str]
    database: str
    statement: Callable[[str, float], str]

    def fits(self, columns: Iterable[str]) -> bool:
        """Whether these are its columns."""
        return {self.text, *self.calls[:1]} <= {column.lower() for column in columns}


def _of_postgres(text: str, _rows: float) -> str:
    return without_comments(text)


_EXPORTS = (
    _Export(
        form="pg_stat_statements",
        protocol="postgres",
        text="query",
        calls=("calls",),
        times=("total_exec_time", "total_time"),
        seconds=1e-3,
        rows=("rows",),
        database="",
        statement=_of_postgres,
    ),
    _Export(
        form="events_statements_summary_by_digest",
        protocol="mysql",
        text="digest_text",
        calls=("count_star",),
        times=("sum_timer_wait",),
        seconds=1e-12,
        rows=("sum_rows_examined", "sum_rows_sent"),
        database="schema_name",
        statement=expanded,
    ),
)


def export_columns(first_line: str) -> list[str]:
    """Return the columns that the first line of an export names; empty where it is of no export."""
    line = first_line.strip("\ufeff\r\n")
    columns = line.split("\t") if "\t" in line else next(csv.reader([line]), [])
    names = [column.strip().strip('"').lower() for column in columns]
    return names if any(export.fits(names) for export in _EXPORTS) else []


def read_export(first_line: str, lines: Iterable[str]) -> StatementRecord:
    """Return the digests of an export. Raises ValueError where a column is missing or a row is broken."""
    columns = export_columns(first_line)
    export = next(export for export in _EXPORTS if export.fits(columns))
    if not set(export.times) & set(columns):
        raise ValueError(f"has no column {' or '.join(export.times)}: export it too")
    csv.field_size_limit(_LONGEST_FIELD)
    rows = _of_tabs(lines) if "\t" in first_line else _of_commas(lines)
    digests: dict[tuple[str, str], StatementDigest] = {}
    left_out: Counter[str] = Counter()
    for number, values in enumerate(rows, start=1):
        if len(values) != len(columns):
            raise ValueError(f"has {len(values)} values in row {number}, and {len(columns)} columns: it may be cut off")
        row = dict(zip(columns, values, strict=True))
        calls, seconds, examined, affected = (
            _number(row, names, number) for names in (export.calls, export.times, export.rows, ("sum_rows_affected",))
        )
        if calls < 1:
            continue
        if reason := _unusable(row, export):
            left_out[reason] += int(calls)
            continue
        database = row.get(export.database, "") if export.database else ""
        database = "" if database in {"NULL", r"\N"} else database
        # An IN list has about as many values as rows are read, a list of rows as many as are written.
        sql = export.statement(row[export.text], (affected or examined) / calls)
        key = database, digest_key(re.sub(r"\$\d+", "?", sql))
        digest = digests.setdefault(key, StatementDigest(database))
        digest.add(sql, calls=int(calls), seconds=seconds * export.seconds, rows=int(examined))
    return StatementRecord(export.form, export.protocol, tuple(digests.values()), left_out)


def _unusable(row: Mapping[str, str], export: _Export) -> str:
    """The reason why a row is no statement; empty where it is one."""
    text = row[export.text].strip()
    if text in {"", "NULL", r"\N"}:
        return "without a text, since the server's table of digests is full"
    if text == "<insufficient privilege>":
        return "hidden from the user who exported them: GRANT pg_read_all_stats"
    if row.get("toplevel", "").lower() in {"f", "false"}:
        return "within functions"
    return ""


def _number(row: Mapping[str, str], names: Sequence[str], number: int) -> float:
    name = next((name for name in names if name in row), "")
    text = row.get(name, "") or "0"
    try:
        amount = float(text)
    except ValueError:
        amount = math.nan
    if not 0 <= amount < math.inf:
        raise ValueError(f"has {text[:40]!r} for {name} in row {number}, which is no number")
    return amount


def _of_commas(lines: Iterable[str]) -> Iterator[list[str]]:
    try:
        yield from (row for row in csv.reader(lines) if row)
    except csv.Error as error:
        raise ValueError(f"is no CSV: {error}") from error


def _of_tabs(lines: Iterable[str]) -> Iterator[list[str]]:
    """Rows as the client of MySQL prints them for programs, with its escapes."""
    for line in lines:
        if text := line.rstrip("\r\n"):
            yield [_ESCAPED.sub(lambda match: _ESCAPES.get(match[1], match[1]), value) for value in text.split("\t")]
