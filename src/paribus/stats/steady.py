"""Steady state of a series of rounds, by the criteria of SNIA's Solid State Storage Performance Test Specification.

Version 2.0.2, definitions of steady state: over the last rounds, neither the range nor the rise of the fitted line is
large against the average. Preconditioning checks it after each round.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Steadiness:
    """Steadiness of the last rounds.

    Attributes:
        average: Mean of the rounds.
        spread: Range of the rounds as a share of the average.
        drift: Rise of the fitted line from the first to the last round as a share of the average, with its sign.
        steady: Whether both are within the limits.
    """

    average: float
    spread: float
    drift: float
    steady: bool


def steadiness(values: Sequence[float], window: int, most_spread: float, most_drift: float) -> Steadiness | None:
    """Judge the last `window` rounds.

    Args:
        values: One value per round, in order.
        window: Number of rounds judged, at least 2.
        most_spread: Largest allowed range, as a share of the average.
        most_drift: Largest allowed rise or fall of the least-squares line over the window, as a share of the average.

    Returns:
        The steadiness, or None before there are `window` values. An average of zero is not steady.

    Example:
        >>> steadiness([100, 109, 95, 104, 100], 5, 0.20, 0.10).steady
        True
    """
    if len(values) < window:
        return None
    last = np.asarray(values[-window:], dtype=float)
    average = float(last.mean())
    if not average > 0:
        return Steadiness(average, 0.0, 0.0, steady=False)
    spread = float(np.ptp(last)) / average
    drift = float(np.polyfit(np.arange(window), last, 1)[0]) * (window - 1) / average
    return Steadiness(average, spread, drift, spread <= most_spread and abs(drift) <= most_drift)
