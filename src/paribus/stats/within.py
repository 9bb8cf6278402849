"""Independent values of an autocorrelated series, such as the seconds of a trial (judging procedure, "Within a trial").

For describing one trial and for planning. It is never the error of a comparison: trials differ by more than this.
"""

from paribus.stats.huber import Array


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
