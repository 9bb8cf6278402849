"""Budget of an experiment as a cap: later rounds are left out, or the experiment stops before its verdicts.

Trials may take longer than planned, and are made again where they are invalid. An experiment that stops resumes with a
larger budget, and its looks go on as planned: time has stopped it, not what was found.
"""

import math
from collections.abc import Sequence

from sqlalchemy.engine import Engine as Store

from paribus.experiment.replanning import blocks_before_first_look, judged
from paribus.experiment.withdrawal import without
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.model import Experiment, Plan, Purpose, Trial, TrialState, machine_s
from paribus.plan.schedule.budget import LEAST_ROUNDS, cost_s
from paribus.plan.schedule.comparisons import Comparison
from paribus.store import read, write
from paribus.trial.blocks import next_block, trials_to_run
from paribus.units import show_duration

_OVERRUN = 0.1  # of the budget: used beyond it where that completes what can be judged
_WARNED = 0.25  # of the budget: used before a pace is told
_NOT_COUNTED = (TrialState.SUPERSEDED, TrialState.SPARED)

_LEFT_OUT = N_(
    "the budget of {budget} is used up after {rounds} rounds, since trials took longer than planned or were made "
    "again; {left} rounds are left out"
)
_STOPPED = N_(
    "the budget of {budget} is used up before everything can be judged, since trials took longer than planned or were "
    "made again; that takes {needed}"
)
_TOO_SLOW = N_(
    "trials take longer than planned: at this pace, verdicts need a budget of {needed}; the experiment stops when the "
    "budget of {budget} is used up, and can be resumed with more"
)


def needed_s(plan: Plan, trials: Sequence[Trial]) -> float:
    """Seconds after which everything can be judged, at the pace so far.

    That takes the fewest pairs of each comparison, and two rounds of what is only measured; with stated `rounds`, one
    look or a screen, every planned trial.
    """
    return machine_s(trials) + _duration_s(_outstanding(plan, trials), plan, trials)


def is_used_up(plan: Plan, trials: Sequence[Trial]) -> bool:
    """Whether the budget is used up before everything can be judged, and a little more would not do either."""
    budget_s = plan.protocol.budget_s
    if machine_s(trials) < budget_s or next_block(trials) is None:
        return False
    return bool(_outstanding(plan, trials)) and needed_s(plan, trials) > (1 + _OVERRUN) * budget_s


def needed_budget(plan: Plan, trials: Sequence[Trial]) -> str:
    """The budget that an experiment resumes with, as plans state it: `12min`; empty where its own is not used up."""
    if not is_used_up(plan, trials):
        return ""
    return f"{math.ceil((1 + _OVERRUN) * needed_s(plan, trials) / 60)}min"


def keep_to_budget(plan: Plan, experiment: Experiment, store: Store, trials: Sequence[Trial]) -> list[StoredMessage]:
    """Drop the later rounds of an experiment that has used up its budget; tell where it will not hold the fewest pairs.

    The round that is underway ends, if that takes little more than the budget. Returns messages. Raises StoreError.
    """
    protocol = plan.protocol
    used, budget = machine_s(trials), show_duration(protocol.budget_s)
    if used < _WARNED * protocol.budget_s or next_block(trials) is None:
        return []
    if _outstanding(plan, trials):
        needed = needed_s(plan, trials)
        if needed <= (1 + _OVERRUN) * protocol.budget_s:
            return []
        text = _STOPPED if used >= protocol.budget_s else _TOO_SLOW
        return _noted_once(stored_message(text, budget=budget, needed=show_duration(needed)), experiment, store)
    if used < protocol.budget_s or _ends_as_planned(plan):
        return []
    underway = max((trial.round for trial in trials if trial.state is not TrialState.PLANNED), default=0)
    planned = [trial for trial in trials if trial.state is TrialState.PLANNED]
    needless = {trial.order for trial in planned if trial.round > underway}
    remaining = [trial for trial in planned if trial.round <= underway]
    if used + _duration_s(remaining, plan, trials) > (1 + _OVERRUN) * protocol.budget_s:
        needless = {trial.order for trial in planned}
    if not needless:
        return []
    left = max(trial.round for trial in trials) - underway
    note = stored_message(_LEFT_OUT, budget=budget, rounds=underway, left=left)
    without(needless, trials, experiment.id, store)
    write.add_note(store, experiment.id, note)
    return [note]


def _ends_as_planned(plan: Plan) -> bool:
    """Whether every planned trial is made: the plan states it, or replicates of a screen belong together."""
    protocol = plan.protocol
    return protocol.rounds is not None or protocol.method == "fixed" or any(each.screened for each in judged(plan))


def _outstanding(plan: Plan, trials: Sequence[Trial]) -> list[Trial]:
    """The trials that must still be made before everything can be judged."""
    remaining = trials_to_run(trials)
    if _ends_as_planned(plan):
        return remaining
    needed = {block for comparison in judged(plan) for block in _before_first_look(comparison, trials)}
    return [t for t in remaining if t.block in needed or (t.purpose is Purpose.MEASURE and t.round <= LEAST_ROUNDS)]


def _before_first_look(comparison: Comparison, trials: Sequence[Trial]) -> list[int]:
    """The blocks of a comparison before its first look."""
    counted = [t for t in trials if (t.factor, t.workload) == comparison.key and t.state not in _NOT_COUNTED]
    return sorted({trial.block for trial in counted})[: blocks_before_first_look(comparison)]


def _duration_s(outstanding: Sequence[Trial], plan: Plan, trials: Sequence[Trial]) -> float:
    """Seconds of outstanding trials, as long as those of their comparison took, with what was made again."""
    ended = [trial for trial in trials if trial.took_s and trial.purpose is not Purpose.PRECONDITION]
    seconds = 0.0
    for key in {(trial.factor, trial.workload) for trial in outstanding}:
        remaining = [trial for trial in outstanding if (trial.factor, trial.workload) == key]
        took = [trial.took_s for trial in ended if (trial.factor, trial.workload) == key]
        done = sum((trial.factor, trial.workload) == key and trial.state is TrialState.DONE for trial in ended)
        seconds += len(remaining) * sum(took) / done if done else cost_s(plan, remaining)
    return seconds


def _noted_once(note: StoredMessage, experiment: Experiment, store: Store) -> list[StoredMessage]:
    """Store a note and return it, unless the experiment has one of that form for the same budget."""
    notes = [each for each in read.find(store, experiment.id).notes if isinstance(each, StoredMessage)]
    if any((each.message, each.values.get("budget")) == (note.message, note.values["budget"]) for each in notes):
        return []
    write.add_note(store, experiment.id, note)
    return [note]
