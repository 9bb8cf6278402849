"""Location of a few values that need not be normal, with a confidence interval that an outlier in its favour keeps.

In: log ratios of load levels. Out: an estimate and an interval. Sources: Hodges and Lehmann (1963) for the estimate and
the interval by signed ranks; Zou and Donner (2008) for joining intervals of independent parts.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

FEWEST_RANKS = 6
"""Values from which on signed ranks have a 95 % interval; fewer get that of Student's t."""

_Z = 1.959964  # of 95 %
_EXACT = 40  # more values take the normal approximation of the ranks


class Located(NamedTuple):
    """An estimate and its 95 % interval."""

    estimate: float
    low: float
    high: float


def locate(values: Sequence[float]) -> Located:
    """Return the pseudo-median of six values and more, the mean of fewer; the interval of one value is unknown.

    Args:
        values: Finite numbers, at least one.

    Returns:
        The estimate with its 95 % interval, infinite where there is a single value.
    """
    ordered = np.asarray(values, dtype=float)
    count = len(ordered)
    if count < FEWEST_RANKS:
        return _by_t(ordered)
    first, second = np.triu_indices(count)
    walsh = np.sort((ordered[first] + ordered[second]) / 2)
    outside = _ranks_outside(count)
    return Located(float(np.median(walsh)), float(walsh[outside]), float(walsh[-1 - outside]))


def widened(located: Located, error: float) -> Located:
    """Return the interval after an independent normal error of this standard deviation, which all values share."""
    half_width = _Z * error
    low = located.estimate - math.hypot(located.estimate - located.low, half_width)
    return Located(located.estimate, low, located.estimate + math.hypot(located.high - located.estimate, half_width))


def mean_of(parts: Sequence[Located]) -> Located:
    """Return the mean of independent estimates, with the interval that theirs give it."""
    estimate = float(np.mean([part.estimate for part in parts]))
    low = math.hypot(*(part.estimate - part.low for part in parts)) / len(parts)
    high = math.hypot(*(part.high - part.estimate for part in parts)) / len(parts)
    return Located(estimate, estimate - low, estimate + high)


def _by_t(values: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> Located:
    mean = float(values.mean())
    if len(values) < 2:
        return Located(mean, -math.inf, math.inf)
    from scipy import special

    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    half_width = float(special.stdtrit(len(values) - 1, 0.975)) * error
    return Located(mean, mean - half_width, mean + half_width)


def _ranks_outside(count: int) -> int:
    """Return the number of Walsh averages that the interval leaves out at each end: as many as have 2.5 % at most."""
    total = count * (count + 1) // 2
    if count > _EXACT:
        deviation = math.sqrt(count * (count + 1) * (2 * count + 1) / 24)
        return max(0, math.floor(total / 2 - _Z * deviation))
    ways = np.zeros(total + 1)
    ways[0] = 1.0
    for rank in range(1, count + 1):  # subsets of the ranks by their sum
        ways[rank:] = ways[rank:] + ways[:-rank]
    tail = np.cumsum(ways) / 2.0**count
    return max(0, int(np.searchsorted(tail, 0.025, side="right")) - 1)
