"""Checks of the assumptions behind a verdict (judging procedure, "Diagnostics").

`paribus.analysis.paired.checks` calls them for every verdict. Differences are log ratios of pairs in run order.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paribus.stats.huber import MAD_OF_NORMAL, Array, Regression, huber, least_squares

OUTLIER_BOUND = 3.5  # robust standard deviations

SUSPICIOUS = 0.01
"""Error of the checks that every experiment has."""
_POWER = 0.8


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A regression coefficient with its standard error and p value (two-sided t test)."""

    estimate: float
    error: float
    p: float
    freedom: int

    def visible(self, alpha: float = SUSPICIOUS) -> float:
        """Return the smallest coefficient that a test at this level finds with a probability of 80 %."""
        from scipy import special

        return float(special.stdtrit(self.freedom, [1 - alpha / 2, _POWER]).sum()) * self.error


def coefficient(fitted: Regression, index: int) -> Coefficient:
    """Return one coefficient of a regression with its two-sided t test.

    Args:
        fitted: A regression with p coefficients.
        index: Position of the coefficient, from 0 to p - 1.

    Returns:
        The coefficient; p is 1 or 0 where the standard error is zero.
    """
    from scipy import special

    estimate, error = float(fitted.coefficients[index]), float(np.sqrt(fitted.covariance[index, index]))
    p = 2 * float(special.stdtr(fitted.freedom, -abs(estimate) / error)) if error > 0 else float(estimate == 0)
    return Coefficient(estimate, error, p, fitted.freedom)


def mean_difference(d: Array) -> Coefficient:
    """Return the mean of differences, tested against zero by a t test.

    Args:
        d: Differences, shape (n,), n >= 2.

    Returns:
        The mean as a coefficient.
    """
    return coefficient(least_squares(d, np.ones((len(d), 1))), 0)


def outlier_bounds(residuals: Array, resolution: float = 0.0) -> tuple[float, float]:
    """Return the residuals beyond which pairs are outliers.

    Centre and scale are those of the shortest half of the residuals (Rousseeuw and Leroy 1987, 4.2). Outliers of only
    one arm move them less than the median and its deviations.

    Args:
        residuals: Residuals of the pair differences, shape (n,), n >= 2.
        resolution: Smallest step of the response as a log ratio; the scale is never taken to be smaller. Where it is
            unknown and half of the residuals are equal, the standard deviation is the scale.

    Returns:
        (lowest, highest) residual of the bulk: 3.5 robust standard deviations from its centre.
    """
    ordered = np.sort(residuals)
    half = len(ordered) // 2 + 1
    lengths = ordered[half - 1 :] - ordered[: len(ordered) - half + 1]
    first = int(np.argmin(lengths))
    centre = float(ordered[first] + ordered[first + half - 1]) / 2
    scale = max(float(lengths[first]) / 2 / MAD_OF_NORMAL, resolution) or float(np.std(residuals))
    return centre - OUTLIER_BOUND * scale, centre + OUTLIER_BOUND * scale


def equal_counts_p(first: int, second: int) -> float:
    """Test whether two counts have the same expectation (binomial, two-sided, mid-p: Lancaster 1961).

    The mid-p value counts half of the probability of what was observed, so that 5 to 0 is less likely than 5 %.

    Args:
        first: A count of events.
        second: The count of the other arm.

    Returns:
        The p value; 1 where both counts are zero.

    Example:
        >>> equal_counts_p(0, 5)
        0.03125
    """
    from scipy import special

    few, total = min(first, second), first + second
    if total == 0:
        return 1.0
    up_to, below = (float(special.bdtr(n, total, 0.5)) if n >= 0 else 0.0 for n in (few, few - 1))
    return min(1.0, up_to + below)


def carry_over(d: Array, order: Array, after_compared: Array) -> Coefficient | None:
    """Estimate the gain of a trial that follows a trial of the compared arm instead of one of the baseline.

    Args:
        d: Pair differences, shape (n,).
        order: +1 where the baseline came first in the pair, else -1, shape (n,).
        after_compared: Shape (n, 2): 1 where the compared and the baseline trial followed a trial of the compared arm,
            else 0; or what earlier trials have left in all.

    Returns:
        The coefficient as a log ratio, or None where the schedule confounds it with the order.
    """
    gained = after_compared[:, 0] - after_compared[:, 1]
    x = np.column_stack([np.ones_like(d), order, gained])
    if len(d) <= x.shape[1] + 2 or np.linalg.matrix_rank(x) < x.shape[1]:
        return None
    return coefficient(huber(d, x), 2)


