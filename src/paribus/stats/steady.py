"""Whether a series has come to a steady state: numbers in, numbers out.

The criteria are those of SNIA's Solid State Storage Performance Test Specification (version 2.0.2, definitions of
steady state): over the last rounds neither the range nor the rise of the fitted line is large against the average.
Called by the trial that preconditions, after each round.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Steadiness:
    """How steady the last rounds were: `spread` and `drift` are shares of their average, `drift` with its sign."""

    average: float
    spread: float
    drift: float
    steady: bool


def steadiness(values: Sequence[float], window: int, most_spread: float, most_drift: float) -> Steadiness | None:
    """Judge the last `window` values, one for each round, in order; None before there are so many.

    Steady is: the largest minus the smallest is at most `most_spread` of the average, and the least-squares line
    rises or falls by at most `most_drift` of it from the first to the last of them. A window without anything in it
    is not steady. The window has at least two values.
    """
    if len(values) < window:
        return None
    last = np.asarray(values[-window:], dtype=float)
    average = float(last.mean())
    if not average > 0:
        return Steadiness(average, 0.0, 0.0, steady=False)
    spread = float(np.ptp(last)) / average
    drift = float(np.polyfit(np.arange(window), last, 1)[0]) * (window - 1) / average
    return Steadiness(average, spread, drift, spread <= most_spread and abs(drift) <= most_drift)
