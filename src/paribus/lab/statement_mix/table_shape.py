"""Shape of a user's table: columns, ranges of their values and indexes, without any text of the data.

Each value of a column is an expression of a number between bounds, such as `RPAD(?, 20, 'x')` for a text. So rows and
arguments that draw from the same bounds match as often as in the data.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

# The expression of a value, from the expression of its number.
Expression = Callable[[str], str]
_MOST_ROWS = 2**31
_MOST_NUMBERS = 2**53
LARGE_DIGITS = 16  # of a number that never repeats, in a million runs


def number_itself(number: str) -> str:
    """Return the expression of a column of numbers."""
    return number


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnShape:
    """A column; `low` and `high` bound the numbers from which `expression` makes its values.

    `whole`: these are whole numbers. `automatic`: the server numbers new rows. `always_null`: no value was seen.
    `longest` is the number of digits that a text holds; 0 where the column holds no text. With `letters`, values are so
    many random letters: a text without an index, of which no two are alike.
    """

    name: str
    type: str
    low: float
    high: float
    expression: Expression = number_itself
    whole: bool = True
    nullable: bool = True
    automatic: bool = False
    always_null: bool = False
    longest: int = 0
    letters: int = 0
    large_type: str = ""  # of whole numbers, the type with 64 bits

    def draw(self) -> dict[str, Any]:
        """The argument that draws a number of the column."""
        if self.letters:
            return {"text": [self.letters, self.letters]}
        if self.whole:
            return {"int": [int(self.low), int(min(self.high, self.low + _MOST_NUMBERS - 1))]}
        return {"float": [float(self.low), float(self.high)]}


@dataclass(frozen=True, slots=True)
class IndexShape:
    """An index; each part is a column's name as the schema writes it, with a prefix length where it has one."""

    name: str
    columns: tuple[str, ...]
    parts: tuple[str, ...]
    unique: bool = False
    primary: bool = False


@dataclass(frozen=True, slots=True)
class Counter:
    """The number of a column of a row of the filling: the row's number divided by the first, modulo the second."""

    divisor: int
    modulus: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TableShape:
    """A table with its number of rows.

    `counters` number the rows by the columns of a key. `lost` are columns that a `sqlmix` cannot fill, and indexes
    left out.
    """

    database: str
    name: str
    rows: int
    columns: tuple[ColumnShape, ...]
    indexes: tuple[IndexShape, ...] = ()
    counters: Mapping[str, Counter] = field(default_factory=dict)
    lost: tuple[str, ...] = ()

    def column(self, name: str) -> ColumnShape | None:
        """The column of a name, in any case."""
        return next((column for column in self.columns if column.name.casefold() == name.casefold()), None)

    def is_key(self, name: str) -> bool:
        """Whether the column is part of the primary key."""
        return any(name in index.columns for index in self.indexes if index.primary)

    def is_unique(self, name: str) -> bool:
        """Whether a unique index is on this column alone."""
        return any(index.columns == (name,) for index in self.indexes if index.unique)

    @property
    def numbering_column(self) -> str:
        """The last column of the key whose columns `counters` number; '' without one."""
        return next((index.columns[-1] for index in self.indexes if self._is_counted(index)), "")

    def _is_counted(self, index: IndexShape) -> bool:
        return index.unique and len(index.columns) > 1 and self.counters.keys() >= set(index.columns)

    @property
    def has_wide_key(self) -> bool:
        """Whether a unique index is on several columns, whose drawn values may be there already."""
        return any(index.unique and len(index.columns) > 1 for index in self.indexes)

    @property
    def has_several_wide_keys(self) -> bool:
        """Whether a unique index on several columns has values that `counters` do not make unique."""
        wide = [index for index in self.indexes if index.unique and len(index.columns) > 1]
        return not all(map(self._is_counted, wide))

    @property
    def filled_rows(self) -> int:
        """The number of rows that a plan inserts."""
        return min(self.rows, _MOST_ROWS)

    def draw(self, column: ColumnShape) -> dict[str, Any]:
        """The argument that draws a number of a column, which is in the table if the column is unique."""
        counter = self.counters.get(column.name)
        if column.whole and counter:
            return {"int": [int(column.low), int(column.low) + counter.modulus - 1]}
        if column.whole and self.is_unique(column.name):
            return {"int": [int(column.low), int(column.low) + max(self.filled_rows, 1) - 1]}
        return column.draw()

    def row_draw(self, column: ColumnShape) -> dict[str, Any]:
        """The argument that draws a number of a column for a new row of the filling."""
        if column.name in self.counters:
            return {"sequence": 0}
        if self.is_unique(column.name):
            return {"sequence": int(column.low)}
        return column.draw()


def counters(indexes: Iterable[IndexShape], distinct: Mapping[str, int], sampled: int, rows: int) -> dict[str, Counter]:
    """Return counters that make the columns of the first unique index of several columns unique together.

    Rows that agree in all columns but the last are as many as in a sample of `sampled` rows, in which columns have
    `distinct` values.
    """
    single = {index.columns[0] for index in indexes if index.unique and len(index.columns) == 1}
    wide = [index for index in indexes if index.unique and len(index.columns) > 1 and single.isdisjoint(index.columns)]
    if not wide or not rows:
        return {}
    first, *middle, last = wide[0].columns
    in_a_group = max(round(sampled / math.prod(distinct[name] for name in (first, *middle))), 1)
    result = {last: Counter(1, max(distinct[last], in_a_group))}
    divisor = in_a_group
    for name in reversed(middle):
        result[name] = Counter(divisor, distinct[name])
        divisor *= distinct[name]
    return result | {first: Counter(divisor, math.ceil(rows / divisor))}
