"""What preconditioning came to, in words.

In: findings. Out: Conditioned, a sentence for each data set. Called by the view.
"""

from collections.abc import Sequence

from ceteris.findings import Preconditioned
from ceteris.model import TrialState
from ceteris.report import numbers
from ceteris.report.shown_trust import Conditioned
from ceteris.units import show_duration


def conditioned(found: Sequence[Preconditioned]) -> tuple[Conditioned, ...]:
    """Each data set with whether its last rounds were steady, and by what that is told."""
    return tuple(
        Conditioned(sentence=_sentence(one), missed=not one.steady, trial=one.trial, course=one.course) for one in found
    )


def _sentence(one: Preconditioned) -> str:
    what = f"{one.workload} with {one.data}" if one.data else one.workload
    if one.average_per_s is None or one.spread is None or one.drift is None:
        because = f": {one.reason}" if one.reason else ""
        word = "not yet" if one.state is TrialState.PLANNED else f"{one.state}{because}"
        return f"{what} was not preconditioned ({word})"
    asked = one.asked
    judged = "steady" if one.steady else "NOT STEADY"
    rounds = f"{numbers.count(len(one.course), 'round')} of {show_duration(asked.round_s)}"
    fills = numbers.count(asked.fills, "fill")
    sign = "+" if one.drift > 0 else numbers.MINUS if one.drift < 0 else ""
    return (
        f"{what} was {judged} after {fills} and {rounds}: {one.average_per_s:,.0f} IOPS on average of the last "
        f"{asked.window}, spread {one.spread * 100:.1f} % (at most {asked.most_spread * 100:.3g} %), "
        f"drift {sign}{abs(one.drift) * 100:.1f} % (at most {asked.most_drift * 100:.3g} %)"
    )
