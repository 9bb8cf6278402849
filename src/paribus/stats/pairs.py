"""Ratios of pairs of trials, means of single ones, and what allows no conclusion."""

import math
from collections.abc import Sequence

import numpy as np


class CannotJudge(ValueError):
    """The data do not allow a conclusion; the message says why."""


def log_ratios(compared: Sequence[float], baseline: Sequence[float]) -> list[float]:
    """log(compared / baseline) of each pair. Raises CannotJudge where a value is not a positive number."""
    values = [*compared, *baseline]
    if not all(math.isfinite(value) and value > 0 for value in values):
        raise CannotJudge("a trial measured nothing, or no positive number")
    return [math.log(b / a) for b, a in zip(compared, baseline, strict=True)]


def mean_interval(values: Sequence[float], confidence: float) -> tuple[float, float | None, float | None]:
    """The mean of independent values with its t interval; no interval from one value."""
    from scipy import special

    v = np.asarray(values, dtype=float)
    mean = float(v.mean())
    if len(v) < 2:
        return mean, None, None
    half = float(special.stdtrit(len(v) - 1, 0.5 + confidence / 2)) * float(v.std(ddof=1)) / math.sqrt(len(v))
    return mean, mean - half, mean + half


def welch(sides: Sequence[Sequence[float]], confidence: float) -> tuple[float, float, float]:
    """The difference of two means of independent values, second less first, with its interval (Welch 1947).

    From one value on a side there is none: it reaches from minus to plus infinity.
    """
    from scipy import special

    estimate = float(np.mean(sides[1]) - np.mean(sides[0]))
    parts = [float(np.var(side, ddof=1)) / len(side) if len(side) > 1 else math.inf for side in sides]
    error = math.sqrt(sum(parts))
    if not math.isfinite(error):
        return estimate, -math.inf, math.inf
    if error == 0:
        return estimate, estimate, estimate
    freedom = sum(parts) ** 2 / sum(part**2 / (len(side) - 1) for part, side in zip(parts, sides, strict=True))
    half = float(special.stdtrit(freedom, 0.5 + confidence / 2)) * error
    return estimate, estimate - half, estimate + half
