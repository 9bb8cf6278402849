"""Records of a look: the pairs, the declared question, and the finding."""

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from paribus.analysis.paired.alpha_spending import Method, Spending, SpendingLook
from paribus.analysis.paired.unusable import worse_lost
from paribus.i18n import N_
from paribus.model import Verdict
from paribus.stats import diagnostics
from paribus.stats.huber import Array, Regression

Unit = Literal["pair", "application"]
TOO_COARSE = N_(
    "the resolution of the response is coarser than half the margin: use longer trials, or a tool with more digits"
)
LEAST_STARTS = 4
"""Starts of a server that show how an effect varies between them."""
LEAST_UNITS: dict[Unit, int] = {"pair": 16, "application": 3}


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs in run order.

    Attributes:
        difference: Log ratios, shape (n,).
        order: Applications by which the compared trial ran later than the baseline's, shape (n,).
        level: Index of the load level, shape (n,).
        application: Index of the pair of applications that each pair belongs to, shape (n,); None where each trial has
            an application of its own.
        resolution: Smallest step of the response as a log ratio; 0 where unknown.
        count: Fewest completions of a trial; 0 where unknown.
        covariates: What else differs between the trials of a pair, shape (n, c): the log ratio of the processor time
            that other processes left free, and whether a trial followed one of the compared arm. None where nothing
            differs enough.
        start: Index of the server start in which both trials of each pair ran, shape (n,); None where these are too few
            to show how the effect varies between starts, or each trial has its own.
        lost: Pairs lost since the pair before to unusable trials of the baseline, and to those of the compared arm,
            shape (n, 2); None where none was lost.
    """

    difference: Array
    order: Array
    level: NDArray[np.intp]
    application: NDArray[np.intp] | None = None
    resolution: float = 0.0
    count: int = 0
    covariates: Array | None = None
    start: NDArray[np.intp] | None = None
    lost: NDArray[np.intp] | None = None

    @property
    def lost_pairs(self) -> int:
        """Pairs that one arm lost more than the other, beyond chance."""
        return 0 if self.lost is None else worse_lost(*self.lost.sum(axis=0).tolist())

    def first(self, n: int) -> "Pairs":
        """Return the first n pairs."""
        return replace(
            self,
            difference=self.difference[:n],
            order=self.order[:n],
            level=self.level[:n],
            application=None if self.application is None else self.application[:n],
            covariates=None if self.covariates is None else self.covariates[:n],
            start=None if self.start is None else self.start[:n],
            lost=None if self.lost is None else self.lost[:n],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A comparison's question, declared before any data.

    Attributes:
        margin: Equivalence margin, a log ratio.
        planned: Largest number of units.
        alpha: Error shared by all claims.
        claims: Number of claims that share `alpha`.
        method: How the error is spent over looks.
        unit: Unit of replication.
        higher_is_better: Direction of the response.
        level_sd: Standard deviation of a pair at each level, where these are known to differ.
    """

    margin: float
    planned: int
    alpha: float = 0.05
    claims: int = 1
    method: Method = "adaptive"
    unit: Unit = "pair"
    higher_is_better: bool = True
    level_sd: tuple[float, ...] | None = None

    @property
    def spending(self) -> Spending:
        """The spending of the error; equivalence claims do not share it."""
        return Spending(
            method=self.method,
            alpha=self.alpha / self.claims,
            alpha_equal=self.alpha,
            planned=self.planned,
            applications=self.unit == "application",
        )


@dataclass(frozen=True, slots=True)
class EffectInterval:
    """An interval of an effect, from `low` to `high`, log ratios."""

    low: float
    high: float

    def within(self, margin: float) -> bool:
        """Return whether the interval lies inside (-margin, margin)."""
        return -margin < self.low and self.high < margin

    def holds(self, value: float) -> bool:
        """Return whether the interval contains the value."""
        return self.low <= value <= self.high

    def beyond(self, margin: float) -> bool:
        """Return whether the interval lies entirely on one side of [-margin, margin]."""
        return self.low > margin or self.high < -margin

    def allowing_for(self, lost: int, residuals: Array) -> "EffectInterval":
        """Return the interval of a mean that contains `lost` more pairs, all as low or all as high as the extreme one.

        These are the bounds of Manski (Partial Identification of Probability Distributions, 2003, 1.2), with the range
        of the pairs for the range of the response.

        Args:
            lost: Number of pairs that are missing.
            residuals: Residuals of the pairs that are there, shape (n,).
        """
        share = lost / (lost + len(residuals))
        return EffectInterval(self.low + share * float(residuals.min()), self.high + share * float(residuals.max()))

    def hull(self, other: "EffectInterval") -> "EffectInterval":
        """Return the smallest interval that contains both."""
        return EffectInterval(min(self.low, other.low), max(self.high, other.high))


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelFinding:
    """The result at one load level: the shrunk estimate, its interval, and its verdict if decided."""

    shrunk: float
    interval: EffectInterval
    verdict: Verdict | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of a look.

    Attributes:
        estimate: Log ratio.
        interval: Contains the effect at all looks at once with probability 1 - alpha.
        inner: Interval of the two equivalence tests. Where the levels differ, both intervals also contain that of the
            plain mean. Elsewhere the wider one does so on the side to which outliers move the mean.
        mean_inner: Interval of the two equivalence tests of the plain mean, in which outliers count in full.
        looks: The looks, including this one.
        scale: Robust standard deviation of a pair, larger where server starts vary more than pairs explain.
        error: Standard error of the estimate; that of starts where it is larger.
        freedom: Degrees of freedom of the error.
        spans_starts: Whether the interval allows for effects that differ between starts of the server.
        p_levels: p value of one effect for all levels: of the F test, or of the level that differs most.
        outliers: Residuals of the pairs far below and far above the others, log ratios.
        levels: Results at each load level; empty for one level.
        order_effect: Gain of the trial that ran later.
        verdict: None while the comparison continues.
        fitted: The regression.
    """

    estimate: float
    interval: EffectInterval
    inner: EffectInterval
    mean_inner: EffectInterval
    looks: tuple[SpendingLook, ...]
    scale: float
    error: float
    freedom: int
    spans_starts: bool
    p_levels: float
    outliers: tuple[Array, Array] = field(repr=False, compare=False)
    levels: tuple[LevelFinding, ...]
    order_effect: diagnostics.Coefficient | None
    verdict: Verdict | None
    fitted: Regression = field(repr=False, compare=False)


def verdict_of(
    outer: EffectInterval, inner: EffectInterval, question: Question, *, may_be_equal: bool = True
) -> Verdict | None:
    """Return the verdict in the procedure's order: equivalent, then better or worse; None where neither is shown.

    Args:
        outer: Interval of the difference.
        inner: Interval of the equivalence tests.
        question: The declared question.
        may_be_equal: Whether nothing else forbids to claim equivalence.
    """
    if may_be_equal and inner.within(question.margin):
        return Verdict.EQUIVALENT
    if outer.low > 0 or outer.high < 0:
        return Verdict.BETTER if (outer.low > 0) == question.higher_is_better else Verdict.WORSE
    return None
