"""Choice of the statements that make up most of a record, as the tables of a `sqlmix` workload."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from paribus.errors import UsageError
from paribus.lab.statement_mix.marks import NotExpressible
from paribus.lab.statement_mix.placeholders import WRITING_STATEMENTS, MappedStatement, TableReader, mapped
from paribus.lab.statement_mix.table_shape import TableShape
from paribus.parsers.statements.digest import StatementDigest, StatementRecord, total

_MOST_STATEMENTS = 20
_MOST_EXAMINED = 200  # digests; reading one takes milliseconds
_ENOUGH = 0.99
_SESSION = ("BEGIN", "START", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "SET", "USE")
_GENERAL_NOTES = (
    "Values are drawn uniformly from the ranges of the data; hot rows are not hotter than others.",
    "Columns have no NULL values; defaults, foreign keys, triggers, partitions and checks are left out.",
    "Texts are made up, with the average length and the number of distinct values of the data.",
)


Chosen = Sequence[tuple[StatementDigest, MappedStatement]]


@dataclass(frozen=True, slots=True)
class StatementMix:
    """Tables of a `sqlmix` workload, and notes on what it covers and what was simplified."""

    workload: dict[str, Any]
    notes: tuple[str, ...]


def statement_mix(record: StatementRecord, tables: TableReader, source: str) -> StatementMix:
    """Return the workload of the statements that make up most of a record.

    Raises UsageError where no statement can be used, and ServerGone.
    """
    if not record.digests:
        reasons = f": {_counted(record.left_out)}" if record.left_out else ""
        raise UsageError(
            f"{source} holds no statement{reasons}", "record some minutes of the usual load, and try again"
        )
    chosen: list[tuple[StatementDigest, MappedStatement]] = []
    left_out: Counter[str] = Counter(record.left_out)
    homes: dict[str, str] = {}
    candidates = _Candidates(record)
    if session := record.calls_of(_SESSION):
        left_out["BEGIN, COMMIT, SET and other commands of sessions"] += session
    for number, digest in enumerate(candidates.ranked):
        if number >= _MOST_EXAMINED or len(chosen) >= _MOST_STATEMENTS or candidates.are_covered(chosen):
            left_out["rarer ones"] += digest.calls
            continue
        try:
            statement = mapped(digest, tables)
            _refuse_namesakes(statement.tables, homes)
        except NotExpressible as reason:
            left_out[str(reason)] += digest.calls
            continue
        chosen.append((digest, statement))
        homes |= {shape.name: shape.database for shape in statement.tables}
    if not chosen:
        raise UsageError(
            f"no statement of {source} can be used: {_counted(left_out)}",
            "name with --database the server that holds its tables, as a user who may read them",
        )
    notes = [_coverage(chosen, candidates, source), *_of_record(record, left_out), *_of_tables(chosen)]
    return StatementMix(_workload(chosen, tables), tuple(map(_on_a_line, notes)))


class _Candidates:
    """The statements of a record without those that begin, end or set up transactions."""

    def __init__(self, record: StatementRecord) -> None:
        self.form = record.form
        digests = [digest for digest in record.digests if digest.first_word not in _SESSION]
        self.calls, self.seconds = total(digests)
        self.ranked = sorted(digests, key=lambda digest: max(self.shares([digest])), reverse=True)

    def shares(self, digests: Iterable[StatementDigest]) -> tuple[float, float]:
        """The shares of these digests in calls and in time."""
        calls, seconds = total(digests)
        of_calls = calls / self.calls if self.calls else 0.0
        return of_calls, seconds / self.seconds if self.seconds else of_calls

    def are_covered(self, chosen: Chosen) -> bool:
        return min(self.shares(digest for digest, _ in chosen)) >= _ENOUGH


def _refuse_namesakes(shapes: Iterable[TableShape], homes: dict[str, str]) -> None:
    for shape in shapes:
        if homes.get(shape.name, shape.database) != shape.database:
            raise NotExpressible(
                f"table {shape.name} of {shape.database}: {homes[shape.name]} has one of that name too"
            )


def _workload(chosen: Chosen, tables: TableReader) -> dict[str, Any]:
    dialect = tables.dialect
    shapes = {shape.name: shape for _, statement in chosen for shape in statement.tables}
    large: dict[str, set[str]] = {}
    for _, statement in chosen:
        for name, columns in statement.large.items():
            large.setdefault(name, set()).update(columns)
    calls = sum(digest.calls for digest, _ in chosen)
    names: Counter[str] = Counter()
    transactions = []
    for digest, statement in chosen:
        names[statement.name] += 1
        number = names[statement.name]
        transactions.append(
            {
                "name": statement.name if number == 1 else f"{statement.name} {number}",
                "weight": max(float(f"{100 * digest.calls / calls:.4g}"), 1e-6),
                "transaction": False,
                "statements": [{"sql": statement.sql, "arguments": statement.arguments}],
            }
        )
    workload: dict[str, Any] = {
        "schema": [
            sql for name, shape in shapes.items() for sql in dialect.schema(shape, frozenset(large.get(name, ())))
        ],
        "rows": [dialect.rows(shape) for shape in shapes.values() if shape.rows],
        "transactions": transactions,
    }
    return {key: value for key, value in workload.items() if value}


def _coverage(chosen: Chosen, candidates: _Candidates, source: str) -> str:
    calls, seconds = candidates.shares(digest for digest, _ in chosen)
    return (
        f"{len(chosen)} statements of {source} ({candidates.form}): {calls:.1%} of its {candidates.calls} calls and "
        f"{seconds:.1%} of their time; weights are shares of calls."
    )


def _of_record(record: StatementRecord, left_out: Counter[str]) -> list[str]:
    """Notes on what is left out or simplified."""
    notes = [f"Left out: {_counted(left_out)}."] if left_out else []
    notes += [note[0].upper() + note[1:] + "." for note in record.notes]
    writes = record.calls_of(WRITING_STATEMENTS)
    if ended := record.calls_of(["COMMIT", "ROLLBACK"]):
        notes.append(
            f"Each statement is committed by itself; in the source, {ended} COMMIT and ROLLBACK ended transactions "
            f"with {writes} writing statements."
        )
    else:
        notes.append("Each statement is committed by itself.")
    return [*notes, *_GENERAL_NOTES]


def _of_tables(chosen: Chosen) -> list[str]:
    """Notes on the tables and on single statements."""
    shapes = {shape.name: shape for _, statement in chosen for shape in statement.tables}
    rows = ", ".join(f"{shape.filled_rows} in {name}" for name, shape in shapes.items())
    notes = [f"Rows as on the server: {rows}. Smaller counts are filled sooner, and are less like it."] if rows else []
    notes += [f"Table {name} without {', '.join(shape.lost)}." for name, shape in shapes.items() if shape.lost]
    statements = (f"{statement.name}: {note}." for _, statement in chosen for note in statement.notes)
    return [*notes, *dict.fromkeys(statements)]


def _on_a_line(note: str) -> str:
    """A note without the control characters that names may have, which a comment must not."""
    return "".join(character if character.isprintable() else "?" for character in note)


def _counted(left_out: Counter[str]) -> str:
    return "; ".join(f"{count} calls: {reason}" for reason, count in left_out.most_common(12))
