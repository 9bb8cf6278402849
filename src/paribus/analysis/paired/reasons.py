"""Explanation of a look: the reasons of its verdict, and the pairs that would decide an open comparison.

An undecided effect is never worded as if nothing differed.
"""

import math
from dataclasses import dataclass

from paribus.analysis.diagnostics.overload import hidden_capacity
from paribus.analysis.paired.checks.check_context import Timeline
from paribus.analysis.paired.checks.stalls import Stalls, stalls_of
from paribus.analysis.paired.decision import MEAN_MARGIN
from paribus.analysis.paired.effects import PairSeries
from paribus.analysis.paired.finding import EffectInterval, Finding, Question
from paribus.analysis.paired.questions import start_numbers
from paribus.i18n import N_, gettext
from paribus.model import DIRECTIONAL, Tag, Verdict
from paribus.stats.planner import (
    STALLED_MARGINS,
    pairs_for,
    pairs_that_show_stalls,
    pairs_to_show,
    trials_between_stalls,
)
from paribus.units import show_duration, show_percent

_FITTED = {
    "pair": "Huber fit of log ratios of pairs with their order",
    "application": "mean of log ratios of pairs of applications",
    "screen": "Huber fit of log ratios between settings of all factors and their mirror images",
}
_SPENT = {
    "adaptive": "group-sequential repeated interval",
    "fixed": "one look at the end",
    "open-ended": "t confidence sequence, valid at any look",
}
_ALPHA = 0.05
_MOST_PAIRS = 1000  # what nobody runs is no advice


def tags_of(
    verdict: Verdict,
    interval: EffectInterval,
    question: Question,
    *,
    suspect: bool,
    stalls: bool = False,
    average: bool = False,
    capped: bool = False,
) -> tuple[Tag, ...]:
    """Return the tags that qualify a verdict; `average`: it is one over all settings of other factors.

    `capped`: the trials were served all that the load asked for.
    """
    is_claim = verdict in DIRECTIONAL
    return (
        *([Tag.MATERIAL] if is_claim and interval.beyond(question.margin) else []),
        *([Tag.NEGLIGIBLE] if verdict is Verdict.EQUIVALENT and not interval.holds(0.0) else []),
        *([Tag.AVERAGE] if verdict is Verdict.EQUIVALENT and average else []),
        *([Tag.CAPPED] if verdict is Verdict.EQUIVALENT and capped else []),
        *([Tag.STALLS] if stalls else []),
        *([Tag.SUSPECT] if suspect else []),
    )


def method_of(question: Question, *, screened: bool = False) -> str:
    """Return the description of the fit and of the spending of the error."""
    fitted = _FITTED["screen" if screened else question.unit]
    if question.method == "open-ended" and question.unit == "pair":
        fitted = "mean of log ratios of pairs"
    return f"{fitted}; {_SPENT[question.method]}"


def reasons_of(
    finding: Finding, question: Question, series: PairSeries, would_decide: str, *, under_way: bool
) -> tuple[str, ...]:
    """Return the reasons of a verdict.

    Args:
        finding: Result of the look.
        question: The declared question.
        series: The pairs of the look.
        would_decide: What would decide an open comparison; empty where it is decided.
        under_way: Whether the comparison continues.
    """
    units = finding.looks[-1].units
    so_far = N_("{n} of {planned} planned pairs so far; not decided yet")
    if series.split:
        so_far = N_("{n} of {planned} planned pairs of applications so far; not decided yet")
    reasons = [gettext(so_far, n=units, planned=series.planned)] if under_way else []
    if series.split:
        trials_per_unit = len(series.pairs) / series.units
        counted = N_("{n} pairs of applications of {each:.3g} trials each; trials of one application are one unit")
        reasons.append(gettext(counted, n=units, each=trials_per_unit))
    reasons += verdict_reasons(finding.verdict, finding.interval, finding.inner, question)
    reasons += _against_equivalence(finding, question)
    stalls = stalls_of(finding, question)
    reasons += [stalls_text(stalls, series)] if stalls else []
    if finding.verdict is Verdict.EQUIVALENT and not series.split and not stalls:
        rare = N_("stalls in fewer than one trial in {n} are not excluded: no trial need have shown one")
        reasons.append(gettext(rare, n=trials_between_stalls(units)))
    reasons += [spanned] if (spanned := starts_text(series, allowed_for=finding.spans_starts)) else []
    reasons += [hidden] if (hidden := hidden_capacity(series)) else []
    reasons += [would_decide] if would_decide else []
    if finding.levels and finding.verdict in (Verdict.EQUIVALENT, Verdict.UNDECIDED):
        loads = sorted({pair.load for pair in series.pairs})
        widest = max(
            zip(loads, finding.levels, strict=False),
            key=lambda level_finding: max(-level_finding[1].interval.low, level_finding[1].interval.high),
        )
        excluded = N_("not excluded at single load levels: up to {interval}, at {load}")
        reasons.append(gettext(excluded, interval=_between(widest[1].interval), load=widest[0]))
    if finding.levels and finding.p_levels < _ALPHA:
        loads = sorted({pair.load for pair in series.pairs})
        each_level = zip(loads, finding.levels, strict=False)
        level_effects = [
            gettext("{effect} at {load}", effect=show_percent(level_finding.shrunk), load=load)
            for load, level_finding in each_level
        ]
        reasons.append(
            gettext("the effect differs between load levels: {levels}", levels=gettext("; ").join(level_effects))
        )
    return tuple(reasons)


