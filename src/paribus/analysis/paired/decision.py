"""One look at the pairs of a comparison: estimate, intervals, and whether it is decided.

In: the pairs as arrays, the question as declared before any data, and the looks so far. Out: a Finding. Pure, so that
an experiment, a report and a simulation decide by the same lines; `judge` puts it into words.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from paribus.analysis.paired.alpha_spending import Looked, Method, Spending
from paribus.i18n import N_, gettext
from paribus.model import Verdict
from paribus.stats import diagnostics
from paribus.stats.huber import Array, Regression, huber, least_squares
from paribus.stats.levels import LevelMeans, design, level_means
from paribus.stats.pairs import CannotJudge
from paribus.stats.sequential import t_tail

Unit = Literal["pair", "application"]
LEAST_UNITS: dict[Unit, int] = {"pair": 16, "application": 3}
_LEAST_COUNT = 1000  # completions from which on it is believable that trials do not vary at all
_CHANCE = 0.05  # of the F test and the count of outliers, which widen the interval


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs in the order in which they were made: log ratios (n,), orders (n,), numbers of their load levels (n,).

    `order` says how much later the compared trial ran in its block. `application` (n,) numbers the pair of
    applications that a pair is part of, where an application is more than one trial. `resolution` is the smallest step
    of the response as a log ratio, `count` the fewest completions of a trial, both where they are known.
    """

    difference: Array
    order: Array
    level: NDArray[np.intp]
    application: NDArray[np.intp] | None = None
    resolution: float = 0.0
    count: int = 0

    def first(self, n: int) -> "Pairs":
        """Those made first."""
        application = None if self.application is None else self.application[:n]
        return replace(
            self, difference=self.difference[:n], order=self.order[:n], level=self.level[:n], application=application
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of a comparison, declared before any data: of `planned` units at most, at `margin` (log ratio).

    `claims` share `alpha` between them. `level_sd` are the standard deviations of a pair at each level, where these are
    known to be unlike.
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
        """How the error is spent; claims of equivalence do not share it."""
        return Spending(
            method=self.method,
            alpha=self.alpha / self.claims,
            alpha_equal=self.alpha,
            planned=self.planned,
            applications=self.unit == "application",
        )


@dataclass(frozen=True, slots=True)
class Interval:
    """From `low` to `high`, log ratios."""

    low: float
    high: float

    def within(self, margin: float) -> bool:
        """Whether it lies inside (-margin, margin)."""
        return -margin < self.low and self.high < margin

    def holds(self, value: float) -> bool:
        """Whether the value lies in it."""
        return self.low <= value <= self.high

    def beyond(self, margin: float) -> bool:
        """Whether all of it lies on one side of [-margin, margin]."""
        return self.low > margin or self.high < -margin

    def hull(self, other: "Interval") -> "Interval":
        """The smallest interval that holds both."""
        return Interval(min(self.low, other.low), max(self.high, other.high))


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelFinding:
    """What is known at one load level: the estimate drawn towards those of the others, and its interval."""

    shrunk: float
    interval: Interval
    verdict: Verdict | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A look: `verdict` None means to go on.

    `interval` holds the truth at all looks at once with 1 - alpha; `inner` is that of the two tests of equivalence.
    `p_levels` is the F test of one effect for all levels, `slow` how many outliers the compared arm and the baseline
    have; where either tells, both intervals also hold the mean of the levels' means.
    """

    estimate: float
    interval: Interval
    inner: Interval
    looks: tuple[Looked, ...]
    scale: float
    p_levels: float
    slow: tuple[int, int]
    levels: tuple[LevelFinding, ...]
    order_effect: diagnostics.Coefficient | None
    verdict: Verdict | None
    fitted: Regression = field(repr=False, compare=False)


def look(pairs: Pairs, question: Question, looks: Sequence[Looked], *, over: bool) -> Finding:
    """Look at the pairs so far, this being the last of `looks`; `over`: it ends undecided at worst.

    Raises CannotJudge where the data allow no conclusion, and ValueError where it is another look.
    """
    data = _units(pairs, question.unit)
    refuse(data, question)
    if len(data.difference) != looks[-1].units:
        raise ValueError(f"a look at {looks[-1].units} units has {len(data.difference)}")
    spending = question.spending
    by_pair = question.unit == "pair"
    robust = by_pair and question.method != "open-ended"
    fitted = huber(data.difference, design(data.order)) if robust else _mean(data.difference)
    means = level_means(data.difference, data.order, data.level, _weights(question)) if by_pair else None
    slow = diagnostics.outliers(fitted, data.resolution)
    unlike = means is not None and means.p_equal < _CHANCE
    guarded = robust and means is not None and (unlike or diagnostics.equal_counts_p(*slow) < _CHANCE)
    trial_sd = fitted.residual_sd / math.sqrt(2)
    step = data.resolution if trial_sd < data.resolution / 2 else 0.0  # noise does not smooth the steps

    def interval(sides: int) -> Interval:
        found = _around(fitted.estimate, spending.standard_errors(looks, sides, fitted.freedom) * fitted.error)
        if guarded and means is not None:
            reach = spending.standard_errors(looks, sides, means.freedom) * means.mean_error
            found = found.hull(_around(means.mean, reach))
        return Interval(found.low - step, found.high + step)

    outer, inner = interval(2), interval(1)
    verdict = verdict_of(outer, inner, question, one_effect=not unlike)
    levels = _at_levels(means, question, looks, step) if means is not None and len(means.estimates) > 1 else ()
    if verdict is not None or over:
        torn = unlike and _torn(levels)
        verdict = Verdict.DEPENDS_ON_LOAD if torn else verdict or Verdict.UNDECIDED
    return Finding(
        estimate=fitted.estimate,
        interval=outer,
        inner=inner,
        looks=tuple(looks),
        scale=fitted.scale,
        p_levels=means.p_equal if means is not None else 1.0,
        slow=slow,
        levels=levels,
        order_effect=diagnostics.coefficient(fitted, 1) if len(fitted.coefficients) > 1 else None,
        verdict=verdict,
        fitted=fitted,
    )


def probabilities(estimate: float, error: float, freedom: int, question: Question) -> tuple[float, float]:
    """That the effect is for the better, and that it lies within the margin: of the t posterior with a flat prior.

    Looks and levels play no part in it; it describes, and decides nothing.
    """
    if error == 0:
        sign = estimate if question.higher_is_better else -estimate
        return (1.0 if sign > 0 else 0.5 if sign == 0 else 0.0), float(abs(estimate) < question.margin)
    below = [t_tail((estimate - bound) / error, freedom) for bound in (-question.margin, 0.0, question.margin)]
    better = 1 - below[1] if question.higher_is_better else below[1]
    return better, below[2] - below[0]


def next_look(pairs: Pairs, question: Question, before: Sequence[Looked] = (), *, over: bool = False) -> Finding:
    """Look at the pairs so far after those looks. Raises CannotJudge, and ValueError where a look is inserted."""
    units = len(_units(pairs, question.unit).difference)
    return look(pairs, question, question.spending.next(before, units, over=over), over=over)


def decide(pairs: Pairs, question: Question, at: Sequence[int]) -> tuple[int, Finding]:
    """Look after so many pairs each, until it is decided or there are no more: the number of the look, and what it saw.

    Raises CannotJudge where the data allow no conclusion.
    """
    looks: tuple[Looked, ...] = ()
    for number, count in enumerate(at, start=1):
        found = next_look(pairs.first(count), question, looks, over=number == len(at))
        if found.verdict is not None:
            return number, found
        looks = found.looks
    raise ValueError("there must be a look")


def _units(pairs: Pairs, unit: Unit) -> Pairs:
    """The pairs as they are counted: where applications are, each pair of them is one."""
    if unit == "pair":
        if pairs.application is not None and len(np.unique(pairs.application)) < len(pairs.application):
            raise ValueError("pairs of one application are no replicates: the unit must be the application")
        return pairs
    if pairs.application is None:
        raise ValueError("it is not said which pairs are of one application")
    _, first, number, count = np.unique(pairs.application, return_index=True, return_inverse=True, return_counts=True)
    means = np.bincount(number, weights=pairs.difference) / count
    made = np.argsort(first)  # in the order in which they were made
    zeros = np.zeros(len(made))
    return Pairs(means[made], zeros, zeros.astype(np.intp), None, pairs.resolution, pairs.count)


def too_few(unit: Unit) -> str:
    """That there are fewer units than a look needs, in words."""
    said = {
        "pair": N_("{n} valid pairs are needed"),
        "application": N_("{n} valid pairs of applications are needed"),
    }
    return gettext(said[unit], n=LEAST_UNITS[unit])


def refuse(data: Pairs, question: Question) -> None:
    """Raise CannotJudge, with the reason, where pairs allow no look."""
    n, least = len(data.difference), LEAST_UNITS[question.unit]
    if n < least:
        raise CannotJudge(too_few(question.unit))
    if not np.isfinite(data.difference).all():
        raise CannotJudge(N_("a trial measured nothing, or no positive number"))
    if question.margin < 2 * data.resolution:
        raise CannotJudge(
            N_("the response is measured in steps of more than half the margin: longer trials measure finer")
        )
    if np.ptp(data.difference) == 0 and (data.resolution == 0 or data.count < _LEAST_COUNT):
        raise CannotJudge(N_("all pairs are exactly alike, which no real machine gives"))


def _mean(d: Array) -> Regression:
    return least_squares(d, np.ones((len(d), 1)))


def _weights(question: Question) -> Array | None:
    return None if question.level_sd is None else np.asarray(question.level_sd, dtype=float)


def _around(estimate: float, reach: float) -> Interval:
    return Interval(estimate - reach, estimate + reach)


def verdict_of(outer: Interval, inner: Interval, question: Question, *, one_effect: bool = True) -> Verdict | None:
    """The verdict in the order of the procedure: equivalent, then better or worse; None where neither is shown."""
    if one_effect and inner.within(question.margin):
        return Verdict.EQUIVALENT
    if outer.low > 0 or outer.high < 0:
        return Verdict.BETTER if (outer.low > 0) == question.higher_is_better else Verdict.WORSE
    return None


def _at_levels(means: LevelMeans, question: Question, looks: Sequence[Looked], step: float) -> tuple[LevelFinding, ...]:
    """Each level by itself; all of them share the error of this look."""
    count = len(means.estimates)
    outer, inner = (
        question.spending.standard_errors(looks, sides, means.freedom, claims=count) * means.errors + step
        for sides in (2, 1)
    )
    found = []
    for estimate, shrunk, wide, narrow in zip(means.estimates, means.shrunk(), outer, inner, strict=True):
        interval = _around(float(estimate), float(wide))
        verdict = verdict_of(interval, _around(float(estimate), float(narrow)), question)
        found.append(LevelFinding(shrunk=float(shrunk), interval=interval, verdict=verdict))
    return tuple(found)


def _torn(levels: Sequence[LevelFinding]) -> bool:
    """Whether one level is decided better or worse, and another otherwise."""
    verdicts = {level.verdict for level in levels} - {None}
    return len(verdicts) > 1
