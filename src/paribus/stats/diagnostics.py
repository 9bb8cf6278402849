"""Checks of the assumptions behind a verdict: numbers in, one number or p value out.

Called beside every verdict. Differences are log ratios of pairs in the order in which they were made.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paribus.stats.huber import Array, Regression, huber, least_squares

FAR = 2.5  # robust standard deviations beyond which a pair holds an outlier


@dataclass(frozen=True, slots=True)
class Coefficient:
    """An estimate with its standard error and p value (two-sided t test)."""

    estimate: float
    error: float
    p: float


def coefficient(fitted: Regression, index: int) -> Coefficient:
    """One coefficient of a regression."""
    from scipy import special

    estimate, error = float(fitted.coefficients[index]), float(np.sqrt(fitted.covariance[index, index]))
    p = 2 * float(special.stdtr(fitted.freedom, -abs(estimate) / error)) if error > 0 else float(estimate == 0)
    return Coefficient(estimate, error, p)


def shift(d: Array) -> Coefficient:
    """The mean of differences, of which there are two at least."""
    return coefficient(least_squares(d, np.ones((len(d), 1))), 0)


def outliers(fitted: Regression, resolution: float = 0.0) -> tuple[int, int]:
    """How many pairs lie far below the fit (the compared trial was slow), and far above it (the baseline's was).

    `resolution` is the smallest step of a response: nothing is an outlier by less than that.
    """
    bound = FAR * max(fitted.scale, resolution)
    return int((fitted.residuals < -bound).sum()), int((fitted.residuals > bound).sum())


def unequal(one: int, other: int) -> float:
    """The p value of two counts having the same expectation (binomial, two-sided)."""
    from scipy import special

    return min(1.0, 2 * float(special.bdtr(min(one, other), one + other, 0.5))) if one + other else 1.0


def carry_over(d: Array, order: Array, after_compared: Array) -> Coefficient | None:
    """What a trial gains by coming after one of the compared arm instead of one of the baseline.

    `after_compared` (n, 2): whether the compared, and the baseline trial of a pair came after a trial of the compared
    arm. None where the schedule does not tell it from the order.
    """
    gained = after_compared[:, 0].astype(float) - after_compared[:, 1].astype(float)
    x = np.column_stack([np.ones_like(d), order, gained])
    if len(d) <= x.shape[1] + 2 or np.linalg.matrix_rank(x) < x.shape[1]:
        return None
    return coefficient(huber(d, x), 2)


def trend_in_trials(first: Array, last: Array) -> Coefficient | None:
    """By how much the effect at the end of the windows is larger than at their beginning: a paired t test."""
    change = last - first
    if len(change) < 3 or np.ptp(change) == 0:
        return None
    return coefficient(huber(change, np.ones((len(change), 1))), 0)


def lag_one(residuals: Array) -> float:
    """The correlation of each residual with the next, in the order of blocks; 0 where they do not vary."""
    centred = residuals - residuals.mean()
    total = float(centred @ centred)
    return float(centred[1:] @ centred[:-1]) / total if total > 0 else 0.0


def drift(times: Array, values: Array) -> tuple[float, float, float]:
    """The slope of values over time with its 95 % interval: the median of all slopes between two (Theil 1950).

    The interval's ends are slopes too, as far from the middle as Kendall's score varies without a drift (Sen 1968).
    """
    from scipy import special

    if len(values) < 3 or np.ptp(times) == 0:
        return 0.0, 0.0, 0.0
    earlier, later = np.triu_indices(len(values), 1)
    apart = times[later] - times[earlier]
    slopes = np.sort((values[later] - values[earlier])[apart != 0] / apart[apart != 0])
    ties = (_score_variance(np.unique(of, return_counts=True)[1].astype(float)) for of in (times, values))
    reach = -special.ndtri(0.025) * np.sqrt(max(_score_variance(np.array([float(len(values))])) - sum(ties), 0.0))
    low, high = round((len(slopes) - reach) / 2) - 1, round((len(slopes) + reach) / 2)
    return float(np.median(slopes)), float(slopes[max(low, 0)]), float(slopes[min(high, len(slopes) - 1)])


def _score_variance(together: Array) -> float:
    """The variance of Kendall's score of so many values in any order; of values that are equal, what they take off."""
    return float((together * (together - 1) * (2 * together + 5)).sum()) / 18


def smooth(times: Array, values: Array, share: float = 0.5) -> list[float]:
    """The course of values over time: at each, the line fitted to the nearest `share` of them (Cleveland's LOESS)."""
    n = len(values)
    nearest = min(n, max(3, round(share * n)))
    found = []
    for at in times:
        apart = np.abs(times - at)
        reach = np.partition(apart, nearest - 1)[nearest - 1] or 1.0
        weight = np.clip(1 - (apart / reach) ** 3, 0, None) ** 3
        x, y = times - np.average(times, weights=weight), values - (mean := np.average(values, weights=weight))
        spread = float((weight * x * x).sum())
        slope = float((weight * x * y).sum()) / spread if spread > 0 else 0.0
        found.append(float(mean + slope * (at - np.average(times, weights=weight))))
    return found


def ends(pairs: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Log ratios of the first and of the last third of each pair's windows; a pair is (compared, baseline) points.

    Thirds, since what lies between tells little of a trend and adds its noise.
    """
    found = []
    for compared, baseline in pairs:
        third = max(1, min(len(compared), len(baseline)) // 3)
        parts = (slice(third), slice(-third, None))
        found.append([np.log(compared[part].mean() / baseline[part].mean()) for part in parts])
    table = np.asarray(found, dtype=float).reshape(-1, 2)
    return table[:, 0], table[:, 1]
