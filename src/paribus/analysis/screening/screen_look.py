"""One look at a screen: every factor's effect from the same pairs, with its interval and perhaps its verdict.

Pure. The rules are those of `paired.decision`, without load levels: these cancel.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from paribus.analysis.paired.alpha_spending import SpendingLook
from paribus.analysis.paired.finding import TOO_COARSE, EffectInterval, Pairs, Question, verdict_of
from paribus.i18n import N_, gettext
from paribus.model import Verdict
from paribus.stats import screen
from paribus.stats.foldover import least_valid
from paribus.stats.huber import Array, Regression
from paribus.stats.pairs import CannotJudge
from paribus.stats.sequential import t_tail


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorFinding:
    """The result for one factor: `verdict` is None while undecided; `p` tests no effect, at this look alone."""

    estimate: float
    error: float
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
        raise CannotJudge(TOO_COARSE)
    fitted = screen.fit(d, settings, pairs.order)
    errors = np.sqrt(np.diag(fitted.covariance))[:-1].tolist()
    if min(errors) == 0:
        raise CannotJudge(N_("all pairs are identical, which no real machine produces"))
    outer, inner = (question.spending.standard_errors(looks, sides, fitted.freedom) for sides in (2, 1))
    findings = []
    for number, (estimate, error) in enumerate(zip(fitted.coefficients.tolist(), errors, strict=False)):
        of_factor = settings[:, number] * fitted.residuals
        wide, narrow = (
            EffectInterval(estimate - width * error, estimate + width * error).allowing_for(
                lost[number] if lost else 0, of_factor
            )
            for width in (outer, inner)
        )
        verdict = verdict_of(wide, narrow, question) or (Verdict.UNDECIDED if over else None)
        p = 2 * t_tail(abs(estimate) / error, fitted.freedom)
        findings.append(
            FactorFinding(estimate=estimate, error=error, p=p, interval=wide, inner=narrow, verdict=verdict)
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
