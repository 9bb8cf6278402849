"""Length of trials in a small budget: shorter than usual, where the budget would not hold the fewest pairs to judge.

In: a plan that leaves `trial` open. Out: the same with the longest trials that fit, and a note on it. Called before
settle runs are planned.
"""

import bisect
import dataclasses

from paribus.mechanisms import has_least
from paribus.model import Plan
from paribus.plan.protocol import with_trial_length
from paribus.plan.schedule.budget import Extent, duration_s, least_rounds, shortest_trial_s
from paribus.units import show_duration

_SHORTEST_S = 10


def with_fitting_trials(plan: Plan) -> Plan:
    """Returns the plan with trials of which its budget holds the fewest rounds; with the shortest where it holds none.

    A plan that states its trials, rounds or events keeps its own.
    """
    protocol = plan.protocol
    if protocol.trial_chosen or protocol.rounds is not None or plan.events or _fits(plan):
        return plan
    lengths = range(shortest_trial_s(plan, _SHORTEST_S), int(protocol.trial_s))
    fitting = bisect.bisect_left(lengths, True, key=lambda seconds: not _fits(_with_trials_of(plan, seconds)))
    trial_s = lengths[max(fitting - 1, 0)]
    budget, length, usual = map(show_duration, (protocol.budget_s, trial_s, protocol.trial_s))
    note = f"trials of {length} instead of {usual}, since a budget of {budget} holds only so many that can be judged"
    note += "; none becomes longer" if any(map(has_least, plan.requirements)) else ""
    return dataclasses.replace(_with_trials_of(plan, trial_s), notes=(*plan.notes, note))


def _fits(plan: Plan) -> bool:
    return duration_s(plan, Extent(0, least_rounds(plan))) <= plan.protocol.budget_s


def _with_trials_of(plan: Plan, seconds: float) -> Plan:
    return dataclasses.replace(plan, protocol=with_trial_length(plan.protocol, seconds))
