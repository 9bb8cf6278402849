"""Reader of the slow query log of MySQL, MariaDB and Percona Server."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from paribus.parsers.statements.digest import StatementDigest, StatementRecord
from paribus.parsers.statements.literals import digest_key, without_literals

FORM = "slow query log"
_MOST_DIGESTS = 20_000
_LONGEST = 1_000_000  # characters of a statement
_FAST_S = 0.01
_FIGURES = re.compile(
    r"# Query_time:\s*(?P<seconds>\d+(?:\.\d+)?)\s+Lock_time:\s*[\d.]+\s+"
    r"Rows_sent:\s*\d+\s+Rows_examined:\s*(?P<rows>\d+)"
)
_NEXT = ("# Time: ", "# User@Host: ")
_BANNER = re.compile(r".* started with:$|Tcp port: |Time\s+Id\s+Command\s+Argument")
_SCHEMA = re.compile(r"\bSchema: (?P<name>\S+)")
_USE = re.compile(r"use (?P<quote>`?)(?P<name>.+)(?P=quote);", re.IGNORECASE)
_TIMESTAMP = re.compile(r"SET timestamp=\d+(?:\.\d+)?;")


@dataclass(slots=True)
class _Entry:
    """An entry of the log: its figures and the lines of its statement."""

    seconds: float
    rows: int
    database: str
    lines: list[str] = field(default_factory=list)
    length: int = 0


def is_slow_log(lines: Iterable[str]) -> bool:
    """Whether one of these lines has the figures of an entry, or is the head of a log of the server."""
    return any(_FIGURES.match(line) or _BANNER.match(line) for line in lines)


def read_slow_log(lines: Iterable[str]) -> StatementRecord:
    """Return the digests of a log."""
    digests: dict[tuple[str, str], StatementDigest] = {}
    left_out: Counter[str] = Counter()
    shortest = float("inf")
    for entry in _entries(lines):
        text = "\n".join(entry.lines).strip()
        shortest = min(shortest, entry.seconds)
        if not text or text.startswith("# administrator command"):
            left_out["commands of the protocol, such as Quit"] += 1
            continue
        if not text.endswith(";") or entry.length > _LONGEST:
            left_out["incomplete or longer than a megabyte"] += 1
            continue
        statement = without_literals(text)
        key = entry.database, digest_key(statement.sql)
        if key not in digests and len(digests) >= _MOST_DIGESTS:
            left_out[f"after the first {_MOST_DIGESTS} different ones"] += 1
            continue
        digest = digests.setdefault(key, StatementDigest(entry.database))
        digest.add(statement.sql, calls=1, seconds=entry.seconds, rows=entry.rows, numbers=statement.numbers)
    notes = []
    if digests and shortest > _FAST_S:
        notes.append(
            f"no statement of the log took less than {shortest:.3g} s: faster ones are missing from this workload; "
            "SET GLOBAL long_query_time = 0 logs all of them"
        )
    return StatementRecord(FORM, "mysql", tuple(digests.values()), left_out, tuple(notes))


def _entries(lines: Iterable[str]) -> Iterator[_Entry]:
    entry: _Entry | None = None
    used = database = ""
    for raw_line in lines:
        line = raw_line.rstrip("\r\n")
        if line.startswith(_NEXT) or _BANNER.match(line):
            if entry:
                yield entry
            entry = None
            database = ""
        elif figures := _FIGURES.match(line):
            if entry:
                yield entry
            entry = _Entry(float(figures["seconds"]), int(figures["rows"]), database or used)
            database = ""
        elif entry is None or (not entry.lines and line.startswith("# ") and "administrator" not in line):
            schema = _SCHEMA.search(line) if line.startswith("# ") else None
            if schema and entry:
                entry.database = schema["name"]
            elif schema:
                database = schema["name"]
        elif not entry.lines and (use := _USE.fullmatch(line)):
            used = entry.database = use["name"]
        elif entry.lines or not _TIMESTAMP.fullmatch(line):
            entry.length += len(line)
            if entry.length <= _LONGEST:
                entry.lines.append(line)
    if entry:
        yield entry
