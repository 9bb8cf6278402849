"""A look in words: why it was decided so, what speaks against believing it, and what would decide it.

In: a Finding with its question and pairs. Out: sentences. An undecided effect is never worded as if nothing differed.
"""

import math

from ceteris.analysis.decision import Finding, Interval, Question
from ceteris.analysis.effects import Series
from ceteris.model import Verdict
from ceteris.stats.diagnostics import unequal
from ceteris.stats.planner import pairs_for
from ceteris.units import show_percent

METHODS = {
    "adaptive": "Huber fit of log ratios of pairs with their order; group-sequential repeated interval",
    "fixed": "Huber fit of log ratios of pairs with their order; one look at the end",
    "open-ended": "mean of log ratios of pairs; t confidence sequence, valid at any look",
}
_CHANCE = 0.05


def reasons_of(found: Finding, question: Question, one: Series, *, under_way: bool) -> tuple[str, ...]:
    """Why the verdict is what it is."""
    said = []
    margin = f"±{math.expm1(question.margin):.1%}"
    if under_way:
        said.append(f"{found.looks[-1].units} of {one.planned} planned pairs so far, and not decided yet")
    match found.verdict:
        case Verdict.EQUIVALENT:
            said.append(f"both tests of equivalence hold: {_between(found.inner)} lies within {margin}")
        case Verdict.BETTER | Verdict.WORSE:
            beyond = found.interval.beyond(question.margin)
            said.append(f"{_between(found.interval)} {f'lies beyond {margin}' if beyond else 'excludes zero'}")
        case Verdict.UNDECIDED:
            more = "" if found.inner.within(question.margin) else f", and an effect beyond {margin} is not excluded"
            said.append(f"{_between(found.interval)} holds zero{more}")
            said.append(_what_it_takes(found, question))
        case _:
            pass
    if found.levels and found.p_levels < _CHANCE:
        loads = sorted({pair.load for pair in one.pairs})
        apart = "; ".join(f"{show_percent(at.shrunk)} at {load}" for load, at in zip(loads, found.levels, strict=False))
        said.append(f"the effect is not one for all load levels: {apart}")
    slow, base = found.slow
    if slow + base and unequal(slow, base) < _CHANCE:
        said.append(f"{slow} trials of {one.arm} and {base} of {one.baseline} lie far below the rest")
    return tuple(said)


def _between(interval: Interval) -> str:
    return f"{show_percent(interval.low)} to {show_percent(interval.high)}"


def _what_it_takes(found: Finding, question: Question) -> str:
    """The pairs that would decide it, at the noise seen."""
    needed = pairs_for(question.margin, found.scale)
    return f"with this noise about {max(needed, found.looks[-1].units + 8)} pairs decide at this margin"
