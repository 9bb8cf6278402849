"""The screen of an experiment: looks at all its factors on the way, and at the end an effect of each.

In: a screen's series of pairs, its trials and looks. Out: Looks, Effects. How a look decides stands in `screening`.
What a screen shows of a factor is over all settings of the others; what was not confirmed stays suspect.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from paribus.analysis.paired.checks import Circumstances, checks_of_screen
from paribus.analysis.paired.decision import Question, probabilities
from paribus.analysis.paired.effects import Series, factors_of_screen
from paribus.analysis.paired.questions import arrays, looked, looks_at
from paribus.analysis.paired.reasons import method_of, tags_of, what_it_takes, why
from paribus.analysis.screening.screen_look import FactorFinding, ScreenFinding, look_at_screen, next_look_at_screen
from paribus.i18n import N_, gettext
from paribus.model import Effect, Factor, Look, Purpose, Tag, Trial, Verdict
from paribus.stats.foldover import least_valid
from paribus.stats.huber import Array
from paribus.stats.multiplicity import benjamini_hochberg
from paribus.stats.pairs import CannotJudge
from paribus.units import show_percent

_CLAIMS = (Verdict.BETTER, Verdict.WORSE)


@dataclass(frozen=True, slots=True)
class Screen:
    """The pairs of a screen, its factors, and each pair's setting: +1 (n, k) where a factor was at its second level."""

    series: Series
    factors: tuple[Factor, ...]
    settings: Array

    def first(self, n: int) -> "Screen":
        """The pairs made first."""
        return Screen(self.series.first(n), self.factors, self.settings[:n])


def of(one: Series, trials: Sequence[Trial], factors: Sequence[Factor]) -> Screen:
    """The screen that a series of pairs is."""
    mine = factors_of_screen(trials, one.workload, factors)
    drawn = {trial.order: trial.settings for trial in trials}
    high = [[drawn[pair.trials[1]][f.key] == f.levels[1] for f in mine] for pair in one.pairs]
    return Screen(one, mine, np.where(np.array(high, dtype=bool).reshape(-1, len(mine)), 1.0, -1.0))


def take_looks(one: Screen, question: Question, looks: Sequence[Look], *, over: bool) -> list[Look]:
    """A look at every factor that is not decided yet, where there are pairs not looked at. Raises CannotJudge."""
    before = {factor.key: _looks_of(one, factor, looks) for factor in one.factors}
    undecided = [key for key, taken in before.items() if not taken or taken[-1].verdict is None]
    pairs = len(one.series.pairs)
    if not undecided or (before[undecided[0]] and before[undecided[0]][-1].pairs >= pairs):
        return []
    history = looked(before[undecided[0]], question)  # all that are undecided were looked at as often
    seen = next_look_at_screen(arrays(one.series), one.settings, question, history, over=over)
    return [
        Look(
            factor=factor.key,
            arm=factor.labels[1],
            workload=one.series.workload,
            response=one.series.response,
            number=len(before[factor.key]) + 1,
            pairs=pairs,
            alpha_spent=seen.looks[-1].spent,
            low=found.interval.low,
            high=found.interval.high,
            estimate=found.estimate,
            verdict=found.verdict,
            purpose=Purpose.SCREEN,
        )
        for factor, found in zip(one.factors, seen.factors, strict=True)
        if factor.key in undecided
    ]


def survivors(looks: Sequence[Look]) -> list[tuple[str, str]]:
    """The factors and workloads of which a screen claims something that is to be confirmed, the clearest first."""
    claims = [k for k in looks if k.purpose is Purpose.SCREEN and k.verdict in _CLAIMS]
    claims.sort(key=lambda k: -abs(k.estimate) / (k.high - k.low))
    return list(dict.fromkeys((k.factor, k.workload) for k in claims))


def effects(
    one: Screen,
    question: Question,
    looks: Sequence[Look],
    known: Circumstances,
    *,
    finished: bool,
) -> list[Effect]:
    """The effect of every factor by its last look. Raises CannotJudge where there was none."""
    seen = [_look_again(one, factor, question, looks, finished=finished) for factor in one.factors]
    found = [then.factors[number] for number, (then, _, _) in enumerate(seen)]
    rates = benjamini_hochberg([finding.p for finding in found])
    return [
        _effect(factor, finding, then, screen, question, last, known, rate)
        for factor, finding, (then, screen, last), rate in zip(one.factors, found, seen, rates, strict=True)
    ]