def trend_in_trials(first: Array, last: Array) -> Coefficient | None:
    """Test whether the effect differs between the start and the end of the measured windows (paired, robust t test).

    Args:
        first: Effect at the start of each pair's windows, shape (n,), log ratios.
        last: Effect at their end, shape (n,).

    Returns:
        The mean change, last minus first; None for fewer than 3 pairs or where the change does not vary.
    """
    change = last - first
    if len(change) < 3 or np.ptp(change) == 0:
        return None
    return coefficient(huber(change, np.ones((len(change), 1))), 0)


def change_over_time(residuals: Array) -> Coefficient | None:
    """Test whether the effect changes while the experiment goes on: a line through the residuals in run order.

    Args:
        residuals: Residuals of the pair differences, shape (n,).

    Returns:
        The change from the first pair to the last as a log ratio; None for fewer than 8 pairs or no variation.
    """
    n = len(residuals)
    if n < 8 or np.ptp(residuals) == 0:
        return None
    return coefficient(huber(residuals, np.column_stack([np.ones(n), np.linspace(-0.5, 0.5, n)])), 1)


def lag_one(residuals: Array) -> float:
    """Return the correlation of each residual with the next.

    Args:
        residuals: Residuals in block order, shape (n,).

    Returns:
        The lag-1 autocorrelation; 0 where the residuals do not vary.
    """
    centred = residuals - residuals.mean()
    total = float(centred @ centred)
    return float(centred[1:] @ centred[:-1]) / total if total > 0 else 0.0


def drift(times: Array, values: Array) -> tuple[float, float, float]:
    """Return the slope of values over time with its 95 % interval (Theil 1950, Sen 1968).

    The slope is the median of the slopes between all two points. The ends of the interval are such slopes too, at the
    distance from the middle that Kendall's score reaches without a drift.

    Args:
        times: Times, shape (n,), in any unit.
        values: Values, shape (n,), usually log ratios.

    Returns:
        (slope, low, high) in values per unit of time; zeros for fewer than 3 values or a single time.
    """
    from scipy import special

    if len(values) < 3 or np.ptp(times) == 0:
        return 0.0, 0.0, 0.0
    earlier, later = np.triu_indices(len(values), 1)
    time_steps = times[later] - times[earlier]
    slopes = np.sort((values[later] - values[earlier])[time_steps != 0] / time_steps[time_steps != 0])
    ties = (
        _score_variance(np.unique(values_or_times, return_counts=True)[1].astype(float))
        for values_or_times in (times, values)
    )
    half_width = -special.ndtri(0.025) * np.sqrt(max(_score_variance(np.array([float(len(values))])) - sum(ties), 0.0))
    low, high = round((len(slopes) - half_width) / 2) - 1, round((len(slopes) + half_width) / 2)
    return float(np.median(slopes)), float(slopes[max(low, 0)]), float(slopes[min(high, len(slopes) - 1)])


def _score_variance(group_sizes: Array) -> float:
    """Return the variance of Kendall's score for groups of these sizes: all values, or ties to be subtracted."""
    return float((group_sizes * (group_sizes - 1) * (2 * group_sizes + 5)).sum()) / 18


def smooth(times: Array, values: Array, share: float = 0.5) -> list[float]:
    """Smooth values over time by locally weighted lines (Cleveland's LOESS, degree 1, no robustness iterations).

    Args:
        times: Times, shape (n,).
        values: Values, shape (n,).
        share: Share of the points that each local line is fitted to.

    Returns:
        The n fitted values.
    """
    n = len(values)
    nearest = min(n, max(3, round(share * n)))
    fitted = []
    for at in times:
        distances = np.abs(times - at)
        bandwidth = np.partition(distances, nearest - 1)[nearest - 1] or 1.0
        weights = np.clip(1 - (distances / bandwidth) ** 3, 0, None) ** 3
        x, y = times - np.average(times, weights=weights), values - (mean := np.average(values, weights=weights))
        spread = float((weights * x * x).sum())
        slope = float((weights * x * y).sum()) / spread if spread > 0 else 0.0
        fitted.append(float(mean + slope * (at - np.average(times, weights=weights))))
    return fitted


def end_log_ratios(pairs: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return each pair's log ratio in the first and in the last third of its windows.

    Thirds: the middle of a window says little about a trend and adds its noise.

    Args:
        pairs: (compared, baseline) series of each pair, rates over time.

    Returns:
        (first, last): log ratios, each of shape (pairs,).
    """
    rows = []
    for compared, baseline in pairs:
        third = max(1, min(len(compared), len(baseline)) // 3)
        parts = (slice(third), slice(-third, None))
        rows.append([np.log(compared[part].mean() / baseline[part].mean()) for part in parts])
    table = np.asarray(rows, dtype=float).reshape(-1, 2)
    return table[:, 0], table[:, 1]
