"""The screen of an experiment: looks at all its factors, and an effect of each.

A factor's effect is an average over all settings of the other factors. Unconfirmed claims stay suspect.
"""

from collections.abc import Sequence
from dataclasses import replace

from paribus.analysis.diagnostics.overload import hidden_capacity
from paribus.analysis.paired.checks.check_context import CheckContext
from paribus.analysis.paired.decision import probabilities
from paribus.analysis.paired.effect_records import overall_effect
from paribus.analysis.paired.finding import Question
from paribus.analysis.paired.questions import arrays, looks_by_comparison, spending_looks
from paribus.analysis.paired.reasons import (
    DecidingPairs,
    covered_text,
    method_of,
    pairs_needed,
    starts_text,
    tags_of,
    verdict_reasons,
)
from paribus.analysis.screening.screen_checks import checks_of_factor
from paribus.analysis.screening.screen_look import FactorFinding, ScreenFinding, look_at_screen, next_look_at_screen
from paribus.analysis.screening.screen_pairs import ScreenPairs
from paribus.i18n import N_, gettext
from paribus.model import DIRECTIONAL, Effect, Factor, Look, Purpose, Tag, Verdict
from paribus.stats.foldover import least_valid
from paribus.stats.multiplicity import benjamini_hochberg
from paribus.stats.pairs import CannotJudge
from paribus.units import show_percent

_ALSO_ALONE = N_(
    "equivalent on average over the settings of the other factors; alone, {n} pairs show between {low} and {high}"
)
_ON_AVERAGE = N_(
    "equivalent on average over the settings of the other factors; it was not tried alone, where it may act otherwise"
)


def take_looks(screen: ScreenPairs, question: Question, looks: Sequence[Look], *, over: bool) -> list[Look]:
    """Look at every undecided factor where there are new pairs.

    Args:
        screen: The pairs so far.
        question: The declared question.
        looks: The looks so far.
        over: Whether no pairs will follow.

    Returns:
        The new looks.

    Raises:
        CannotJudge: The data allow no conclusion.
    """
    previous = {factor.key: _looks_of(screen, factor, looks) for factor in screen.factors}
    undecided = [key for key, factor_looks in previous.items() if not factor_looks or factor_looks[-1].verdict is None]
    pairs = len(screen.series.pairs)
    if not undecided or (previous[undecided[0]] and previous[undecided[0]][-1].pairs >= pairs):
        return []
    history = spending_looks(previous[undecided[0]], question)  # undecided factors have equally many looks
    screen_finding = next_look_at_screen(
        arrays(screen.series), screen.settings, question, history, over=over, lost=screen.lost_pairs
    )
    return [
        Look(
            factor=factor.key,
            arm=factor.labels[1],
            workload=screen.series.workload,
            response=screen.series.response,
            number=len(previous[factor.key]) + 1,
            pairs=pairs,
            alpha_spent=screen_finding.looks[-1].spent,
            low=finding.interval.low,
            high=finding.interval.high,
            estimate=finding.estimate,
            verdict=finding.verdict,
            purpose=Purpose.SCREEN,
        )
        for factor, finding in zip(screen.factors, screen_finding.factors, strict=True)
        if factor.key in undecided
    ]


def survivors(looks: Sequence[Look]) -> list[tuple[str, str]]:
    """Return (factor, workload) of the screen's claims to be confirmed, the clearest first."""
    claims = [look for look in looks if look.purpose is Purpose.SCREEN and look.verdict in DIRECTIONAL]
    claims.sort(key=lambda look: -abs(look.estimate) / (look.high - look.low))
    return list(dict.fromkeys((look.factor, look.workload) for look in claims))


def equivalents(looks: Sequence[Look]) -> list[tuple[str, str]]:
    """Return (factor, workload) of what the screen calls equivalent, that with the largest possible effect first."""
    last = [look for look in looks if look.purpose is Purpose.SCREEN and look.verdict is Verdict.EQUIVALENT]
    last.sort(key=lambda look: -max(abs(look.low), abs(look.high)))
    claimed = set(survivors(looks))
    return [key for key in dict.fromkeys((look.factor, look.workload) for look in last) if key not in claimed]