def _look_again(
    one: Screen, factor: Factor, question: Question, looks: Sequence[Look], *, finished: bool
) -> tuple[ScreenFinding, Screen, Look]:
    """What the last look at a factor saw, the screen as it was then, and the look."""
    taken = _looks_of(one, factor, looks)
    if not taken:
        arrays(one.series)  # raises where values are no numbers
        raise CannotJudge(gettext("{n} valid pairs are needed", n=least_valid(len(one.factors))))
    if one.series.units < taken[-1].pairs:
        raise CannotJudge(N_("pairs that were looked at are not valid any more"))
    then = one.first(taken[-1].pairs)
    over = finished or taken[-1].verdict is not None
    seen = look_at_screen(arrays(then.series), then.settings, question, looked(taken, question), over=over)
    return seen, then, taken[-1]


def with_confirmation(screened: Sequence[Effect], alone: Sequence[Effect]) -> list[Effect]:
    """The effects of factors tried alone, and of a screen those that were not confirmed in trials of their own.

    Of what a screen claimed counts what was found alone; where that has another sign, nothing is decided. Where it
    claimed nothing, that stands.
    """
    before = {_place(one): one for one in screened}
    found = []
    for effect in alone:
        seen = before.get(_place(effect))
        if seen is None or (seen.verdict in _CLAIMS and effect.load is not None):
            found.append(effect)
        elif seen.verdict in _CLAIMS:
            found.append(_confirmed(effect, seen))
    tried = {_place(effect) for effect in found}
    return found + [one for one in screened if _place(one) not in tried]


def _confirmed(effect: Effect, before: Effect) -> Effect:
    """What was found alone, beside what the screen claimed."""
    said = gettext("before, a screen showed {effect}", effect=show_percent(before.estimate))
    if effect.verdict in _CLAIMS and effect.verdict is not before.verdict:
        said += gettext(": the two contradict each other")
        return replace(effect, verdict=Verdict.UNDECIDED, tags=(Tag.SUSPECT,), reasons=(*effect.reasons, said))
    return replace(effect, reasons=(*effect.reasons, said))


def _place(effect: Effect) -> tuple[str, str, str]:
    return effect.factor, effect.workload, effect.response


def _looks_of(one: Screen, factor: Factor, looks: Sequence[Look]) -> list[Look]:
    place = (factor.key, factor.labels[1], one.series.workload, one.series.response)
    return looks_at(looks).get((place, Purpose.SCREEN), [])


def _effect(
    factor: Factor,
    found: FactorFinding,
    seen: ScreenFinding,
    one: Screen,
    question: Question,
    last: Look,
    known: Circumstances,
    rate: float,
) -> Effect:
    """The effect of a factor as the screen was at its last look; `rate` is its false discovery rate."""
    verdict, is_claim = found.verdict or Verdict.UNDECIDED, found.verdict in _CLAIMS
    checks = checks_of_screen(seen.fitted, question, one.series, arrays(one.series), known)
    failed = tuple(check.finding for check in checks if not check.passed)
    better, within = probabilities(found.estimate, found.error, seen.fitted.freedom, question)
    takes = what_it_takes(seen.fitted.scale, question, last.pairs, known.timeline.pair_s(one.series))
    so_far = N_("{n} of {planned} planned pairs so far, and not decided yet")
    reasons = [
        gettext("screened with {n} other factors: this is the effect over all their settings", n=len(one.factors) - 1),
        *why(found.verdict, found.interval, found.inner, question),
        *([takes] if found.verdict is Verdict.UNDECIDED else []),
        *(
            [gettext("not confirmed in trials of its own; false discovery rate {rate:.2g}", rate=rate)]
            if is_claim
            else []
        ),
        *([] if found.verdict else [gettext(so_far, n=last.pairs, planned=one.series.planned)]),
    ]
    return Effect(
        factor=factor.key,
        baseline=factor.labels[0],
        arm=factor.labels[1],
        workload=one.series.workload,
        response=one.series.response,
        load=None,
        estimate=found.estimate,
        low=found.interval.low,
        high=found.interval.high,
        confidence=1 - question.alpha / question.claims,
        pairs=last.pairs,
        margin=question.margin,
        method=method_of(question, screened=True),
        look=last.number,
        verdict=verdict,
        tags=tags_of(verdict, found.interval, question, suspect=is_claim or bool(failed and found.verdict)),
        reasons=(*reasons, *failed),
        trials=tuple(sorted(order for pair in one.series.pairs for order in pair.trials)),
        checks=checks,
        better_probability=better,
        within_probability=within,
        alpha_spent=last.alpha_spent,
    )
