"""One look at a screen: every factor's effect from the same pairs, each with its interval and perhaps its verdict.

In: differences between settings of all factors and their mirror images. Out: a finding for each factor. Pure, like
`decision`, whose rules are followed here without levels, since these cancel.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from paribus.analysis.paired.alpha_spending import Looked
from paribus.analysis.paired.decision import Interval, Pairs, Question, verdict_of
from paribus.i18n import N_, gettext
from paribus.model import Verdict
from paribus.stats import screen
from paribus.stats.foldover import least_valid
from paribus.stats.huber import Array, Regression
from paribus.stats.pairs import CannotJudge
from paribus.stats.sequential import t_tail


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorFinding:
    """What is known of one factor; `verdict` None means to go on. `p` is that of no effect, by this look alone."""

    estimate: float
    error: float
    p: float
    interval: Interval
    inner: Interval
    verdict: Verdict | None


@dataclass(frozen=True, slots=True)
class ScreenFinding:
    """All factors after a look."""

    looks: tuple[Looked, ...]
    factors: tuple[FactorFinding, ...]
    fitted: Regression = field(repr=False, compare=False)


def look_at_screen(
    pairs: Pairs, settings: Array, question: Question, looks: Sequence[Looked], *, over: bool
) -> ScreenFinding:
    """Look at pairs between rows of `settings` (n, k) of +1 and -1 and their mirrors, this being the last of `looks`.

    `question.claims` is what all factors share the error with. Raises CannotJudge where the data allow no conclusion.
    """
    d, least = pairs.difference, least_valid(settings.shape[1])
    if len(d) < least:
        raise CannotJudge(gettext("{n} valid pairs are needed, and there are {valid}", n=least, valid=len(d)))
    if not np.isfinite(d).all():
        raise CannotJudge(N_("a trial measured nothing, or no positive number"))
    if question.margin < 2 * pairs.resolution:
        raise CannotJudge(
            N_("the response is measured in steps of more than half the margin: longer trials measure finer")
        )
    fitted = screen.fit(d, settings, pairs.order)
    errors = np.sqrt(np.diag(fitted.covariance))[:-1].tolist()
    if min(errors) == 0:
        raise CannotJudge(N_("all pairs are exactly alike, which no real machine gives"))
    outer, inner = (question.spending.standard_errors(looks, sides, fitted.freedom) for sides in (2, 1))
    found = []
    for estimate, error in zip(fitted.coefficients.tolist(), errors, strict=False):
        wide, narrow = (Interval(estimate - reach * error, estimate + reach * error) for reach in (outer, inner))
        verdict = verdict_of(wide, narrow, question) or (Verdict.UNDECIDED if over else None)
        p = 2 * t_tail(abs(estimate) / error, fitted.freedom)
        found.append(FactorFinding(estimate=estimate, error=error, p=p, interval=wide, inner=narrow, verdict=verdict))
    return ScreenFinding(tuple(looks), tuple(found), fitted)


def next_look_at_screen(
    pairs: Pairs, settings: Array, question: Question, before: Sequence[Looked] = (), *, over: bool = False
) -> ScreenFinding:
    """Look at the pairs so far after those looks. Raises as above."""
    looks = question.spending.next(before, len(pairs.difference), over=over)
    return look_at_screen(pairs, settings, question, looks, over=over)
