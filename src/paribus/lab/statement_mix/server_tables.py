"""Shapes of a server's tables, read from its catalogue and from a sample of rows; a subclass knows the catalogue."""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from paribus.databases.server.state import Ask
from paribus.lab.statement_mix.dialect import Dialect
from paribus.lab.statement_mix.samples import ColumnSample, sampled_rows
from paribus.lab.statement_mix.table_shape import ColumnShape, IndexShape, TableShape, counters

_COUNTED_BELOW = 200_000  # rows: estimates of servers are coarse or old


class TableEstimate(NamedTuple):
    """Rows and bytes of a table, as the server estimates them."""

    rows: int
    bytes: int


class DescribedColumn(NamedTuple):
    """A column in the catalogue; `type` is as a schema writes it, `kind` is its name alone. `extra` is the server's."""

    name: str
    kind: str
    type: str
    nullable: bool
    automatic: bool
    extra: str


class IndexPart(NamedTuple):
    """A column of an index in the catalogue; `usable` is false where a plan does not create such an index."""

    name: str
    column: str
    part: str
    unique: bool
    primary: bool
    usable: bool


class ColumnSummary(NamedTuple):
    """Figures of a column for its shape."""

    sample: ColumnSample
    indexed: bool
    unique: bool
    rows: int

    @property
    def is_empty(self) -> bool:
        """Whether the sample has rows, and none with a value."""
        return self.sample.total > 0 and self.sample.filled == 0


class ServerTables(ABC):
    """The tables of a server, each read when a statement needs it."""

    dialect: Dialect
    _tables: str  # query of database, name, estimated rows and bytes of all tables of users
    _functions: str  # query of the names of all functions of users
    _bounded: tuple[str, ...]  # kinds of columns that are numbers or times

    def __init__(self, ask: Ask) -> None:
        """List the tables and functions of users. Raises QueryRefused and ServerGone."""
        self._ask = ask
        self.functions = frozenset((name or "").lower() for (name,) in ask(self._functions).rows)
        self._estimates = {
            (database or "", name or ""): TableEstimate(int(float(rows or 0)), int(length or 0))
            for database, name, rows, length in ask(self._tables).rows
        }
        self._shapes: dict[tuple[str, str], TableShape] = {}

    def databases(self, name: str) -> list[str]:
        """The databases, or schemas of PostgreSQL, that have a table of this name."""
        return [database for database, table in self._estimates if table == name]

    def shape(self, database: str, name: str) -> TableShape:
        """The shape of a table. Raises QueryRefused where the user may not read it, and ServerGone."""
        if (database, name) not in self._shapes:
            self._shapes[database, name] = self._read(database, name)
        return self._shapes[database, name]

    @abstractmethod
    def _described(self, database: str, name: str) -> list[DescribedColumn]:
        """The columns of a table."""

    @abstractmethod
    def _index_parts(self, database: str, name: str) -> list[IndexPart]:
        """The columns of all indexes of a table, the primary key first."""

    @abstractmethod
    def _lengths(self, column: str, kind: str) -> str:
        """The expressions of the number of values, of distinct ones, and of the average length in bytes."""

    @abstractmethod
    def _column(self, column: DescribedColumn, summary: ColumnSummary) -> ColumnShape | None:
        """The shape of a column; None for a type of which no value can be made."""

    def _read(self, database: str, name: str) -> TableShape:
        table = f"{self.dialect.quoted(database)}.{self.dialect.quoted(name)}"
        described = self._described(database, name)
        count, size = self._estimates[database, name]
        if count < _COUNTED_BELOW:
            count = int(self._ask(f"SELECT COUNT(*) FROM {table}").rows[0][0] or 0)
        indexes, lost = self._indexes(database, name)
        leading = {index.columns[0] for index in indexes}
        indexed = {column for index in indexes for column in index.columns}
        unique = {index.columns[0] for index in indexes if index.unique and len(index.columns) == 1}
        samples = self._samples(table, described, leading, sampled_rows(size // max(count, 1)))
        columns = []
        for column in described:
            is_unique = column.name in unique
            sample = samples[column.name].of_table(count, unique=is_unique)
            shape = self._column(column, ColumnSummary(sample, column.name in indexed, is_unique, count))
            if shape:
                columns.append(shape)
            else:
                lost.append(f"column {column.name} of type {column.type}")
        names = {column.name for column in columns}
        usable = tuple(index for index in indexes if names.issuperset(index.columns))
        lost += [f"index {index.name}" for index in indexes if index not in usable]
        distinct = {column: sample.distinct for column, sample in samples.items()}
        sampled = max((sample.total for sample in samples.values()), default=0)
        return TableShape(
            database=database,
            name=name,
            rows=count,
            columns=tuple(columns),
            indexes=usable,
            counters=counters(usable, distinct, sampled, count),
            lost=tuple(lost),
        )

    def _indexes(self, database: str, name: str) -> tuple[list[IndexShape], list[str]]:
        """The indexes that a plan creates, and the names of others."""
        parts: dict[str, list[IndexPart]] = defaultdict(list)
        for part in self._index_parts(database, name):
            parts[part.name].append(part)
        indexes, lost = [], []
        for index, of_index in parts.items():
            if all(part.usable for part in of_index):
                columns, written = tuple(part.column for part in of_index), tuple(part.part for part in of_index)
                indexes.append(IndexShape(index, columns, written, of_index[0].unique, of_index[0].primary))
            else:
                lost.append(f"index {index}")
        return indexes, lost

    def _samples(
        self, table: str, described: Sequence[DescribedColumn], leading: set[str], rows: int
    ) -> dict[str, ColumnSample]:
        """Bounds, distinct values and lengths of the first rows; bounds of an index's first column of all rows."""
        figures = []
        for column in described:
            quoted = self.dialect.quoted(column.name)
            bounds = f"MIN({quoted}), MAX({quoted})" if column.kind in self._bounded else "NULL, NULL"
            figures.append(f"{bounds}, {self._lengths(quoted, column.kind)}")
        query = f"SELECT COUNT(*), {', '.join(figures)} FROM (SELECT * FROM {table} LIMIT {rows}) AS sample"
        total, *values = self._ask(query).rows[0]
        samples = {}
        for number, column in enumerate(described):
            low, high, filled, distinct, length = values[5 * number : 5 * number + 5]
            if column.name in leading and column.kind in self._bounded:
                quoted = self.dialect.quoted(column.name)
                low, high = self._ask(f"SELECT MIN({quoted}), MAX({quoted}) FROM {table}").rows[0]
            samples[column.name] = ColumnSample.read(low, high, filled, distinct, length, total)
        return samples
