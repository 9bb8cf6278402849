"""The mean of a series whose values depend on their neighbours, as the seconds of a trial do.

For describing one trial and for planning; never the error of a comparison, since trials differ by more than this.
"""

import math

from paribus.stats.huber import Array
from paribus.stats.pairs import CannotJudge, mean_interval


def correlation(series: Array) -> float:
    """The correlation of each value with the next, corrected for its bias in short series (Kendall 1954)."""
    centred = series - series.mean()
    total = float(centred @ centred)
    if total == 0:
        return 0.0
    r = float(centred[1:] @ centred[:-1]) / total
    return min(max(r + (1 + 3 * r) / len(series), -0.99), 0.99)


def effective_size(series: Array) -> float:
    """How many independent values would know the mean as well, if each depends on the one before alone (AR(1))."""
    r = max(correlation(series), 0.0)
    return max(1.0, len(series) * (1 - r) / (1 + r))


def mean_of_series(series: Array, confidence: float) -> tuple[float, float, float]:
    """The mean of a series with its t interval from the effective size. Raises CannotJudge for less than 3 values."""
    from scipy import special

    if len(series) < 3:
        raise CannotJudge(f"{len(series)} values have no error")
    size = effective_size(series)
    half = float(special.stdtrit(max(size - 1, 1.0), 0.5 + confidence / 2) * series.std(ddof=1) / math.sqrt(size))
    mean = float(series.mean())
    return mean, mean - half, mean + half


def batch_means(series: Array, batches: int, confidence: float) -> tuple[float, float, float]:
    """The mean of a series with a t interval from the means of so many stretches of it, each long enough to forget.

    Raises CannotJudge where a batch would have no value.
    """
    length = len(series) // batches
    if batches < 2 or length < 1:
        raise CannotJudge(f"{len(series)} values make no {batches} batches")
    means = series[len(series) - batches * length :].reshape(batches, length).mean(axis=1)
    mean, low, high = mean_interval([float(value) for value in means], confidence)
    if low is None or high is None:
        raise AssertionError("two batches have an interval")
    return mean, low, high
