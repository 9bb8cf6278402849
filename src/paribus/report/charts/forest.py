"""The forest plot of a report: every effect with its interval on one axis of logarithmic ratios, nothing clipped.

In: the rows of the verdict table, or those of a fleet. Out: the positions of the marks of each row, in percent of the
width. A halving is as far from no change as a doubling. Called by the pages.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from paribus.report.view import numbers
from paribus.report.view.fleet_models import PlotMark
from paribus.report.view.view_models import Judged

_MAX_LOG = math.log(1000)  # an interval without an end reaches to here
_NOTHING_LEFT = -100.0  # percent
_PADDING = 0.03  # of the width, on either side
_TICK_GAP = 11.0  # percent of the width between two ticks
_TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 300, 500, 1000, 2000, 5000, 10_000, 50_000)
_LOWER_TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 35, 50, 65, 75, 80, 90, 95, 98, 99, 99.9)


@dataclass(frozen=True, slots=True)
class ForestRow:
    """Positions of the marks of a row, in percent of the width; an effect without repetition has no interval."""

    margin: tuple[float, float]
    interval: tuple[float, float] | None
    estimate: float


@dataclass(frozen=True, slots=True)
class Forest:
    """The rows of a plot, the position of no change, and the ticks of the axis with their texts."""

    rows: tuple[ForestRow, ...]
    zero: float
    ticks: tuple[tuple[float, str], ...]


def forest(rows: Sequence[Judged | PlotMark]) -> Forest:
    """Return the plot of rows in their order.

    Example:
        >>> forest([]).zero
        50.0
    """
    drawn = [each for row in rows for each in (row.estimate, row.margin_low, row.margin_high)]
    drawn += [each for row in rows if _has_interval(row) for each in (row.low, row.high)]
    bounds = [_log(each) for each in drawn]
    low, high = min(bounds, default=-1.0), max(bounds, default=1.0)
    padding = (high - low) * _PADDING
    low, width = low - padding, (high - low) + 2 * padding or 1.0

    def place(percent: float) -> float:
        return round((_log(percent) - low) / width * 100, 2)

    zero = place(0.0)
    ticks = [(zero, "0 %")]
    for candidates in (_TICKS, [-each for each in _LOWER_TICKS]):
        ticks += _ticks(((place(each), each) for each in candidates), zero)
    return Forest(
        rows=tuple(
            ForestRow(
                margin=(place(row.margin_low), place(row.margin_high)),
                interval=(place(row.low), place(row.high)) if _has_interval(row) else None,
                estimate=place(row.estimate),
            )
            for row in rows
        ),
        zero=zero,
        ticks=tuple(sorted(ticks)),
    )


def _ticks(candidates: Iterable[tuple[float, float]], zero: float) -> list[tuple[float, str]]:
    """The ticks on one side of zero, outwards, as many as have room."""
    ticks, last = [], zero
    for place, percent in candidates:
        if abs(place - last) >= _TICK_GAP and 0 <= place <= 100:
            ticks.append((place, f"{numbers.signed(percent, 1).removesuffix('.0')} %"))
            last = place
    return ticks


def _has_interval(row: Judged | PlotMark) -> bool:
    return row.low > _NOTHING_LEFT or math.isfinite(row.high)


def _log(percent: float) -> float:
    """The logarithm of a change in percent, within what can be drawn."""
    ratio = 1 + percent / 100
    if ratio <= 0 or not math.isfinite(ratio):
        return _MAX_LOG if ratio > 0 else -_MAX_LOG
    return min(max(math.log(ratio), -_MAX_LOG), _MAX_LOG)
