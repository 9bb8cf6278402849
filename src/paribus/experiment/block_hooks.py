"""Work between blocks: learning about the machine, interim analysis, planning the confirmation of a screen.

Called by the walk before the first block and after each. Every step is idempotent and makes up for one that a crash
cut off.
"""

from collections.abc import Sequence
from typing import Protocol

from sqlalchemy.engine import Engine as Store

from paribus.experiment import settling, trial_length
from paribus.experiment.after_screen import follow_screens
from paribus.experiment.budget_cap import is_used_up, keep_to_budget
from paribus.experiment.interim_analysis import decided_arms, take_due_looks
from paribus.experiment.replanning import replan
from paribus.model import ArmKey, Experiment, Look, Purpose, Trial, TrialState
from paribus.store import read, write
from paribus.trial.bench import Bench
from paribus.trial.blocks import next_block
from paribus.trial.platforms import Platforms

_LEARNING_PURPOSES = (Purpose.CALIBRATE, Purpose.NOISE_FLOOR)


class BlockListener(Protocol):
    """Receiver of the experiment's progress between blocks."""

    def on_trials(self, trials: Sequence[Trial]) -> None:
        """Receive all trials of the experiment, those already run included."""
        ...

    def on_notes(self, messages: Sequence[str]) -> None:
        """Receive messages about the machine or about the trials to come."""
        ...

    def on_decisions(self, looks: Sequence[Look]) -> None:
        """Receive the looks that decided a comparison, which needs no more trials."""
        ...


def after_block(
    experiment: Experiment, store: Store, listener: BlockListener, bench: Bench | Platforms, trials: list[Trial]
) -> set[ArmKey] | None:
    """Do what is due between blocks, and return the arms that are decided; None where the budget is used up.

    `trials` is updated to match the store. Raises StoreError.
    """
    if warning := bench.warning():
        write.add_note(store, experiment.id, warning)
        listener.on_notes([warning])
    learned = _learn(experiment, store, bench, trials)
    before = read.plan(store, experiment.id)
    learned += replan(before, experiment, store, trials)
    plan = read.plan(store, experiment.id)
    is_replanned = plan.protocol.open_rounds != before.protocol.open_rounds
    if is_replanned:
        trials[:] = read.trials(store, experiment.id)
    decisions = take_due_looks(plan, experiment, store, trials)
    if decisions:
        trials[:] = read.trials(store, experiment.id)
    decided = decided_arms(plan, read.looks(store, experiment.id))
    if (decisions or next_block(trials, decided) is None) and (
        message := follow_screens(plan, experiment, store, trials)
    ):
        learned.append(message)
    if dropped := keep_to_budget(plan, experiment, store, trials):
        learned += dropped
        trials[:] = read.trials(store, experiment.id)
    if learned or is_replanned or decisions:
        trials[:] = read.trials(store, experiment.id)
        listener.on_trials(trials)
        listener.on_notes(learned)
        listener.on_decisions([look for look in decisions if look.purpose is not Purpose.SELECT])
    return None if is_used_up(plan, trials) else decided


def _learn(experiment: Experiment, store: Store, bench: Bench | Platforms, trials: list[Trial]) -> list[str]:
    """Messages about settle time and trial length, learned once the trials that show them are over."""
    following = next_block(trials)
    comparisons_begun = any(
        t.purpose not in trial_length.PREPARATORY_PURPOSES and t.state is not TrialState.PLANNED for t in trials
    )
    if comparisons_begun or following is None or not any(trial.purpose in _LEARNING_PURPOSES for trial in trials):
        return []
    plan = read.plan(store, experiment.id)
    learned = []
    purpose = following[0].purpose
    if purpose not in (Purpose.PRECONDITION, Purpose.CALIBRATE) and settling.should_learn(plan, trials):
        learned += list(filter(None, [settling.learn(plan, experiment, store, trials)]))
        plan = read.plan(store, experiment.id)
        trials[:] = read.trials(store, experiment.id)
    if purpose not in trial_length.PREPARATORY_PURPOSES and trial_length.should_learn(trials):
        learned += trial_length.learn(plan, experiment, store, trials)
        plan = read.plan(store, experiment.id)
        trials[:] = read.trials(store, experiment.id)
    bench.follow(plan)
    return learned
