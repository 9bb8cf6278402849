"""What preconditioning came to, in words.

In: findings. Out: Conditioned, a sentence for each data set. Called by the view.
"""

from collections.abc import Sequence

from paribus.findings import Preconditioned
from paribus.i18n import gettext
from paribus.model import TrialState
from paribus.report.view import numbers
from paribus.report.view.evidence_models import Conditioned
from paribus.report.view.terms import word
from paribus.units import show_duration


def conditioned(found: Sequence[Preconditioned]) -> tuple[Conditioned, ...]:
    """Each data set with whether its last rounds were steady, and by what that is told."""
    return tuple(
        Conditioned(sentence=_sentence(one), missed=not one.steady, trial=one.trial, course=one.course) for one in found
    )


def _sentence(one: Preconditioned) -> str:
    what = gettext("{workload} with {data}", workload=one.workload, data=one.data) if one.data else one.workload
    if one.average_per_s is None or one.spread is None or one.drift is None:
        because = f": {one.reason}" if one.reason else ""
        why = gettext("not yet") if one.state is TrialState.PLANNED else f"{word(one.state)}{because}"
        return gettext("{what} was not preconditioned ({why})", what=what, why=why)
    asked = one.asked
    sign = "+" if one.drift > 0 else numbers.MINUS if one.drift < 0 else ""
    return gettext(
        "{what} was {judged} after {fills} and {rounds} of {round}: {average:,.0f} IOPS on average of the last "
        "{window}, spread {spread:.1f} % (at most {most_spread:.3g} %), "
        "drift {sign}{drift:.1f} % (at most {most_drift:.3g} %)",
        what=what,
        judged=gettext("steady") if one.steady else gettext("NOT STEADY"),
        fills=numbers.count(asked.fills, "fill"),
        rounds=numbers.count(len(one.course), "round"),
        round=show_duration(asked.round_s),
        average=one.average_per_s,
        window=asked.window,
        spread=one.spread * 100,
        most_spread=asked.most_spread * 100,
        sign=sign,
        drift=abs(one.drift) * 100,
        most_drift=asked.most_drift * 100,
    )
