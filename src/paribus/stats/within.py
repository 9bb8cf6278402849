"""Mean of an autocorrelated series, such as the seconds of a trial (judging procedure, "Within a trial").

For describing one trial and for planning. It is never the error of a comparison: trials differ by more than this.
"""

import math

from paribus.stats.huber import Array
from paribus.stats.pairs import CannotJudge, mean_interval


def correlation(series: Array) -> float:
    """Return the lag-1 correlation, corrected for its bias in short series (Kendall 1954).

    Args:
        series: Values at equal steps, shape (n,).

    Returns:
        From -0.99 to 0.99; 0 where the values do not vary.
    """
    centred = series - series.mean()
    total = float(centred @ centred)
    if total == 0:
        return 0.0
    r = float(centred[1:] @ centred[:-1]) / total
    return min(max(r + (1 + 3 * r) / len(series), -0.99), 0.99)


def effective_size(series: Array) -> float:
    """Return the number of independent values with the same error of the mean, for an AR(1) series.

    Args:
        series: Values at equal steps, shape (n,).

    Returns:
        From 1 to n.
    """
    r = max(correlation(series), 0.0)
    return max(1.0, len(series) * (1 - r) / (1 + r))


def mean_of_series(series: Array, confidence: float) -> tuple[float, float, float]:
    """Return the mean of a series with a t interval from its effective size.

    Args:
        series: Values at equal steps, shape (n,), n >= 3.
        confidence: Coverage, such as 0.95.

    Returns:
        (mean, low, high) in the unit of the values.

    Raises:
        CannotJudge: Fewer than 3 values.
    """
    from scipy import special

    if len(series) < 3:
        raise CannotJudge(f"{len(series)} values have no error")
    size = effective_size(series)
    half_width = float(special.stdtrit(max(size - 1, 1.0), 0.5 + confidence / 2) * series.std(ddof=1) / math.sqrt(size))
    mean = float(series.mean())
    return mean, mean - half_width, mean + half_width


def batch_means(series: Array, batches: int, confidence: float) -> tuple[float, float, float]:
    """Return the mean of a series with a t interval from the means of equal batches.

    Valid where a batch is much longer than the correlation time. Values at the start that fill no batch are dropped.

    Args:
        series: Values at equal steps, shape (n,).
        batches: Number of batches, at least 2.
        confidence: Coverage, such as 0.95.

    Returns:
        (mean, low, high) in the unit of the values.

    Raises:
        CannotJudge: Fewer than 2 batches, or fewer values than batches.
    """
    length = len(series) // batches
    if batches < 2 or length < 1:
        raise CannotJudge(f"{len(series)} values make no {batches} batches")
    means = series[len(series) - batches * length :].reshape(batches, length).mean(axis=1)
    mean, low, high = mean_interval([float(value) for value in means], confidence)
    if low is None or high is None:
        raise AssertionError("two batches have an interval")
    return mean, low, high
