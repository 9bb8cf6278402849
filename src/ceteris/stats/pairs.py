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
