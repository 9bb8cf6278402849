"""Variation of an effect between starts of a server: pairs of one start agree more than pairs of several may.

The variance of the mean is estimated from starts too: as from clusters of pairs (Liang and Zeger, Biometrika 73, 1986),
with the factor k / (k - 1) for few clusters. Where this gives the wider interval, the starts are the units.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paribus.analysis.paired.effects import SAME_START_S, PairSeries
from paribus.i18n import N_, gettext
from paribus.stats.huber import TUNING, Array, Regression

LEAST_STARTS = 4
"""Fewest starts that show how an effect varies between them."""


@dataclass(frozen=True, slots=True)
class ErrorOfStarts:
    """Standard error of a mean whose units are starts, with its degrees of freedom."""

    error: float
    freedom: int


def error_of_starts(influence: Array, start: NDArray[np.intp]) -> ErrorOfStarts:
    """Return the error of a mean from the variation between starts.

    Args:
        influence: Contribution of each pair to the mean, log ratio, shape (n,).
        start: Index of each pair's start, shape (n,), with at least two values.

    Example:
        >>> error_of_starts(np.array([0.02, 0.02, 0.0, 0.0]), np.array([0, 0, 1, 1]))
        ErrorOfStarts(error=0.01, freedom=1)
    """
    sums = np.bincount(start, weights=influence - influence.mean())
    k = len(sums)
    return ErrorOfStarts(float(np.sqrt(sums @ sums * k / (k - 1))) / len(influence), k - 1)


def influence_of(fitted: Regression) -> Array:
    """Return the contribution of each pair to a Huber fit, in which outliers are cut off, shape (n,)."""
    if fitted.scale == 0:
        return fitted.residuals
    standard = fitted.residuals / fitted.scale
    share = float((np.abs(standard) <= TUNING).mean())
    return np.asarray(fitted.scale / share * np.clip(standard, -TUNING, TUNING), dtype=np.float64)


def indices(series: PairSeries) -> NDArray[np.intp] | None:
    """Return the index of each pair's start; None where each application has its own, or there are too few.

    Pairs of unknown starts count as of one start.
    """
    index = _numbers(series)
    return None if series.split or len(index) == 0 or index.max() + 1 < LEAST_STARTS else index


def starts_text(series: PairSeries, *, allowed_for: bool) -> str:
    """Return how many server starts the pairs span; empty where each trial has its own, or there is no server.

    `allowed_for`: the interval allows for an effect that differs between starts.
    """
    if series.split or not any(pair.start for pair in series.pairs):
        return ""
    count = int(_numbers(series).max()) + 1
    if count == 1:
        return gettext("measured within one start of the server: after another one the effect may differ")
    message = N_("measured within {n} starts of the server; the interval does not allow for differences between them")
    if allowed_for:
        message = N_("the pairs span {n} starts of the server; the interval allows for differences between them")
    return gettext(message, n=count)


def _numbers(series: PairSeries) -> NDArray[np.intp]:
    """The number of each pair's start, from 0."""
    distinct, index = np.unique([pair.start for pair in series.pairs], return_inverse=True)
    number = np.cumsum(np.diff(distinct, prepend=distinct[:1]) > SAME_START_S)
    return np.asarray(number[index], dtype=np.intp)
