"""The first sentence of a report: what to set, what to keep, what to choose by the load, and what is open.

In: the advice on every factor, and the trials by state and reason. Out: one sentence. Called by the view.
"""

from collections.abc import Sequence

from paribus.i18n import N_, gettext
from paribus.model import TrialState
from paribus.report.view.evidence_models import Tally
from paribus.report.view.terms import word
from paribus.report.view.view_models import Advice

_MAX_NAMED = 2
_MANY_UNUSABLE = 0.2  # of all trials: then they are why questions are open


def recommendation(advice: Sequence[Advice], tallies: Sequence[Tally], *, is_emulated: bool) -> str:
    """Return the sentence to act on; empty where no factor was compared."""
    if not advice:
        return ""
    if is_emulated:
        return gettext("Nothing to act on: the processors were emulated, and their times mean nothing")
    of_kind = {kind: [each for each in advice if each.kind == kind] for kind in ("set", "choose", "keep", "wait")}
    parts = [
        *_set(of_kind["set"]),
        *_choose(of_kind["choose"]),
        *_keep(of_kind["keep"], alone=len(of_kind["keep"]) == len(advice)),
        *_open(of_kind["wait"], tallies),
    ]
    sentence = gettext("; ").join(parts)
    return sentence[:1].upper() + sentence[1:]


def _set(advice: Sequence[Advice]) -> list[str]:
    """Settings to change, each with its gain and its price."""
    if len(advice) > _MAX_NAMED:
        priced = [each.factor for each in advice if each.losses]
        text = gettext("set {n} settings, each of which is better", n=len(advice))
        return [text + gettext(" (read the price of {factors} first)", factors=", ".join(priced))] if priced else [text]
    return [_setting(each) for each in advice]


def _setting(advice: Advice) -> str:
    """A setting to change, with its gain and its price."""
    text = gettext("set {factor} to {arm}", factor=advice.factor, arm=advice.arm)
    if advice.gain:
        text = gettext("{text} ({gain})", text=text, gain=advice.gain)
    if advice.losses:
        priced = N_("{text} only if you accept its price: {losses}")
        text = gettext(priced, text=text, losses=advice.losses)
    return text


def _choose(advice: Sequence[Advice]) -> list[str]:
    if len(advice) > _MAX_NAMED:
        return [gettext("choose {n} settings by your load", n=len(advice))]
    return [gettext("choose {factor} by your load", factor=each.factor) for each in advice]


def _keep(advice: Sequence[Advice], *, alone: bool) -> list[str]:
    if len(advice) == 1:
        return [gettext("keep {factor} at {arm}", factor=advice[0].factor, arm=advice[0].arm)]
    if alone:
        return [gettext("keep all {n} settings: no alternative is better", n=len(advice))]
    return [gettext("keep {n} settings", n=len(advice))] if advice else []


def _open(advice: Sequence[Advice], tallies: Sequence[Tally]) -> list[str]:
    """The open questions, with the reason where many trials are unusable."""
    if not advice:
        return []
    if len(advice) == 1:
        text = gettext("1 question is open: {factor}", factor=advice[0].factor)
    else:
        text = gettext("{n} questions are open", n=len(advice))
    unusable = word(TrialState.INVALID), word(TrialState.FAILED)
    counts = {tally.state: len(tally.trials) for tally in tallies if not tally.reason}
    n, total = sum(counts.get(state, 0) for state in unusable), sum(counts.values())
    reasons = sorted((tally for tally in tallies if tally.reason), key=lambda tally: -len(tally.trials))
    if not reasons or n < _MANY_UNUSABLE * total:
        return [text]
    why = N_("{text}, since {n} of {total} trials do not count, most for this: {reason}")
    return [gettext(why, text=text, n=n, total=total, reason=reasons[0].reason)]
