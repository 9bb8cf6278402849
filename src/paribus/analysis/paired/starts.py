"""Variation of an effect between starts of a server: pairs of one start agree more than pairs of several may.

The variance of the mean is estimated from starts too: as from clusters of pairs (Liang and Zeger, Biometrika 73, 1986),
with the factor k / (k - 1) for few clusters. Where this gives the wider interval, the starts are the units.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paribus.analysis.paired.effects import PairSeries
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
        influence: Deviation of each pair from the mean, in which it counts, log ratio, shape (n,).
        start: Index of each pair's start, shape (n,), with at least two values.

    Example:
        >>> error_of_starts(np.array([0.01, 0.01, -0.01, -0.01]), np.array([0, 0, 1, 1]))
        ErrorOfStarts(error=0.01, freedom=1)
    """
    sums = np.bincount(start, weights=influence)
    k = len(sums)
    return ErrorOfStarts(float(np.sqrt(sums @ sums * k / (k - 1))) / len(influence), k - 1)


def influence_of(fitted: Regression) -> Array:
    """Return the deviation of each pair from a Huber fit as far as it moves the estimate, shape (n,)."""
    if fitted.scale == 0:
        return fitted.residuals
    standard = fitted.residuals / fitted.scale
    share = float((np.abs(standard) <= TUNING).mean())
    return np.asarray(fitted.scale / share * np.clip(standard, -TUNING, TUNING), dtype=np.float64)


def indices(series: PairSeries) -> NDArray[np.intp] | None:
    """Return the index of each pair's start; None where it is unknown, or there are too few starts."""
    at = [pair.start for pair in series.pairs]
    distinct, index = np.unique(at, return_inverse=True)
    if series.split or len(distinct) < LEAST_STARTS or distinct[0] == 0:
        return None
    return np.asarray(index, dtype=np.intp)


def starts_text(series: PairSeries) -> str:
    """Return how many server starts the pairs span; empty where each trial has its own, or there is no server."""
    count = len({pair.start for pair in series.pairs} - {0.0})
    if count == 0:
        return ""
    if count == 1:
        return gettext("measured within one start of the server: after another one the effect may differ")
    if indices(series) is None:
        message = N_("measured within {n} starts of the server, too few to show how the effect differs between them")
        return gettext(message, n=count)
    message = N_("the pairs span {n} starts of the server; the interval allows for an effect that differs between them")
    return gettext(message, n=count)
