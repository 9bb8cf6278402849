"""Changes of the level of a course, such as throughput by second, without a number of them that is assumed."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_FEWEST = 8
_PASSES = 3  # the noise is known from the levels, and the levels depend on the noise
_MOST_CORRELATION = 0.8
_SHORTEST = 2  # seconds of a level
_PENALTY = 4.0  # times variance and log(n): see the properties in tests/unit/stats/test_change_points.py
_NORMAL_MAD = 0.6745
_LEAST_SD = 1e-3  # of logarithms: smaller changes matter to nobody


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """A change between two levels: at `index` the second one begins; its size as a log ratio, with its interval."""

    index: int
    log_ratio: float
    low: float
    high: float


def change_points(values: Sequence[float], least: float = 1.0, confidence: float = 0.95) -> list[ChangePoint]:
    """Return the changes of level in a course of positive values; none of fewer than eight.

    The levels minimise the squares of the logarithms around them, with a penalty for each level (PELT: Killick,
    Fearnhead and Eckley, JASA 107, 2012). Noise and correlation come from the differences of close values, which few
    changes of level touch; both raise the penalty and widen the intervals.

    Args:
        values: What was measured in equal steps of time.
        least: What smaller values and zeros count as, above 0: one operation in a step.
        confidence: Coverage of the intervals.

    Example:
        >>> [change.index for change in change_points([100, 101, 99, 100, 100, 50, 51, 49, 50, 50])]
        [5]
    """
    logs = np.log(np.maximum(np.asarray(values, dtype=float), least))
    if len(logs) < _FEWEST:
        return []
    sd = max(_LEAST_SD, float(np.median(np.abs(np.diff(logs)))) / _NORMAL_MAD / math.sqrt(2))
    for _ in range(_PASSES):
        levels = _levels(logs, _PENALTY * sd**2 * math.log(len(logs)))
        sd = max(sd, _noise(levels))
    ends = list(itertools.accumulate(len(level) for level in levels))
    half_widths = _half_widths(levels, sd, confidence)
    return [
        ChangePoint(index, (size := float(after.mean() - before.mean())), size - half_width, size + half_width)
        for index, before, after, half_width in zip(ends[:-1], levels, levels[1:], half_widths, strict=False)
    ]


def _levels(logs: NDArray[np.float64], penalty: float) -> list[NDArray[np.float64]]:
    """Return the values of each level."""
    import ruptures

    model = ruptures.KernelCPD(kernel="linear", min_size=_SHORTEST).fit(logs.reshape(-1, 1))
    return np.split(logs, model.predict(pen=penalty)[:-1])


def _noise(levels: Sequence[NDArray[np.float64]]) -> float:
    """Return the standard deviation around the levels; of correlated values, that of as many independent ones."""
    residuals = np.concatenate([level - level.mean() for level in levels])
    freedom = max(1, len(residuals) - len(levels))
    variance = float(residuals @ residuals) / freedom
    if not variance:
        return 0.0
    correlation = float(residuals[1:] @ residuals[:-1]) / (variance * freedom) + len(levels) / len(residuals)  # bias
    correlation = min(max(0.0, correlation), _MOST_CORRELATION)
    return math.sqrt(variance * (1 + correlation) / (1 - correlation))


def _half_widths(levels: Sequence[NDArray[np.float64]], sd: float, confidence: float) -> list[float]:
    """Return half the width of the interval of each change."""
    from scipy import special

    residuals = np.concatenate([level - level.mean() for level in levels])
    freedom = max(1, len(residuals) - len(levels))
    quantile = float(special.stdtrit(freedom, 0.5 + confidence / 2))
    sd = max(sd, math.sqrt(float(residuals @ residuals) / freedom))
    return [quantile * sd * math.sqrt(1 / len(before) + 1 / len(after)) for before, after in itertools.pairwise(levels)]
