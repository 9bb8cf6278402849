"""One look at a screen: every factor's effect from the same pairs, with its interval and perhaps its verdict.

Pure. The rules are those of `paired.decision`, without load levels: these cancel.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from paribus.analysis.paired.alpha_spending import SpendingLook
from paribus.analysis.paired.finding import TOO_COARSE, EffectInterval, Pairs, Question, verdict_of
from paribus.analysis.paired.mean_effect import MeanEffect
from paribus.i18n import N_, gettext
from paribus.model import Verdict
from paribus.stats import screen
from paribus.stats.foldover import least_valid
from paribus.stats.huber import Array, Regression
from paribus.stats.pairs import CannotJudge, NeedsOtherTrials, error_of_clusters
from paribus.stats.sequential import t_tail


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorFinding:
    """The result for one factor.

    Attributes:
        estimate: Log ratio.
        error: Standard error of the estimate; that of server starts where it is larger.
        freedom: Degrees of freedom of the error.
        scale: Robust standard deviation of a pair, larger where server starts vary more than pairs explain.
        spans_starts: Whether the interval allows for effects that differ between starts of the server.
        p: p value of no effect, at this look alone.
        interval: Contains the effect at all looks at once with probability 1 - alpha.
        inner: Interval of the two equivalence tests.
        verdict: None while the comparison continues.
    """

    estimate: float
    error: float
    freedom: int
    scale: float
    spans_starts: bool
    p: float
    interval: EffectInterval
    inner: EffectInterval
    verdict: Verdict | None


@dataclass(frozen=True, slots=True)
class ScreenFinding:
    """The results for all factors at a look."""

    looks: tuple[SpendingLook, ...]
    factors: tuple[FactorFinding, ...]
    fitted: Regression = field(repr=False, compare=False)


def look_at_screen(
    pairs: Pairs,
    settings: Array,
    question: Question,
    looks: Sequence[SpendingLook],
    *,
    over: bool,
    lost: Sequence[int] = (),
) -> ScreenFinding:
    """Judge the pairs of a screen at the last of `looks`.

    Args:
        pairs: Log ratios of rows of `settings` to their mirror images.
        settings: +1 and -1 for each pair and factor, shape (n, k).
        question: The declared question; all factors count in its `claims`.
        looks: All looks; the last is this one.
        over: Whether no pairs will follow; verdicts are then undecided at worst.
        lost: Pairs that one level of each factor lost more than the other; empty for none.

    Raises:
        CannotJudge: The data allow no conclusion.
    """
    d, least = pairs.difference, least_valid(settings.shape[1])
    if len(d) < least:
        raise CannotJudge(gettext("{n} valid pairs are needed, and there are {valid}", n=least, valid=len(d)))
    if not np.isfinite(d).all():
        raise CannotJudge(N_("a trial measured nothing, or no positive number"))
    if question.margin < 2 * pairs.resolution:
        raise NeedsOtherTrials(TOO_COARSE)
    fitted = screen.fit(d, settings, pairs.order)
    errors = np.sqrt(np.diag(fitted.covariance))[:-1].tolist()
    if min(errors) == 0:
        raise CannotJudge(N_("all pairs are identical, which no real machine produces"))
    findings = []
    for number, (estimate, error) in enumerate(zip(fitted.coefficients.tolist(), errors, strict=False)):
        signs = settings[:, number]
        of_starts = None if pairs.start is None else error_of_clusters(signs * fitted.influence, pairs.start)
        effect = MeanEffect(estimate, error, fitted.freedom, of_starts)
        wide, narrow = (
            effect.interval(question.spending, looks, sides).allowing_for(
                lost[number] if lost else 0, signs * fitted.residuals
            )
            for sides in (2, 1)
        )
        verdict = verdict_of(wide, narrow, question) or (Verdict.UNDECIDED if over else None)
        larger, freedom = effect.larger
        findings.append(
            FactorFinding(
                estimate=estimate,
                error=larger,
                freedom=freedom,
                scale=fitted.scale * larger / error,
                spans_starts=of_starts is not None,
                p=2 * t_tail(abs(estimate) / larger, freedom),
                interval=wide,
                inner=narrow,
                verdict=verdict,
            )
        )
    return ScreenFinding(tuple(looks), tuple(findings), fitted)


def next_look_at_screen(
    pairs: Pairs,
    settings: Array,
    question: Question,
    previous: Sequence[SpendingLook] = (),
    *,
    over: bool = False,
    lost: Sequence[int] = (),
) -> ScreenFinding:
    """Judge the pairs of a screen at the look after the previous ones; arguments and errors as `look_at_screen`."""
    looks = question.spending.next(previous, len(pairs.difference), over=over)
    return look_at_screen(pairs, settings, question, looks, over=over, lost=lost)
