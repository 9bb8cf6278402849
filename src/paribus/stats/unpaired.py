"""Ratios of runs that nobody paired: how much of them is known from repetitions, from interval lines, or not at all.

A `Place` is where two settings met: one load level. Estimates are log ratios; runs of one setting are taken as
independent of each other, and of those of the other.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from paribus.stats.huber import Array
from paribus.stats.pairs import log_ratios
from paribus.stats.within import effective_size

RUN_TO_RUN_SD = 0.05
"""What two runs of the same are taken to differ by where only one was made: that of a noisy host (E12)."""

Known = Literal["repetitions", "lines", "nothing"]

_FEWEST_LINES = 30
_LEAST_EFFECTIVE = 5.0


@dataclass(frozen=True, slots=True)
class Place:
    """A log ratio with the variance of it that is `known`, and the degrees of freedom that this is known with."""

    estimate: float
    variance: float
    freedom: float
    known: Known


@dataclass(frozen=True, slots=True)
class Pooled:
    """The mean of several places; `error` is infinite where nothing is known of it."""

    estimate: float
    error: float
    freedom: float

    def interval(self, confidence: float) -> tuple[float, float]:
        """A t interval."""
        if not math.isfinite(self.error):
            return -math.inf, math.inf
        from scipy import special

        half = float(special.stdtrit(self.freedom, 0.5 + confidence / 2)) * self.error
        return self.estimate - half, self.estimate + half


def compared(sides: tuple[Sequence[float], Sequence[float]], lines: tuple[Array | None, Array | None]) -> Place:
    """The second side's runs over the first's; `lines` are the values over time of single runs.

    Raises CannotJudge where a value is no positive number.
    """
    logs = [log_ratios(side, [1.0] * len(side)) for side in sides]
    estimate = float(np.mean(logs[1]) - np.mean(logs[0]))
    if all(len(side) > 1 for side in logs):
        parts = [float(np.var(side, ddof=1)) / len(side) for side in logs]
        total = sum(parts)
        if total > 0:
            freedom = total**2 / sum(part**2 / (len(side) - 1) for part, side in zip(parts, logs, strict=True))
            return Place(estimate, total, freedom, "repetitions")
    if lines[0] is not None and lines[1] is not None:
        parts = [_of_lines(one) for one in (lines[0], lines[1])]
        if all(math.isfinite(part) for part in parts):
            return Place(estimate, sum(parts), math.inf, "lines")
    return Place(estimate, math.inf, 0.0, "nothing")


def _of_lines(values: Array) -> float:
    """The variance of the log of a run's mean, from its values over time; infinite where these are too few."""
    v = values[np.isfinite(values)]
    if len(v) < _FEWEST_LINES or not v.mean() > 0:
        return math.inf
    size = effective_size(v)
    return float(v.var(ddof=1)) / size / float(v.mean()) ** 2 if size >= _LEAST_EFFECTIVE else math.inf


def pooled(places: Sequence[Place]) -> Pooled:
    """The mean over places whose variances are known (Satterthwaite), and the noise of a run where runs are single."""
    estimate = float(np.mean([one.estimate for one in places]))
    variances = np.array([one.variance for one in places])
    error = math.sqrt(float(variances.sum())) / len(places)
    if any(one.known != "repetitions" for one in places):
        # Made one after another, single runs at all load levels may be off together: more levels do not help.
        return Pooled(estimate, math.hypot(error, math.sqrt(2) * RUN_TO_RUN_SD), math.inf)
    freedom = float(variances.sum() ** 2 / (variances**2 / np.array([one.freedom for one in places])).sum())
    return Pooled(estimate, error, freedom)


def spread(places: Sequence[Place]) -> Pooled:
    """The mean over places with the error that their own spread gives it: that of load levels, not noise."""
    estimates = [one.estimate for one in places]
    if len(places) < 2:
        return Pooled(estimates[0], math.inf, 0.0)
    return Pooled(
        float(np.mean(estimates)), float(np.std(estimates, ddof=1)) / math.sqrt(len(places)), len(places) - 1.0
    )


def unlike(places: Sequence[Place]) -> float:
    """How likely places as unlike as these are where one ratio holds at all of them: a p value; 1 of a single one."""
    if len(places) < 2 or any(one.known != "repetitions" for one in places):
        return 1.0
    from scipy import special

    weights = np.array([1 / one.variance for one in places])
    estimates = np.array([one.estimate for one in places])
    middle = float(weights @ estimates / weights.sum())
    f = float(weights @ (estimates - middle) ** 2) / (len(places) - 1)
    return float(special.fdtrc(len(places) - 1, sum(one.freedom for one in places), f))
