"""Literals that bound a column from below and from above in a condition."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from paribus.lab.statement_mix.dialect import Dialect
from paribus.lab.statement_mix.marks import Substitute
from paribus.lab.statement_mix.table_shape import ColumnShape, TableShape
from paribus.parsers.statements.digest import StatementDigest

LOWER = (exp.GT, exp.GTE)
UPPER = (exp.LT, exp.LTE)
TRANSPARENT = (exp.Paren, exp.Neg, exp.Cast)


@dataclass(frozen=True, slots=True)
class DataRange:
    """The range of a column's values, and parts of it with as many rows as a call of a digest reads."""

    table: TableShape
    column: ColumnShape
    digest: StatementDigest
    dialect: Dialect

    def between(self, lower: int, upper: int, position: int, *, narrowed: bool) -> Substitute:
        """The literal at `position`, which is one of two bounds; `narrowed`: other columns decide how many rows."""
        ends = self._ends()
        if ends is None:
            return Substitute(self.column.expression("?"), self.table.draw(self.column))
        low, high = ends
        distance = self.digest.width(lower, upper) if self.column.expression("?") == "?" else None
        if distance is None:
            distance = (high - low) / 2 if narrowed else self._width() - 1
        step = max(min(round(distance), round(high - low)), 0)
        first = min(lower, upper)
        if position != first:
            shifted = self.dialect.shifted(step if first == lower else -step, whole=self.column.whole)
            return Substitute(self.column.expression(shifted), same=first)
        return self._within(low, high - step) if first == lower else self._within(low + step, high)

    def beyond(self, *, is_lower: bool) -> Substitute:
        """The only bound of a range: near the end of the data, so that as many rows are beyond it as are read."""
        ends = self._ends()
        if ends is None:
            return Substitute(self.column.expression("?"), self.table.draw(self.column))
        low, high = ends
        reach = max(round(2 * self._width()), 1)  # on average, half of it is beyond the bound
        return self._within(max(low, high - reach), high) if is_lower else self._within(low, min(high, low + reach))

    def _ends(self) -> Sequence[float] | None:
        draw = self.table.draw(self.column)
        return draw.get("int") or draw.get("float")

    def _width(self) -> float:
        """The part of the range that has the rows of a call."""
        low, high = self._ends() or (0, 0)
        share = min(self.digest.rows_of_a_call / self.table.rows, 1.0) if self.table.rows else 0.0
        return max((high - low + 1) * share, 1.0)

    def _within(self, low: float, high: float) -> Substitute:
        draw = {"int": [int(low), int(high)]} if self.column.whole else {"float": [float(low), float(high)]}
        return Substitute(self.column.expression("?"), draw)


def bounds_of(outer: exp.Expr) -> tuple[int | None, int | None]:
    """Return the positions of the literals that bound a column from below and from above, in one condition."""
    parent = outer.parent
    if isinstance(parent, exp.Between):
        return _position(parent.args["low"]), _position(parent.args["high"])
    assert parent is not None
    is_lower, column = _comparison(parent)
    position = _position(outer)
    conjunction = parent.parent
    while isinstance(conjunction, exp.And | exp.Paren):
        for other in conjunction.find_all(*LOWER, *UPPER):
            if other is not parent and _comparison(other) == (not is_lower, column):
                sides = (_position(other.this), _position(other.expression))
                second = next((side for side in sides if side is not None), None)
                if second is not None:
                    return (position, second) if is_lower else (second, position)
        conjunction = conjunction.parent
    return (position, None) if is_lower else (None, position)


def _comparison(comparison: exp.Expr) -> tuple[bool, str]:
    """Whether it is a lower bound, and of which column."""
    if isinstance(comparison.this, exp.Column):
        return isinstance(comparison, LOWER), comparison.this.sql()
    return isinstance(comparison, UPPER), comparison.expression.sql()


def _position(node: exp.Expr | None) -> int | None:
    while isinstance(node, TRANSPARENT):
        node = node.this
    if isinstance(node, exp.Placeholder):
        return int(node.name[1:])
    return None
