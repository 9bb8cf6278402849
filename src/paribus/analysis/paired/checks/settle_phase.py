"""The effect while the load settles, which no trial measures: whether it differs from the measured one."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from paribus.analysis.paired.checks.limits import size_limit
from paribus.analysis.paired.effects import PairSeries
from paribus.analysis.paired.finding import LEAST_UNITS, Question
from paribus.i18n import N_, gettext
from paribus.model import Check
from paribus.stats.diagnostics import Coefficient
from paribus.stats.huber import huber
from paribus.stats.levels import design
from paribus.stats.sequential import t_beyond, t_tail
from paribus.units import show_percent

_ALPHA = 0.01
_RESPONSES = ("throughput_per_s",)


@dataclass(frozen=True, slots=True)
class SettlePhase:
    """The effect while the load settles, a log ratio with its 95 % interval, against the measured one.

    `differs`: by `difference`, which is more than the margin and than noise. `visible` is the difference that would
    have been found with a probability of 80 %.
    """

    estimate: float
    low: float
    high: float
    differs: bool
    visible: float
    difference: Coefficient
    margin: float


def settle_phase(series: PairSeries, question: Question, settling: Mapping[int, float]) -> SettlePhase | None:
    """Return the effect while the load settles; None where too few pairs tell, or settings are toggled.

    Args:
        series: The pairs of the look.
        question: The declared question.
        settling: Throughput while settling, by trial.
    """
    if series.response not in _RESPONSES or series.split:
        return None
    pairs = [pair for pair in series.pairs if not pair.is_toggled and all(t in settling for t in pair.trials)]
    if len(pairs) < LEAST_UNITS["pair"]:
        return None
    order = design(np.array([float(pair.later) for pair in pairs]))
    unmeasured = np.log([settling[pair.sides[1][0]] / settling[pair.sides[0][0]] for pair in pairs])
    measured = np.log([pair.compared / pair.baseline for pair in pairs])
    while_settling, difference = huber(unmeasured, order), huber(unmeasured - measured, order)
    if difference.error == 0 or while_settling.error == 0:
        return None
    half_width = t_beyond(0.025, while_settling.freedom) * while_settling.error
    p = 2 * t_tail(abs(difference.estimate) / difference.error, difference.freedom)
    tested = Coefficient(difference.estimate, difference.error, p, difference.freedom)
    return SettlePhase(
        estimate=while_settling.estimate,
        low=while_settling.estimate - half_width,
        high=while_settling.estimate + half_width,
        differs=p < _ALPHA and abs(difference.estimate) > question.margin,
        visible=max(tested.visible(), question.margin),
        difference=tested,
        margin=question.margin,
    )


def settle_phase_check(phase: SettlePhase | None) -> tuple[Check, ...]:
    """Return the check that the effect is the same while the load settles; none where it is not, or nothing tells."""
    if phase is None or phase.differs:
        return ()
    message = N_("while the load settles the effect is the same; a difference of {seen} would have been seen")
    limit = size_limit(phase.margin, phase.difference, _ALPHA, stated=False)
    return (
        Check(gettext("settle phase"), True, gettext(message, seen=show_percent(phase.visible).lstrip("+")), limit),
    )


def settle_phase_reason(phase: SettlePhase | None) -> tuple[str, ...]:
    """Return a reason that states the effect while the load settles, where it is another one."""
    if phase is None or not phase.differs:
        return ()
    message = N_("only of the settled load: while it settles, which no trial measures, the effect is {effect}")
    interval = f"[{show_percent(phase.low)}, {show_percent(phase.high)}]"
    return (gettext(message, effect=f"{show_percent(phase.estimate)} {interval}"),)
