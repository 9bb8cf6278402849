"""A look in words: why it was decided so, what speaks against believing it, and what would decide it.

In: a Finding with its question and pairs. Out: sentences. An undecided effect is never worded as if nothing differed.
"""

import math

from paribus.analysis.paired.decision import Finding, Interval, Question
from paribus.analysis.paired.effects import Series
from paribus.i18n import N_, gettext
from paribus.model import Tag, Verdict
from paribus.stats.planner import pairs_for
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
_CHANCE = 0.05


def tags_of(verdict: Verdict, interval: Interval, question: Question, *, suspect: bool) -> tuple[Tag, ...]:
    """What qualifies the verdict."""
    is_claim = verdict in (Verdict.BETTER, Verdict.WORSE)
    return (
        *([Tag.MATERIAL] if is_claim and interval.beyond(question.margin) else []),
        *([Tag.NEGLIGIBLE] if verdict is Verdict.EQUIVALENT and not interval.holds(0.0) else []),
        *([Tag.SUSPECT] if suspect else []),
    )


def method_of(question: Question, *, screened: bool = False) -> str:
    """What is fitted, and how the error is spent."""
    fitted = _FITTED["screen" if screened else question.unit]
    if question.method == "open-ended" and question.unit == "pair":
        fitted = "mean of log ratios of pairs"
    return f"{fitted}; {_SPENT[question.method]}"


def reasons_of(found: Finding, question: Question, one: Series, pair_s: float, *, under_way: bool) -> tuple[str, ...]:
    """Why the verdict is what it is; a pair takes `pair_s` seconds, 0 where that is not known."""
    units = found.looks[-1].units
    so_far = N_("{n} of {planned} planned pairs so far, and not decided yet")
    if one.split:
        so_far = N_("{n} of {planned} planned pairs of applications so far, and not decided yet")
    said = [gettext(so_far, n=units, planned=one.planned)] if under_way else []
    if one.split:
        each = len(one.pairs) / one.units
        counted = N_("{n} pairs of applications of {each:.3g} trials each; trials of one application are one unit")
        said.append(gettext(counted, n=units, each=each))
    said += why(found.verdict, found.interval, found.inner, question)
    if found.verdict is Verdict.UNDECIDED:
        said.append(what_it_takes(found.scale, question, units, pair_s))
    if found.levels and found.verdict in (Verdict.EQUIVALENT, Verdict.UNDECIDED):
        loads = sorted({pair.load for pair in one.pairs})
        widest = max(
            zip(loads, found.levels, strict=False),
            key=lambda at: max(-at[1].interval.low, at[1].interval.high),
        )
        excluded = N_("at single load levels not excluded: up to {interval}, at {load}")
        said.append(gettext(excluded, interval=_between(widest[1].interval), load=widest[0]))
    if found.levels and found.p_levels < _CHANCE:
        loads = sorted({pair.load for pair in one.pairs})
        each_level = zip(loads, found.levels, strict=False)
        apart = [gettext("{effect} at {load}", effect=show_percent(at.shrunk), load=load) for load, at in each_level]
        said.append(gettext("the effect is not one for all load levels: {levels}", levels=gettext("; ").join(apart)))
    return tuple(said)


def why(verdict: Verdict | None, interval: Interval, inner: Interval, question: Question) -> list[str]:
    """What of the intervals makes the verdict."""
    margin = f"±{math.expm1(question.margin):.1%}"
    match verdict:
        case Verdict.EQUIVALENT:
            said = N_("both tests of equivalence hold: {interval} lies within {margin}")
            if not interval.within(question.margin):
                said = N_(
                    "both tests of equivalence hold: {interval} lies within {margin}; the interval shown is wider, "
                    "since it guards against a false difference in any comparison"
                )
            return [gettext(said, interval=_between(inner), margin=margin)]
        case Verdict.BETTER | Verdict.WORSE:
            beyond = N_("{interval} lies beyond {margin}")
            said = beyond if interval.beyond(question.margin) else N_("{interval} excludes zero")
            return [gettext(said, interval=_between(interval), margin=margin)]
        case Verdict.UNDECIDED:
            said = N_("{interval} holds zero, and an effect beyond {margin} is not excluded")
            if inner.within(question.margin):
                said = N_("{interval} holds zero")
            return [gettext(said, interval=_between(interval), margin=margin)]
        case _:
            return []


def _between(interval: Interval) -> str:
    return gettext("{low} to {high}", low=show_percent(interval.low), high=show_percent(interval.high))


def what_it_takes(pair_sd: float, question: Question, units: int, pair_s: float) -> str:
    """The pairs that would decide it at the noise seen, and the machine time of the pairs."""
    needed = max(pairs_for(question.margin, pair_sd), units + 8)
    if not pair_s:
        return gettext("with this noise about {n} pairs decide at this margin", n=needed)
    said = N_("with this noise about {n} pairs, which take {duration}, decide at this margin")
    return gettext(said, n=needed, duration=show_duration(needed * pair_s))