def covered_text(series: PairSeries, timeline: Timeline) -> str:
    """Return the time for which a verdict holds; empty where it is unknown."""
    span_s, longest_s = timeline.span_s(series), timeline.longest_s(series)
    if span_s <= 0 or longest_s <= 0:
        return ""
    message = N_(
        "measured within {span}, in trials of at most {longest}: an effect that begins or ends later is not seen"
    )
    return gettext(message, span=show_duration(span_s), longest=show_duration(longest_s))


def starts_text(series: PairSeries, *, allowed_for: bool) -> str:
    """Return how many server starts the pairs span; empty where each trial has its own, or there is no server.

    `allowed_for`: the interval allows for an effect that differs between starts.
    """
    if series.split or not any(pair.start for pair in series.pairs):
        return ""
    count = int(start_numbers(series).max()) + 1
    if count == 1:
        return gettext("measured within one start of the server: after another one the effect may differ")
    message = N_("measured within {n} starts of the server; the interval does not allow for differences between them")
    if allowed_for:
        message = N_("the pairs span {n} starts of the server; the interval allows for differences between them")
    return gettext(message, n=count)


def verdict_reasons(
    verdict: Verdict | None, interval: EffectInterval, inner: EffectInterval, question: Question
) -> list[str]:
    """Return the relation of the intervals to zero and to the margin that gives the verdict."""
    margin = f"±{math.expm1(question.margin):.1%}"
    match verdict:
        case Verdict.EQUIVALENT:
            message = N_(
                "both tests of equivalence hold: {interval} lies within {margin}; each errs in {alpha} at most"
            )
            return [gettext(message, interval=_between(inner), margin=margin, alpha=f"{question.alpha:.0%}")]
        case Verdict.BETTER | Verdict.WORSE:
            beyond = N_("{interval} lies beyond {margin}")
            message = beyond if interval.beyond(question.margin) else N_("{interval} excludes zero")
            return [gettext(message, interval=_between(interval), margin=margin)]
        case Verdict.UNDECIDED:
            message = N_("{interval} contains zero, and an effect beyond {margin} is not excluded")
            if inner.within(question.margin):
                message = N_("{interval} contains zero")
            return [gettext(message, interval=_between(interval), margin=margin)]
        case _:
            return []


def stalls_text(stalls: Stalls, series: PairSeries) -> str:
    """Return what stalls, how often, and what it costs."""
    arms = (series.arm, series.baseline) if stalls.is_compared else (series.baseline, series.arm)
    message = N_(
        "stalls: {count} of {pairs} trials of {arm}, which change by {change} on average, and {others} of {other}"
    )
    return gettext(
        message,
        count=stalls.count,
        pairs=stalls.pairs,
        arm=arms[0],
        change=show_percent(stalls.change),
        others=stalls.others,
        other=arms[1],
    )


def _against_equivalence(finding: Finding, question: Question) -> list[str]:
    """Return what forbids equivalence although both of its tests hold."""
    if finding.verdict is not Verdict.UNDECIDED or not finding.inner.within(question.margin):
        return []
    reasons = []
    if not finding.mean_inner.within(MEAN_MARGIN * question.margin):
        message = N_("with outliers counted in full, the mean effect is {interval}, which is not within {margin}")
        margin = f"±{math.expm1(MEAN_MARGIN * question.margin):.1%}"
        reasons.append(gettext(message, interval=_between(finding.mean_inner), margin=margin))
    units, least = finding.looks[-1].units, pairs_that_show_stalls(question.margin)
    if question.unit == "pair" and units < least:
        message = N_(
            "equivalence needs {n} pairs: an arm that loses {loss} because some of its trials stall may show no such "
            "trial in fewer"
        )
        reasons.append(gettext(message, n=least, loss=f"{math.expm1(STALLED_MARGINS * question.margin):.1%}"))
    return reasons


def _between(interval: EffectInterval) -> str:
    return gettext("{low} to {high}", low=show_percent(interval.low), high=show_percent(interval.high))


@dataclass(frozen=True, slots=True)
class DecidingPairs:
    """Requirement that would decide an open comparison, in words, and its machine time; None where that is unknown."""

    text: str
    seconds: float | None = None


def pairs_needed(estimate: float, pair_sd: float, question: Question, units: int, pair_s: float) -> DecidingPairs:
    """Return what would decide an open comparison: more pairs and their machine time, or another plan.

    Args:
        estimate: The effect so far, a log ratio; it is taken as the true one.
        pair_sd: Standard deviation of a pair, a log ratio.
        question: The declared question.
        units: Pairs so far.
        pair_s: Seconds that a pair takes, 0 where unknown.
    """
    size = abs(estimate)
    enough = [pairs_to_show(size, pair_sd, question.alpha / question.claims)] if size else []
    if size < question.margin:
        least = pairs_that_show_stalls(question.margin) if question.unit == "pair" else 0
        enough.append(max(pairs_for(question.margin - size, pair_sd), least))
    needed = max(min(enough), units + 8)
    if needed > _MOST_PAIRS:
        message = N_("at this noise more than {n} pairs would be needed to decide: use longer trials or a wider margin")
        return DecidingPairs(gettext(message, n=_MOST_PAIRS))
    if not pair_s:
        message = N_("about {n} pairs instead of {units} would decide, if the effect is as estimated")
        return DecidingPairs(gettext(message, n=needed, units=units))
    message = N_("about {n} pairs instead of {units} would decide, if the effect is as estimated; they take {duration}")
    seconds = needed * pair_s
    return DecidingPairs(gettext(message, n=needed, units=units, duration=show_duration(seconds)), seconds)
