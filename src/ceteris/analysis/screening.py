"""One look at a screen: every factor's effect from the same pairs, each with its interval and perhaps its verdict.

In: differences between settings of all factors and their mirror images. Out: a finding for each factor. Pure, like
`decision`, whose rules are followed here without levels, since these cancel.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ceteris.analysis.decision import Interval, Question, verdict_of
from ceteris.analysis.spending import Looked
from ceteris.model import Verdict
from ceteris.stats import screen
from ceteris.stats.huber import Array
from ceteris.stats.pairs import CannotJudge


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenFinding:
    """What is known of one factor; `verdict` None means to go on."""

    estimate: float
    interval: Interval
    inner: Interval
    verdict: Verdict | None


@dataclass(frozen=True, slots=True)
class Screen:
    """All factors after a look."""

    looks: tuple[Looked, ...]
    factors: tuple[ScreenFinding, ...]


def look_at_screen(
    d: Array,
    settings: Array,
    order: Array,
    question: Question,
    before: Sequence[Looked] = (),
    *,
    over: bool = False,
) -> Screen:
    """Look at pairs `d` (n,) between rows of `settings` (n, k) of +1 and -1 and their mirrors.

    `question.claims` is the number of factors. Raises CannotJudge where the data allow no conclusion.
    """
    if len(d) < 2 * screen.rows_for(settings.shape[1]):
        raise CannotJudge(f"{2 * screen.rows_for(settings.shape[1])} valid pairs are needed, and there are {len(d)}")
    if not np.isfinite(d).all():
        raise CannotJudge("a trial measured nothing, or no positive number")
    looks = question.spending.next(before, len(d), over=over)
    fitted = screen.effects(d, settings, order)
    outer, inner = (question.spending.standard_errors(looks, sides, fitted.freedom) for sides in (2, 1))
    found = []
    for estimate, error in zip(fitted.estimates.tolist(), fitted.errors.tolist(), strict=True):
        wide, narrow = (Interval(estimate - reach * error, estimate + reach * error) for reach in (outer, inner))
        verdict = verdict_of(wide, narrow, question) or (Verdict.UNDECIDED if over else None)
        found.append(ScreenFinding(estimate=estimate, interval=wide, inner=narrow, verdict=verdict))
    return Screen(looks, tuple(found))
