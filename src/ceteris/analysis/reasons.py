"""A look in words: why it was decided so, what speaks against believing it, and what would decide it.

In: a Finding with its question and pairs. Out: sentences. An undecided effect is never worded as if nothing differed.
"""

import math

from ceteris.analysis.decision import Finding, Interval, Question
from ceteris.analysis.effects import Series
from ceteris.model import Tag, Verdict
from ceteris.stats.planner import pairs_for
from ceteris.units import show_duration, show_percent

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
    kind = " of applications" * one.split
    said = [f"{units} of {one.planned} planned pairs{kind} so far, and not decided yet"] if under_way else []
    if one.split:
        each = len(one.pairs) / one.units
        said.append(f"{units} pairs of applications of {each:.3g} trials each; trials of one application are one unit")
    said += why(found.verdict, found.interval, found.inner, question)
    if found.verdict is Verdict.UNDECIDED:
        said.append(what_it_takes(found.scale, question, units, pair_s))
    if found.levels and found.verdict in (Verdict.EQUIVALENT, Verdict.UNDECIDED):
        loads = sorted({pair.load for pair in one.pairs})
        widest = max(
            zip(loads, found.levels, strict=False),
            key=lambda at: max(-at[1].interval.low, at[1].interval.high),
        )
        said.append(f"at single load levels not excluded: up to {_between(widest[1].interval)}, at {widest[0]}")
    if found.levels and found.p_levels < _CHANCE:
        loads = sorted({pair.load for pair in one.pairs})
        apart = "; ".join(f"{show_percent(at.shrunk)} at {load}" for load, at in zip(loads, found.levels, strict=False))
        said.append(f"the effect is not one for all load levels: {apart}")
    return tuple(said)


def why(verdict: Verdict | None, interval: Interval, inner: Interval, question: Question) -> list[str]:
    """What of the intervals makes the verdict."""
    margin = f"±{math.expm1(question.margin):.1%}"
    match verdict:
        case Verdict.EQUIVALENT:
            return [f"both tests of equivalence hold: {_between(inner)} lies within {margin}"]
        case Verdict.BETTER | Verdict.WORSE:
            beyond = f"lies beyond {margin}" if interval.beyond(question.margin) else "excludes zero"
            return [f"{_between(interval)} {beyond}"]
        case Verdict.UNDECIDED:
            more = "" if inner.within(question.margin) else f", and an effect beyond {margin} is not excluded"
            return [f"{_between(interval)} holds zero{more}"]
        case _:
            return []


def _between(interval: Interval) -> str:
    return f"{show_percent(interval.low)} to {show_percent(interval.high)}"


def what_it_takes(pair_sd: float, question: Question, units: int, pair_s: float) -> str:
    """The pairs that would decide it at the noise seen, and the machine time of the pairs."""
    needed = max(pairs_for(question.margin, pair_sd), units + 8)
    took = f", which take {show_duration(needed * pair_s)}," if pair_s else ""
    return f"with this noise about {needed} pairs{took} decide at this margin"
