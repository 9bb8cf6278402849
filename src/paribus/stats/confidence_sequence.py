"""An interval that may be looked at as often as one likes, with no last look: a t confidence sequence.

Called for experiments that are declared open-ended. Holds at all times at once for normal values of any variance
(Lai 1976; Wang and Ramdas 2025, "Anytime-valid t-tests and confidence sequences for Gaussian means with unknown
variance").
"""

import math

PRECISION = 5.0  # of the mixture, in units: the interval is narrowest somewhat after so many


def half_width(n: int, sd: float, alpha: float, precision: float = PRECISION) -> float:
    """Half the width of the interval of a mean of `n` values whose standard deviation, divided by n, is `sd`.

    Infinite while so few values exclude nothing.
    """
    if n < 2:
        return math.inf
    shrunk = math.exp(math.log(alpha * alpha * precision / (n + precision)) / n)
    below = (n + precision) * shrunk - precision
    return math.inf if below <= 0 else sd * math.sqrt((1 - shrunk) * (n + precision) / below)
