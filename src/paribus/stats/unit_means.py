"""Mean of a few units that differ, what to expect of the next one, and units that stand apart.

In: one number of each unit, such as the effect on a machine, with the half width of its own interval. Out: intervals by
Student's t from the numbers alone: the errors of the single numbers are part of how they differ. They are never shorter
than the own intervals together, so that a few numbers that are equal by chance promise nothing.
"""

import math
from collections.abc import Sequence

import numpy as np

from paribus.stats.sequential import t_beyond

FEWEST = 3
"""Units that tell how much units differ."""
FEWEST_TO_STAND_APART = 5
"""Units from which on one can be held against the others."""


def mean_interval(values: Sequence[float], half_widths: Sequence[float], confidence: float) -> tuple[float, float]:
    """Return the interval of the mean of all such units, given at least two of them."""
    by_t = t_beyond((1 - confidence) / 2, len(values) - 1) * deviation(values) / math.sqrt(len(values))
    half_width = max(by_t, math.hypot(*half_widths) / len(values))
    return float(np.mean(values)) - half_width, float(np.mean(values)) + half_width


def next_interval(values: Sequence[float], half_widths: Sequence[float], confidence: float) -> tuple[float, float]:
    """Return the interval of the number that the next such unit will have, given at least two of them."""
    count = len(values)
    by_t = t_beyond((1 - confidence) / 2, count - 1) * deviation(values) * math.sqrt(1 + 1 / count)
    half_width = max(by_t, math.hypot(*half_widths) / math.sqrt(count))
    return float(np.mean(values)) - half_width, float(np.mean(values)) + half_width


def deviation(values: Sequence[float]) -> float:
    """Return the standard deviation of such units, given at least two of them."""
    return float(np.std(values, ddof=1))


def standing_apart(values: Sequence[float], half_widths: Sequence[float], alpha: float) -> list[int]:
    """Return the units that are not to be expected from the others; none of fewer than five.

    The own interval of such a unit does not reach what is expected.

    Args:
        values: One number of each unit.
        half_widths: That of the own interval of each.
        alpha: Error of all these tests together, where the units are alike.
    """
    count = len(values)
    if count < FEWEST_TO_STAND_APART:
        return []
    apart = []
    for number, value in enumerate(values):
        others, their_half_widths = ([*all_of[:number], *all_of[number + 1 :]] for all_of in (values, half_widths))
        low, high = next_interval(others, their_half_widths, 1 - alpha / count)
        if not low - half_widths[number] <= value <= high + half_widths[number]:
            apart.append(number)
    return apart