def effects(
    screen: ScreenPairs,
    question: Question,
    looks: Sequence[Look],
    context: CheckContext,
    *,
    finished: bool,
) -> list[Effect]:
    """Return the effect of every factor by its last look.

    Args:
        screen: The pairs of the screen.
        question: The declared question.
        looks: The looks so far.
        context: Further information about the trials.
        finished: Whether no pairs will follow.

    Raises:
        CannotJudge: A factor has no look, or pairs of a look are no longer valid.
    """
    last_looks = [_look_again(screen, factor, question, looks, finished=finished) for factor in screen.factors]
    findings = [at_look.factors[number] for number, (at_look, _, _) in enumerate(last_looks)]
    rates = benjamini_hochberg([finding.p for finding in findings])
    return [
        _effect(factor, finding, at_look, screen_at_look, question, look, context, rate)
        for factor, finding, (at_look, screen_at_look, look), rate in zip(
            screen.factors, findings, last_looks, rates, strict=True
        )
    ]


def _look_again(
    screen: ScreenPairs, factor: Factor, question: Question, looks: Sequence[Look], *, finished: bool
) -> tuple[ScreenFinding, ScreenPairs, Look]:
    """The finding of the last look at a factor, the pairs that it saw, and the look."""
    factor_looks = _looks_of(screen, factor, looks)
    if not factor_looks:
        arrays(screen.series)  # raises where values are no numbers
        raise CannotJudge(gettext("{n} valid pairs are needed", n=least_valid(len(screen.factors))))
    if screen.series.units < factor_looks[-1].pairs:
        raise CannotJudge(N_("pairs of an earlier look are no longer valid"))
    screen_at_look = screen.first(factor_looks[-1].pairs)
    over = finished or factor_looks[-1].verdict is not None
    finding = look_at_screen(
        arrays(screen_at_look.series),
        screen_at_look.settings,
        question,
        spending_looks(factor_looks, question),
        over=over,
        lost=screen_at_look.lost_pairs,
    )
    return finding, screen_at_look, factor_looks[-1]


def with_confirmation(
    screened: Sequence[Effect], alone: Sequence[Effect], factors: Sequence[Factor] = ()
) -> list[Effect]:
    """Return the effects of factors compared alone, and the screen's other effects.

    The confirmation replaces a screen's claim; with the opposite verdict, the factor is undecided. What was equivalent
    and tried alone has the verdict of that, if it has one. All other effects of the screen stay.

    Args:
        screened: Effects from the screen.
        alone: Effects of factors compared alone.
        factors: Factors of the plan.
    """
    by_arm = {factor.arm_alone: factor for factor in factors}
    alone = [_named(effect, by_arm[effect.arm]) if effect.arm in by_arm else effect for effect in alone]
    screened_by_key = {_place(effect): effect for effect in screened}
    equal = {_place(effect) for effect in screened if effect.verdict is Verdict.EQUIVALENT}
    undecided = {
        _place(effect): effect
        for effect in alone
        if effect.load is None and effect.verdict in (Verdict.UNDECIDED, None) and _place(effect) in equal
    }
    result = []
    for alone_effect in alone:
        screen_effect = screened_by_key.get(_place(alone_effect))
        if screen_effect is None:
            result.append(alone_effect)
        elif _place(alone_effect) not in undecided and screen_effect.verdict in (*DIRECTIONAL, Verdict.EQUIVALENT):
            result.append(alone_effect if alone_effect.load else _after_screen(alone_effect, screen_effect))
    judged_alone = {_place(alone_effect) for alone_effect in result}
    return result + [
        _tried_alone(effect, undecided.get(_place(effect))) for effect in screened if _place(effect) not in judged_alone
    ]


def _named(effect: Effect, factor: Factor) -> Effect:
    """The effect of an arm that sets a factor alone, as that of the factor."""
    return replace(effect, factor=factor.key, baseline=factor.labels[0], arm=factor.labels[1])


