"""Work between blocks: learning settle time and noise, interim analysis, planning the confirmation of a screen.

Called by the walk before the first block and after each. Every step is idempotent and makes up for one that a crash
cut off.
"""

from collections.abc import Sequence
from typing import Protocol

from sqlalchemy.engine import Engine as Store

from paribus.experiment import noise, settling
from paribus.experiment.interim_analysis import confirm, look
from paribus.model import Experiment, Look, Purpose, Trial, TrialState
from paribus.store import read, write
from paribus.trial.bench import Bench
from paribus.trial.blocks import next_block

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
    experiment: Experiment, store: Store, listener: BlockListener, bench: Bench, trials: list[Trial]
) -> None:
    """Do what is due between blocks. `trials` is updated to match the store. Raises StoreError."""
    if warning := bench.warning():
        write.add_note(store, experiment.id, warning)
        listener.on_notes([warning])
    learned = _learn(experiment, store, bench, trials)
    plan = read.plan(store, experiment.id)
    decided = look(plan, experiment, store, trials)
    if decided:
        trials[:] = read.trials(store, experiment.id)
    if (decided or next_block(trials) is None) and (confirmation := confirm(plan, experiment, store, trials)):
        learned.append(confirmation)
    if learned or decided:
        trials[:] = read.trials(store, experiment.id)
        listener.on_trials(trials)
        listener.on_notes(learned)
        listener.on_decisions(decided)


def _learn(experiment: Experiment, store: Store, bench: Bench, trials: list[Trial]) -> list[str]:
    """Messages about settle time and noise, learned once the trials that show them are over."""
    following = next_block(trials)
    comparisons_begun = any(
        t.purpose not in noise.PREPARATORY_PURPOSES and t.state is not TrialState.PLANNED for t in trials
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
    if purpose not in noise.PREPARATORY_PURPOSES and noise.should_learn(trials):
        learned += noise.learn(plan, experiment, store, trials)
        plan = read.plan(store, experiment.id)
        trials[:] = read.trials(store, experiment.id)
    bench.follow(plan)
    return learned
