"""Ratios of unpaired runs, with the error that repetitions or interval lines give.

For imported results. Estimates are log ratios; runs are taken as independent of each other.
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
"""Assumed standard deviation (log ratio) between equal runs where only one exists: that of a noisy host."""

VarianceSource = Literal["repetitions", "lines", "nothing"]

_FEWEST_LINES = 30
_LEAST_EFFECTIVE = 5.0


@dataclass(frozen=True, slots=True)
class LevelRatio:
    """The log ratio of two settings at one load level.

    Attributes:
        estimate: Log ratio, second setting over first.
        variance: Its variance; infinite where it is unknown.
        freedom: Degrees of freedom of the variance.
        variance_source: What the variance was computed from.
    """

    estimate: float
    variance: float
    freedom: float
    variance_source: VarianceSource


@dataclass(frozen=True, slots=True)
class Pooled:
    """The mean of the log ratios of several load levels.

    Attributes:
        estimate: Mean log ratio.
        error: Its standard error; infinite where it is unknown.
        freedom: Degrees of freedom of the error.
    """

    estimate: float
    error: float
    freedom: float

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the t interval (low, high); infinite where the error is unknown.

        Args:
            confidence: Coverage, such as 0.95.
        """
        if not math.isfinite(self.error):
            return -math.inf, math.inf
        from scipy import special

        half_width = float(special.stdtrit(self.freedom, 0.5 + confidence / 2)) * self.error
        return self.estimate - half_width, self.estimate + half_width


def compare_level(
    sides: tuple[Sequence[float], Sequence[float]], lines: tuple[Array | None, Array | None]
) -> LevelRatio:
    """Compare two settings at one load level (Welch 1947).

    Args:
        sides: Results of the runs of the first and of the second setting, positive numbers.
        lines: Values over time of a single run of each setting, shape (n,); None where there are none.

    Returns:
        The second setting's log ratio to the first. Its variance comes from the repetitions where both settings have
        several that differ, else from the lines.

    Raises:
        CannotJudge: A result is not a positive number.
    """
    logs = [log_ratios(side, [1.0] * len(side)) for side in sides]
    estimate = float(np.mean(logs[1]) - np.mean(logs[0]))
    if all(len(side) > 1 for side in logs):
        variances = [float(np.var(side, ddof=1)) / len(side) for side in logs]
        total = sum(variances)
        if total > 0:
            freedom = total**2 / sum(
                variance**2 / (len(side) - 1) for variance, side in zip(variances, logs, strict=True)
            )
            return LevelRatio(estimate, total, freedom, "repetitions")
    if lines[0] is not None and lines[1] is not None:
        variances = [_variance_of_lines(values) for values in (lines[0], lines[1])]
        if all(math.isfinite(variance) for variance in variances):
            return LevelRatio(estimate, sum(variances), math.inf, "lines")
    return LevelRatio(estimate, math.inf, 0.0, "nothing")


def _variance_of_lines(values: Array) -> float:
    """Return the variance of the log of a run's mean, from its values over time; infinite for too few values."""
    finite = values[np.isfinite(values)]
    if len(finite) < _FEWEST_LINES or not finite.mean() > 0:
        return math.inf
    size = effective_size(finite)
    return float(finite.var(ddof=1)) / size / float(finite.mean()) ** 2 if size >= _LEAST_EFFECTIVE else math.inf


def pool(ratios: Sequence[LevelRatio]) -> Pooled:
    """Average the log ratios of load levels, with the error that their variances imply.

    What sets a run apart, such as the start of its server, is in all of its load levels: they may be off together. So
    the error of repeated runs is that of a level, on average, and more levels do not reduce it. Where a level has no
    repetitions, the usual difference between two runs (`RUN_TO_RUN_SD`) is added to the error of the levels.

    Args:
        ratios: Log ratios of one or more load levels.

    Returns:
        The mean; its error is infinite where a variance is unknown.
    """
    estimate = float(np.mean([ratio.estimate for ratio in ratios]))
    variances = np.array([ratio.variance for ratio in ratios])
    error = math.sqrt(float(variances.sum())) / len(ratios)
    if any(ratio.variance_source != "repetitions" for ratio in ratios):
        return Pooled(estimate, math.hypot(error, math.sqrt(2) * RUN_TO_RUN_SD), math.inf)
    freedom = float(np.mean([ratio.freedom for ratio in ratios]))
    return Pooled(estimate, float(np.mean(np.sqrt(variances))), freedom)


def pool_by_spread(ratios: Sequence[LevelRatio]) -> Pooled:
    """Average the log ratios of load levels, with the error that their own spread gives.

    Args:
        ratios: Log ratios of one or more load levels.

    Returns:
        The mean. Its error describes the differences between load levels, not noise; infinite for one level.
    """
    estimates = [ratio.estimate for ratio in ratios]
    if len(ratios) < 2:
        return Pooled(estimates[0], math.inf, 0.0)
    return Pooled(
        float(np.mean(estimates)), float(np.std(estimates, ddof=1)) / math.sqrt(len(ratios)), len(ratios) - 1.0
    )


def equality_p(ratios: Sequence[LevelRatio]) -> float:
    """Test whether one log ratio holds at all load levels (F test on inverse-variance weights).

    Args:
        ratios: Log ratios of one or more load levels.

    Returns:
        The p value; 1 for a single level or where a level has no repetitions.
    """
    if len(ratios) < 2 or any(ratio.variance_source != "repetitions" for ratio in ratios):
        return 1.0
    from scipy import special

    weights = np.array([1 / ratio.variance for ratio in ratios])
    estimates = np.array([ratio.estimate for ratio in ratios])
    middle = float(weights @ estimates / weights.sum())
    statistic = float(weights @ (estimates - middle) ** 2) / (len(ratios) - 1)
    return float(special.fdtrc(len(ratios) - 1, sum(ratio.freedom for ratio in ratios), statistic))
