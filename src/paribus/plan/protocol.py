"""Protocol and limits of a plan, with defaults filled in."""

import dataclasses
import math
from collections.abc import Iterable

from paribus.model import RATES, RESPONSES, Limits, Plan, Protocol
from paribus.plan.form.file import LimitsTable, ProtocolTable
from paribus.stats.planner import usual_margin

# Share of the length of a trial, and the most seconds: for a new load, for a load that stays, and after a change.
_SETTLE, _TAKEOFF, _TOGGLE = (1 / 2, 30.0), (1 / 3, 20.0), (1 / 5, 12.0)
_SEGMENT_S = 6.0  # segments of 10 s take half as long again to a verdict, see bench/judgement
_OF_LONG_TRIALS = {"trial", "settle", "rounds", "wash_out"}  # a plan that states one of these has such trials


def protocol_of(table: ProtocolTable) -> Protocol:
    """Returns the protocol, with defaults for settle times and margins that the plan leaves open."""
    margins = {name: response.margin for name, response in RESPONSES.items()}
    if table.margin is not None:
        margins |= dict.fromkeys(RATES, table.margin)
    margins |= dict(table.margins.items())
    stated = _OF_LONG_TRIALS & table.model_fields_set
    return Protocol(
        trial_s=table.trial,
        trial_chosen="trial" in table.model_fields_set,
        settle_s=_discarded(table, _SETTLE),
        in_flight=table.in_flight and table.recovery == "none",
        recovers=table.recovery != "none",
        cuts_off=table.recovery == "power-cut",
        segment_s=None if table.segment is None and stated else table.segment or _SEGMENT_S,
        segment_chosen=table.segment is not None,
        washes_out=None if table.wash_out is None else table.wash_out is not False,
        wash_s=None if isinstance(table.wash_out, bool) else table.wash_out,
        takeoff_s=_discarded(table, _TAKEOFF),
        toggle_s=_discarded(table, _TOGGLE),
        usual_margin=table.margin is None and not set(RATES) & set(table.margins),
        budget_s=table.budget,
        confidence=table.confidence,
        seed=table.seed,
        margins={name: math.log1p(margin) for name, margin in margins.items()},
        rounds=table.rounds,
        method=table.method,
        design=table.design,
        sub_trials=table.sub_trials,
        placebo=table.placebo,
        settled="usual" if table.settle is None else "plan",
    )


def with_trial_length(protocol: Protocol, seconds: float) -> Protocol:
    """Returns the protocol with trials of another length, and with the settle times that are usual for it."""
    if protocol.settled != "usual":
        return dataclasses.replace(protocol, trial_s=seconds)
    settle_s, takeoff_s, toggle_s = (_usual_s(seconds, usual) for usual in (_SETTLE, _TAKEOFF, _TOGGLE))
    return dataclasses.replace(protocol, trial_s=seconds, settle_s=settle_s, takeoff_s=takeoff_s, toggle_s=toggle_s)


def with_usual_margin(plan: Plan, noise: Iterable[float]) -> Plan:
    """Returns the plan with the usual margin for this noise (standard deviations of a pair), if it declares none."""
    if not plan.protocol.usual_margin:
        return plan
    margin = usual_margin(max(noise, default=0.0))
    margins = {**plan.protocol.margins, **dict.fromkeys(RATES, margin)}
    return dataclasses.replace(plan, protocol=dataclasses.replace(plan.protocol, margins=margins))


def _discarded(table: ProtocolTable, usual: tuple[float, float]) -> float:
    return table.settle if table.settle is not None else _usual_s(table.trial, usual)


def _usual_s(trial_s: float, usual: tuple[float, float]) -> float:
    share, most_s = usual
    return min(trial_s * share, most_s)


def limits_of(table: LimitsTable) -> Limits:
    """Returns the limits that end the experiment at once."""
    return Limits(
        response_p99_s=table.response_p99_s,
        errors_per_s=table.errors_per_s,
        free_bytes=table.free_space,
        temperature_c=table.temperature,
    )
