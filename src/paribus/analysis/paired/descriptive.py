"""Plain interval of the pairs so far: shown with a failed reach test, and before the first look. It decides nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paribus.analysis.paired.effects import PairSeries
from paribus.analysis.paired.questions import arrays
from paribus.stats.pairs import CannotJudge, mean_interval

CONFIDENCE = 0.95
"""Coverage of the descriptive interval, at one moment and of one comparison."""


@dataclass(frozen=True, slots=True)
class DescriptiveInterval:
    """Mean of the first `units` pairs, or pairs of applications, and its t interval, log ratios."""

    units: int
    estimate: float
    low: float
    high: float


def descriptive_interval(series: PairSeries) -> DescriptiveInterval | None:
    """Return the mean of a comparison's units with its t interval; None for fewer than two, or no positive numbers."""
    return _described(_units(series))


def descriptive_intervals(series: PairSeries) -> list[DescriptiveInterval]:
    """Return the interval after each unit of a comparison, in the order in which they ended, from the second on."""
    units = _units(series)
    return list(filter(None, (_described(units[:count]) for count in range(2, len(units) + 1))))


def _units(series: PairSeries) -> list[float]:
    """The log ratio of each pair, or the mean of each pair of applications; none where a value is not positive."""
    try:
        pairs = arrays(series)
    except CannotJudge:
        return []
    if pairs.application is None:
        return list(pairs.difference)
    numbers = dict.fromkeys(pairs.application.tolist())
    return [float(np.mean(pairs.difference[pairs.application == number])) for number in numbers]


def _described(units: Sequence[float]) -> DescriptiveInterval | None:
    if len(units) < 2:
        return None
    estimate, low, high = mean_interval(units, CONFIDENCE)
    return None if low is None or high is None else DescriptiveInterval(len(units), estimate, low, high)