def _tried_alone(effect: Effect, alone: Effect | None) -> Effect:
    """A screen's equivalent effect, with what trials alone have shown; these did not decide."""
    if effect.verdict is not Verdict.EQUIVALENT or alone is None or alone.verdict is None:
        return effect
    reason = gettext(_ALSO_ALONE, n=alone.pairs, low=show_percent(alone.low), high=show_percent(alone.high))
    reasons = tuple(reason if text == gettext(_ON_AVERAGE) else text for text in effect.reasons)
    return replace(effect, reasons=reasons, tags=tuple(tag for tag in effect.tags if tag is not Tag.AVERAGE))


def _after_screen(effect: Effect, screen_effect: Effect) -> Effect:
    """The effect of a factor alone, with a reason that states the screen's estimate."""
    reason = gettext("before, a screen showed {effect}", effect=show_percent(screen_effect.estimate))
    if {effect.verdict, screen_effect.verdict} == set(DIRECTIONAL):
        reason += gettext(": the two contradict each other")
        return replace(effect, verdict=Verdict.UNDECIDED, tags=(Tag.SUSPECT,), reasons=(*effect.reasons, reason))
    return replace(effect, reasons=(*effect.reasons, reason))


def _place(effect: Effect) -> tuple[str, str, str]:
    return effect.factor, effect.workload, effect.response


def _looks_of(screen: ScreenPairs, factor: Factor, looks: Sequence[Look]) -> list[Look]:
    key = (factor.key, factor.labels[1], screen.series.workload, screen.series.response)
    return looks_by_comparison(looks).get((key, Purpose.SCREEN), [])


def _effect(
    factor: Factor,
    finding: FactorFinding,
    screen_finding: ScreenFinding,
    screen: ScreenPairs,
    question: Question,
    look: Look,
    context: CheckContext,
    false_discovery_rate: float,
) -> Effect:
    """The effect of a factor at its last look."""
    verdict, is_claim = finding.verdict or Verdict.UNDECIDED, finding.verdict in DIRECTIONAL
    checks = checks_of_factor(screen.factors.index(factor), screen, screen_finding, question, context)
    failed = tuple(check.finding for check in checks if not check.passed)
    better, within = probabilities(finding.estimate, finding.error, finding.freedom, question)
    need = DecidingPairs("")
    if finding.verdict is Verdict.UNDECIDED:
        pair_s = context.timeline.pair_s(screen.series)
        need = pairs_needed(finding.estimate, finding.scale, question, look.pairs, pair_s)
    so_far = N_("{n} of {planned} planned pairs so far; not decided yet")
    reasons = [
        gettext(
            "screened with {n} other factors: this is the effect over all their settings", n=len(screen.factors) - 1
        ),
        *verdict_reasons(finding.verdict, finding.interval, finding.inner, question),
        *([gettext(_ON_AVERAGE)] if finding.verdict is Verdict.EQUIVALENT else []),
        *([spanned] if (spanned := starts_text(screen.series, allowed_for=finding.spans_starts)) else []),
        *([hidden] if (hidden := hidden_capacity(screen.series)) else []),
        *([covered] if finding.verdict and (covered := covered_text(screen.series, context.timeline)) else []),
        *([need.text] if need.text else []),
        *(
            [gettext("not confirmed in separate trials; false discovery rate {rate:.2g}", rate=false_discovery_rate)]
            if is_claim
            else []
        ),
        *([] if finding.verdict else [gettext(so_far, n=look.pairs, planned=screen.series.planned)]),
    ]
    return overall_effect(
        finding,
        question,
        replace(screen.series, factor=factor.key, baseline=factor.labels[0], arm=factor.labels[1]),
        look,
        checks,
        method=method_of(question, screened=True),
        tags=tags_of(
            verdict,
            finding.interval,
            question,
            suspect=is_claim or bool(failed and finding.verdict),
            average=True,
            capped=bool(hidden_capacity(screen.series)),
        ),
        reasons=(*reasons, *failed),
        need=need,
        probabilities=(better, within),
    )
