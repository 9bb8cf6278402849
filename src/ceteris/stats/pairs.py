"""Pairs of trials made back to back: the effect between two arms, with its interval and its tests.

Differences are natural-log ratios, one for each block; orders say how much later the compared arm ran in it.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

LEAST_PAIRS = 16


class CannotJudge(ValueError):
    """The data do not allow a conclusion; the message says why."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A least-squares fit of differences on order: the effect, its standard error, and the order effect."""

    estimate: float
    standard_error: float
    freedom: int
    pairs: int
    order_effect: float
    residual_sd: float


def log_ratios(compared: Sequence[float], baseline: Sequence[float]) -> list[float]:
    """log(compared / baseline) of each pair. Raises CannotJudge where a value is not a positive number."""
    values = [*compared, *baseline]
    if not all(math.isfinite(value) and value > 0 for value in values):
        raise CannotJudge("a trial measured nothing, or no positive number")
    return [math.log(b / a) for b, a in zip(compared, baseline, strict=True)]


def fit(differences: Sequence[float], orders: Sequence[float]) -> Fit:
    """Fit `d = effect + order_effect * order`; without variation in the order, the mean alone.

    Raises CannotJudge for fewer than three pairs or for differences without any variation.
    """
    d = np.asarray(differences, dtype=float)
    order = np.asarray(orders, dtype=float)
    if len(d) < 3:
        raise CannotJudge(f"{len(d)} valid pairs")
    columns = [np.ones_like(d)] + ([order] if np.ptp(order) > 0 else [])
    x = np.column_stack(columns)
    freedom = len(d) - x.shape[1]
    coefficients, *_ = np.linalg.lstsq(x, d, rcond=None)
    residuals = d - x @ coefficients
    sd = math.sqrt(float(residuals @ residuals) / freedom)
    if sd <= 1e-12 * max(1.0, float(np.abs(d).max())):
        raise CannotJudge("all pairs are exactly alike, which no real machine gives")
    error = sd * math.sqrt(float(np.linalg.inv(x.T @ x)[0, 0]))
    order_effect = float(coefficients[1]) if len(coefficients) > 1 else 0.0
    return Fit(float(coefficients[0]), error, freedom, len(d), order_effect, sd)


def interval(fitted: Fit, confidence: float) -> tuple[float, float]:
    """The two-sided t interval of the effect."""
    from scipy import stats  # a second to import; needed only where something is judged

    half = float(stats.t.ppf(0.5 + confidence / 2, fitted.freedom)) * fitted.standard_error
    return fitted.estimate - half, fitted.estimate + half


def differ_between(groups: Iterable[Sequence[float]]) -> float:
    """The p value of one effect for all groups (load levels): one-way analysis of variance.

    1.0 where there are not two groups of two pairs each.
    """
    from scipy import stats

    usable = [np.asarray(group, dtype=float) for group in groups if len(group) >= 2]
    if len(usable) < 2 or all(np.ptp(group) == 0 for group in usable):
        return 1.0
    return float(stats.f_oneway(*usable).pvalue)


def unequal_faults(one: int, other: int) -> bool:
    """Whether two arms' counts of unusable trials differ by more than chance (binomial, p < 0.05)."""
    from scipy import stats

    return one + other > 0 and float(stats.binomtest(other, one + other).pvalue) < 0.05


def smallest_effect(pair_sd: float, pairs: int) -> float:
    """The effect (log ratio) that so many pairs of such noise see with a power of 80 %.

    3.1 sd / sqrt(n): the t quantiles of a two-sided 5 % test and of the power, for some dozens of pairs.
    """
    return 3.1 * pair_sd / math.sqrt(pairs)


def mean_interval(values: Sequence[float], confidence: float) -> tuple[float, float | None, float | None]:
    """The mean of independent values with its t interval; no interval from one value."""
    from scipy import stats

    v = np.asarray(values, dtype=float)
    mean = float(v.mean())
    if len(v) < 2:
        return mean, None, None
    half = float(stats.t.ppf(0.5 + confidence / 2, len(v) - 1)) * float(v.std(ddof=1)) / math.sqrt(len(v))
    return mean, mean - half, mean + half
