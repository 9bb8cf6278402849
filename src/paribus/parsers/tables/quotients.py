"""Columns that repeat others: the quotient of two columns before them, or its change in percent.

In: the figures of the columns of a table. Out: which columns follow from others.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from paribus.parsers.numbers import decimals, number

_FEWEST_ROWS = 3
_MOST_COLUMNS = 12
_LEAST_RANGE = 20  # roundings by which figures differ; with fewer, a quotient may be met by chance
_ROUNDING = 1.001  # of binary numbers
_THOUSANDS = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")


@dataclass(frozen=True, slots=True)
class _Figure:
    """A printed figure, and half of its last digit."""

    value: float
    error: float


def quotients(columns: Mapping[int, Sequence[str]]) -> set[int]:
    """Return the columns whose every figure is what two columns before them imply, as they are printed.

    Args:
        columns: Cells by position of the column, a cell for each row.
    """
    if min(map(len, columns.values()), default=0) < _FEWEST_ROWS or len(columns) > _MOST_COLUMNS:
        return set()
    figures = {index: read for index, cells in columns.items() if (read := [*map(_figure, cells)]) and all(read)}
    derived: set[int] = set()
    for index, column in figures.items():
        before = [others for other, others in figures.items() if other < index and other not in derived]
        if len(set(column)) >= _FEWEST_ROWS and any(_follows(column, *pair) for pair in permutations(before, 2)):
            derived.add(index)
    return derived


def _figure(cell: str) -> _Figure | None:
    text = cell.strip("*` %x×+")
    value = number(text.replace(",", "") if _THOUSANDS.fullmatch(text) else text)
    return None if value is None else _Figure(value, 0.5 * 10.0 ** -decimals(text if "." in text else ""))


def _range(column: Sequence[_Figure | None]) -> float:
    values = [figure.value for figure in column if figure]
    return max(values) - min(values)


def _follows(column: Sequence[_Figure | None], *pair: Sequence[_Figure | None]) -> bool:
    """Whether a column is the first of a pair by the second, or that as a percentage or a change in percent."""
    forms = {*range(4)}
    largest_error = _range(column) / _LEAST_RANGE
    for figure, dividend, divisor in zip(column, *pair, strict=True):
        if not (figure and dividend and divisor and dividend.value and divisor.value):
            return False
        ratio = dividend.value / divisor.value
        error = abs(ratio) * (dividend.error / abs(dividend.value) + divisor.error / abs(divisor.value))
        forms &= set(_forms(figure, ratio, error, largest_error))
        if not forms:
            return False
    return True


def _forms(figure: _Figure, ratio: float, error: float, largest_error: float) -> Iterator[int]:
    """The forms in which a figure may be a printed ratio that is known up to an error."""
    for form, (value, times) in enumerate(
        ((ratio, 1), (100 * ratio, 100), (100 * (ratio - 1), 100), (100 * (1 - ratio), 100))
    ):
        allowed = (figure.error + times * error) * _ROUNDING
        if abs(value - figure.value) <= allowed <= largest_error:
            yield form
