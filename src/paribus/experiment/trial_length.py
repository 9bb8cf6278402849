"""Length of trials, learned from noise trials: long enough for the settings to act, where the budget holds that.

Called between the noise trials and the comparisons.
"""

import dataclasses
import math
from collections.abc import Sequence

from sqlalchemy.engine import Engine as Store

from paribus.analysis.paired.effects import Summaries
from paribus.experiment.withdrawal import without
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.mechanisms import has_least, least_duration_s, least_message
from paribus.model import Experiment, Plan, Purpose, Requirement, Trial, TrialState
from paribus.plan.schedule.budget import least_rounds, round_s, spent_s
from paribus.store import read, write
from paribus.units import show_duration

PREPARATORY_PURPOSES = (Purpose.PRECONDITION, Purpose.CALIBRATE, Purpose.NOISE_FLOOR)
_RESERVE = 1.1  # the rate of a trial varies
_LENGTHENED = N_("each trial lasts {duration} instead of {usual}: under {workload} {need}")
_BEYOND_BUDGET = N_(
    "under {workload} {need}; trials of {duration}, which that takes here, need a budget of {budget}: raise it, or set "
    "protocol.trial"
)


def should_learn(trials: Sequence[Trial]) -> bool:
    """Whether the noise trials have run and no comparison has begun."""
    compared = [trial for trial in trials if trial.purpose not in PREPARATORY_PURPOSES]
    return any(trial.purpose is Purpose.NOISE_FLOOR for trial in trials) and all(
        trial.state is TrialState.PLANNED for trial in compared
    )


def learn(plan: Plan, experiment: Experiment, store: Store, trials: Sequence[Trial]) -> list[StoredMessage]:
    """Lengthen trials so that settings can act, and drop the rounds that the budget then does not hold.

    Returns messages about the length. Idempotent. Raises StoreError.
    """
    if plan.protocol.noise_trial_s is not None:
        return []
    summaries = read.summaries(store, experiment.id)
    plan, rounds, notes = _lengthened(plan, trials, summaries, max(trial.round for trial in trials))
    without({trial.order for trial in trials if trial.round > rounds}, trials, experiment.id, store)
    for message in notes:
        write.add_note(store, experiment.id, message)
    write.set_plan(store, experiment.id, plan)
    return notes


def _lengthened(
    plan: Plan, trials: Sequence[Trial], summaries: Summaries, rounds: int
) -> tuple[Plan, int, list[StoredMessage]]:
    """Return the plan with trials in which its settings can act, the rounds that the budget then holds, and notes.

    The setting that needs the longest trials decides, among those for which the budget holds the fewest rounds.

    Args:
        plan: The plan of the noise trials.
        trials: All trials of the experiment.
        summaries: Measurements by trial and metric.
        rounds: Rounds to carry out at the present length.
    """
    notes: list[StoredMessage] = []
    for needed_s, requirement in _needed(plan, trials, summaries):
        protocol = dataclasses.replace(plan.protocol, trial_s=needed_s, noise_trial_s=plan.protocol.trial_s)
        longer = dataclasses.replace(plan, protocol=protocol)
        spent, one_round_s, fewest = spent_s(longer, trials), round_s(longer), least_rounds(longer)
        affordable = int((plan.protocol.budget_s - spent) // one_round_s)
        duration, need = show_duration(needed_s), least_message(requirement)
        if affordable >= fewest:
            usual = show_duration(plan.protocol.trial_s)
            note = stored_message(_LENGTHENED, duration=duration, usual=usual, workload=requirement.workload, need=need)
            return longer, min(rounds, affordable), [*notes, note]
        budget = show_duration(spent + fewest * one_round_s)
        notes.append(
            stored_message(_BEYOND_BUDGET, workload=requirement.workload, need=need, duration=duration, budget=budget)
        )
    return plan, rounds, notes


def _needed(plan: Plan, trials: Sequence[Trial], summaries: Summaries) -> list[tuple[float, Requirement]]:
    """The lengths beyond that of the plan, the longest first, and what needs each."""
    if not plan.protocol.learns_trial_length:
        return []
    measured = {
        workload.name: [
            summaries.get(trial.order, {})
            for trial in trials
            if trial.workload == workload.name
            and trial.purpose is Purpose.NOISE_FLOOR
            and trial.state is TrialState.DONE
        ]
        for workload in plan.workloads
    }
    excluded = {(each.knob, each.workload) for each in plan.requirements if each.obstacle}
    needed: dict[float, Requirement] = {}
    for requirement in plan.requirements:
        if has_least(requirement) and (requirement.knob, requirement.workload) not in excluded:
            least_s = least_duration_s(requirement, measured[requirement.workload])
            if least_s is not None and least_s > plan.protocol.trial_s:
                needed.setdefault(math.ceil(_RESERVE * least_s), requirement)
    return sorted(needed.items(), key=lambda item: item[0], reverse=True)
