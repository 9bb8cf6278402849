"""Plain interval of the pairs so far: shown with a failed reach test, and before the first look. It decides nothing."""

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
    if series.units < 2:
        return None
    try:
        pairs = arrays(series)
    except CannotJudge:
        return None
    if pairs.application is None:
        values = list(pairs.difference)
    else:
        values = [
            float(np.mean(pairs.difference[pairs.application == number])) for number in np.unique(pairs.application)
        ]
    estimate, low, high = mean_interval(values, CONFIDENCE)
    return None if low is None or high is None else DescriptiveInterval(len(values), estimate, low, high)
