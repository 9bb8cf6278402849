"""Log ratios of pairs, intervals and errors of means, and the exception for data that allow no conclusion."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paribus.stats.huber import Array


class CannotJudge(ValueError):
    """The data do not allow a conclusion; the message states the reason."""


class NeedsOtherTrials(CannotJudge):
    """No number of trials like these would allow a conclusion."""


def log_ratios(compared: Sequence[float], baseline: Sequence[float]) -> list[float]:
    """Return log(compared / baseline) of each pair.

    Args:
        compared: Results of the compared arm, n positive numbers.
        baseline: Results of the baseline in the same pairs, n positive numbers.

    Returns:
        n log ratios.

    Raises:
        CannotJudge: A value is not a finite positive number.

    Example:
        >>> [round(ratio, 4) for ratio in log_ratios([102.0, 100.0], [100.0, 100.0])]
        [0.0198, 0.0]
    """
    values = [*compared, *baseline]
    if not all(math.isfinite(value) and value > 0 for value in values):
        raise CannotJudge("a trial measured nothing, or no positive number")
    return [math.log(b / a) for b, a in zip(compared, baseline, strict=True)]


def step_between(levels: Collection[Sequence[Sequence[float]]]) -> float:
    """Return the smallest step between values that come in steps: half of them or more occur twice at their load.

    One arm must have two such values. Where each arm always has the same, that is an effect and tells of no steps.

    Args:
        levels: Results of trials, positive numbers, at each load for each arm.

    Returns:
        A log ratio; 0 where most values occur once, or no arm has two that occur twice.

    Example:
        >>> round(step_between([[[100.0, 103.0, 103.0], [100.0, 97.0, 103.0]]]), 4)
        0.0296
        >>> step_between([[[100.1, 102.7], [103.0, 99.2]]])
        0.0
    """
    repeated, total, are_steps, steps = 0, 0, False, []
    for arms in levels:
        distinct, times = np.unique(np.concatenate(arms), return_counts=True)
        often = distinct[times > 1]
        repeated += int(times[times > 1].sum())
        total += int(times.sum())
        are_steps = are_steps or any(np.isin(often, arm).sum() > 1 for arm in arms)
        steps.append(np.diff(np.log(distinct)))
    return float(np.concatenate(steps).min()) if are_steps and 2 * repeated >= total else 0.0


def mean_interval(values: Sequence[float], confidence: float) -> tuple[float, float | None, float | None]:
    """Return the mean of independent values with its t interval.

    Args:
        values: One or more values.
        confidence: Coverage, such as 0.95.

    Returns:
        (mean, low, high) in the unit of the values; low and high are None for one value.

    Example:
        >>> mean, low, high = mean_interval([1.0, 2.0, 3.0], 0.95)
        >>> round(low, 2), mean, round(high, 2)
        (-0.48, 2.0, 4.48)
    """
    from scipy import special

    array = np.asarray(values, dtype=float)
    mean = float(array.mean())
    if len(array) < 2:
        return mean, None, None
    half_width = (
        float(special.stdtrit(len(array) - 1, 0.5 + confidence / 2)) * float(array.std(ddof=1)) / math.sqrt(len(array))
    )
    return mean, mean - half_width, mean + half_width


@dataclass(frozen=True, slots=True)
class ErrorOfClusters:
    """Standard error of a mean whose units are clusters, with its degrees of freedom."""

    error: float
    freedom: int


def error_of_clusters(influence: Array, cluster: NDArray[np.intp]) -> ErrorOfClusters:
    """Return the error of a mean from the variation between clusters of values, such as the pairs of one server start.

    The variance is that of Liang and Zeger (Biometrika 73, 1986), with the factor k / (k - 1) for few clusters.

    Args:
        influence: Contribution of each value to the mean, shape (n,).
        cluster: Index of each value's cluster, shape (n,), with at least two different ones.

    Example:
        >>> error_of_clusters(np.array([0.02, 0.02, 0.0, 0.0]), np.array([0, 0, 1, 1]))
        ErrorOfClusters(error=0.01, freedom=1)
    """
    sums = np.bincount(cluster, weights=influence - influence.mean())
    k = len(sums)
    return ErrorOfClusters(float(np.sqrt(sums @ sums * k / (k - 1))) / len(influence), k - 1)


def welch(sides: Sequence[Sequence[float]], confidence: float) -> tuple[float, float, float]:
    """Return the difference of two means of independent values with its interval (Welch 1947).

    Args:
        sides: Values of the first and of the second sample.
        confidence: Coverage, such as 0.95.

    Returns:
        (second mean minus first, low, high); the interval is infinite where a sample has one value.
    """
    from scipy import special

    estimate = float(np.mean(sides[1]) - np.mean(sides[0]))
    variances = [float(np.var(side, ddof=1)) / len(side) if len(side) > 1 else math.inf for side in sides]
    error = math.sqrt(sum(variances))
    if not math.isfinite(error):
        return estimate, -math.inf, math.inf
    if error == 0:
        return estimate, estimate, estimate
    freedom = sum(variances) ** 2 / sum(
        variance**2 / (len(side) - 1) for variance, side in zip(variances, sides, strict=True)
    )
    half_width = float(special.stdtrit(freedom, 0.5 + confidence / 2)) * error
    return estimate, estimate - half_width, estimate + half_width
