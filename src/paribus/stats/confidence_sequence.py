"""t confidence sequence: an interval that holds at all sample sizes at once, without a last look.

For experiments declared open-ended. Exact for normal values of any variance (Lai 1976; Wang and Ramdas 2025,
"Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance").
"""

import math

PRECISION = 5.0  # of the mixture, in units: the interval is narrowest somewhat after so many


def half_width(n: int, sd: float, alpha: float, precision: float = PRECISION) -> float:
    """Return half the width of the interval for a mean.

    Args:
        n: Number of values so far.
        sd: Standard deviation of the values, computed with divisor n.
        alpha: Error probability over all sample sizes together.
        precision: Mixture parameter in sample sizes; the interval is relatively narrowest near it.

    Returns:
        The half width in the unit of `sd`; infinite while n is too small to exclude any mean.

    Example:
        >>> half_width(1, 0.02, 0.05)
        inf
        >>> round(half_width(100, 0.02, 0.05), 4)
        0.0063
    """
    if n < 2:
        return math.inf
    shrunk = math.exp(math.log(alpha * alpha * precision / (n + precision)) / n)
    denominator = (n + precision) * shrunk - precision
    return math.inf if denominator <= 0 else sd * math.sqrt((1 - shrunk) * (n + precision) / denominator)
