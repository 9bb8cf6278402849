"""One look at the pairs of a comparison: estimate, intervals and verdict (judging procedure, "Across trials").

Pure, so that an experiment, a report and a simulation decide by the same code; `reasons` explains the result.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from paribus.analysis.paired.alpha_spending import SpendingLook
from paribus.analysis.paired.by_level import ALPHA, Dependence, level_result
from paribus.analysis.paired.finding import (
    LEAST_UNITS,
    TOO_COARSE,
    EffectInterval,
    Finding,
    Pairs,
    Question,
    Unit,
    verdict_of,
)
from paribus.analysis.paired.mean_effect import MeanEffect
from paribus.i18n import N_, gettext
from paribus.model import Verdict
from paribus.stats import diagnostics
from paribus.stats.huber import Array, Regression, huber, least_squares
from paribus.stats.levels import LevelMeans, design
from paribus.stats.pairs import CannotJudge, NeedsOtherTrials, error_of_clusters
from paribus.stats.planner import pairs_that_show_stalls
from paribus.stats.sequential import t_tail

_LEAST_COUNT = 1000  # completions from which trials without any variation are plausible
_ROUNDING = 1e-6  # of a standard error: less does not tell on which side outliers are
MEAN_MARGIN = 1.25
"""The margin of the plain mean, in margins: outliers move it, and both arms have some."""


def look(pairs: Pairs, question: Question, looks: Sequence[SpendingLook], *, over: bool) -> Finding:
    """Judge the pairs at the last of `looks`.

    Args:
        pairs: The pairs of this look.
        question: The declared question.
        looks: All looks; the last is this one.
        over: Whether no pairs will follow; the verdict is then undecided at worst.

    Raises:
        CannotJudge: The data allow no conclusion.
        ValueError: The pairs do not match the last look.
    """
    data = _units(pairs, question.unit)
    refuse(data, question)
    if len(data.difference) != looks[-1].units:
        raise ValueError(f"a look at {looks[-1].units} units has {len(data.difference)}")
    spending = question.spending
    by_pair = question.unit == "pair"
    robust = by_pair and question.method != "open-ended"
    fitted = huber(data.difference, design(data.order, data.covariates)) if robust else _mean(data.difference)
    trial_sd = fitted.residual_sd / math.sqrt(2)
    step = data.resolution if trial_sd < data.resolution / 2 else 0.0  # noise is too small to smooth the steps
    levels = level_result(data, question, looks, step) if by_pair else None
    plain = _plain_mean(data, levels.means if levels is not None else None)
    robust_mean = MeanEffect(fitted.estimate, fitted.error, fitted.freedom)
    if by_pair and data.start is not None:
        plain = replace(plain, of_starts=error_of_clusters(fitted.residuals, data.start))
        influence = fitted.influence if robust else fitted.residuals
        robust_mean = replace(robust_mean, of_starts=error_of_clusters(influence, data.start))
    outer, inner = (robust_mean.interval(spending, looks, sides, step) for sides in (2, 1))
    plain_outer, plain_inner = (plain.interval(spending, looks, sides, step) for sides in (2, 1))
    mean_inner = plain_inner if robust else inner
    if robust:
        moved = plain.estimate - fitted.estimate
        is_rounding = abs(moved) < _ROUNDING * fitted.error
        outer = _with_tail(outer, plain_outer, 0.0 if is_rounding else moved)
    if robust and levels is not None and levels.p < ALPHA:
        outer, inner = outer.hull(plain_outer), inner.hull(mean_inner)
    outer, inner, mean_inner = (
        without_lost.allowing_for(pairs.lost_pairs, fitted.residuals) for without_lost in (outer, inner, mean_inner)
    )
    least_units = pairs_that_show_stalls(question.margin) if by_pair else 0
    may_be_equal = (
        (levels is None or levels.one_verdict)
        and mean_inner.within(MEAN_MARGIN * question.margin)
        and len(data.difference) >= least_units
    )
    verdict = verdict_of(outer, inner, question, may_be_equal=may_be_equal)
    dependence = levels.dependence if levels is not None else Dependence.NONE
    if dependence is Dependence.SHOWN or (over and dependence is Dependence.OPEN):
        verdict = Verdict.DEPENDS_ON_LOAD
    elif over:
        verdict = verdict or Verdict.UNDECIDED
    elif dependence is Dependence.OPEN:
        verdict = None  # one effect at all loads is not shown
    lowest, highest = diagnostics.outlier_bounds(fitted.residuals, data.resolution)
    error, freedom = robust_mean.larger
    return Finding(
        estimate=fitted.estimate,
        interval=outer,
        inner=inner,
        mean_inner=mean_inner,
        looks=tuple(looks),
        scale=fitted.scale * (error / fitted.error if fitted.error > 0 else 1.0),
        error=error,
        freedom=freedom,
        spans_starts=robust_mean.of_starts is not None,
        p_levels=levels.p if levels is not None else 1.0,
        outliers=(fitted.residuals[fitted.residuals < lowest], fitted.residuals[fitted.residuals > highest]),
        levels=levels.findings if levels is not None else (),
        order_effect=diagnostics.coefficient(fitted, 1) if robust and np.ptp(data.order) > 0 else None,
        verdict=verdict,
        fitted=fitted,
    )


def probabilities(estimate: float, error: float, freedom: int, question: Question) -> tuple[float, float]:
    """Return the posterior probabilities that the effect is an improvement, and that it lies within the margin.

    A t posterior with a flat prior.
    They ignore looks and levels: descriptive only, never part of a decision.

    Args:
        estimate: Log ratio.
        error: Its standard error.
        freedom: Degrees of freedom.
        question: The declared question.
    """
    if error == 0:
        sign = estimate if question.higher_is_better else -estimate
        return (1.0 if sign > 0 else 0.5 if sign == 0 else 0.0), float(abs(estimate) < question.margin)
    tails = [t_tail((estimate - bound) / error, freedom) for bound in (-question.margin, 0.0, question.margin)]
    better = 1 - tails[1] if question.higher_is_better else tails[1]
    return better, tails[2] - tails[0]


def next_look(
    pairs: Pairs, question: Question, previous: Sequence[SpendingLook] = (), *, over: bool = False
) -> Finding:
    """Judge the pairs so far at the look that follows the previous ones.

    Args:
        pairs: All pairs so far.
        question: The declared question.
        previous: The looks so far.
        over: Whether no pairs will follow.

    Raises:
        CannotJudge: The data allow no conclusion.
        ValueError: There are fewer units than at the previous look.
    """
    units = len(_units(pairs, question.unit).difference)
    return look(pairs, question, question.spending.next(previous, units, over=over), over=over)


def decide(pairs: Pairs, question: Question, counts: Sequence[int]) -> tuple[int, Finding]:
    """Judge the pairs at successive looks until a verdict.

    Args:
        pairs: All pairs.
        question: The declared question.
        counts: Number of pairs at each look.

    Returns:
        (number of the deciding look, its finding).

    Raises:
        CannotJudge: The data allow no conclusion.
        ValueError: No look is given.
    """
    looks: tuple[SpendingLook, ...] = ()
    for number, count in enumerate(counts, start=1):
        finding = next_look(pairs.first(count), question, looks, over=number == len(counts))
        if finding.verdict is not None:
            return number, finding
        looks = finding.looks
    raise ValueError("there must be a look")


def _units(pairs: Pairs, unit: Unit) -> Pairs:
    """The units of replication: pairs, or the mean of each pair of applications."""
    if unit == "pair":
        if pairs.application is not None and len(np.unique(pairs.application)) < len(pairs.application):
            raise ValueError("pairs of one application are no replicates: the unit must be the application")
        return pairs
    if pairs.application is None:
        raise ValueError("it is not said which pairs are of one application")
    _, first, application, count = np.unique(
        pairs.application, return_index=True, return_inverse=True, return_counts=True
    )
    means = np.bincount(application, weights=pairs.difference) / count
    run_order = np.argsort(first)
    zeros = np.zeros(len(run_order))
    return Pairs(means[run_order], zeros, zeros.astype(np.intp), None, pairs.resolution, pairs.count)


def too_few(unit: Unit) -> str:
    """Return the message that a look has too few units."""
    messages = {
        "pair": N_("{n} valid pairs are needed"),
        "application": N_("{n} valid pairs of applications are needed"),
    }
    return gettext(messages[unit], n=LEAST_UNITS[unit])


def refuse(data: Pairs, question: Question) -> None:
    """Check that the units allow a look.

    Raises:
        CannotJudge: Too few units, no positive number, a coarse response, or no variation at all.
    """
    n, least = len(data.difference), LEAST_UNITS[question.unit]
    if n < least:
        raise CannotJudge(too_few(question.unit))
    if not np.isfinite(data.difference).all():
        raise CannotJudge(N_("a trial measured nothing, or no positive number"))
    if question.margin < 2 * data.resolution:
        raise NeedsOtherTrials(TOO_COARSE)
    if np.ptp(data.difference) == 0 and (data.resolution == 0 or data.count < _LEAST_COUNT):
        raise CannotJudge(N_("all pairs are identical, which no real machine produces"))


def _plain_mean(data: Pairs, means: LevelMeans | None) -> MeanEffect:
    """The mean of the level means, in which outliers count in full; of all pairs where a level has none."""
    if means is not None:
        return MeanEffect(means.mean, means.mean_error, means.freedom)
    fitted = least_squares(data.difference, design(data.order, data.covariates))
    return MeanEffect(fitted.estimate, fitted.error, fitted.freedom)


def _with_tail(robust: EffectInterval, plain: EffectInterval, moved: float) -> EffectInterval:
    """The robust interval, extended to the plain one's end on the side to which outliers have moved the mean."""
    return EffectInterval(
        min(robust.low, plain.low) if moved < 0 else robust.low,
        max(robust.high, plain.high) if moved > 0 else robust.high,
    )


def _mean(d: Array) -> Regression:
    return least_squares(d, np.ones((len(d), 1)))
