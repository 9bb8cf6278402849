"""What is done between blocks: learning how the load settles and how noisy it is, looking, planning what confirms.

Called by the walk before the first block and after each. Done twice, it does nothing more, and what a crash left out it
makes up for.
"""

from collections.abc import Sequence
from typing import Protocol

from sqlalchemy.engine import Engine as Store

from paribus.experiment import noise, settling
from paribus.experiment.interim_analysis import confirm, look
from paribus.model import Experiment, Look, Purpose, Trial, TrialState
from paribus.store import read
from paribus.trial.bench import Bench
from paribus.trial.blocks import next_block

_LEARNING = (Purpose.CALIBRATE, Purpose.NOISE_FLOOR)


class Listener(Protocol):
    """Whoever is told."""

    def begins(self, trials: Sequence[Trial]) -> None:
        """The trials of the experiment are known, also those that were made before."""
        ...

    def learns(self, words: Sequence[str]) -> None:
        """This is known of the machine, or of what comes next."""
        ...

    def decides(self, looks: Sequence[Look]) -> None:
        """These need no more trials."""
        ...


def after_block(experiment: Experiment, store: Store, listener: Listener, bench: Bench, trials: list[Trial]) -> None:
    """Do what is due. `trials` follows what the store holds. Raises StoreError."""
    learned = _learn(experiment, store, bench, trials)
    plan = read.plan(store, experiment.id)
    decided = look(plan, experiment, store, trials)
    if decided:
        trials[:] = read.trials(store, experiment.id)
    if (decided or next_block(trials) is None) and (said := confirm(plan, experiment, store, trials)):
        learned.append(said)
    if learned or decided:
        trials[:] = read.trials(store, experiment.id)
        listener.begins(trials)
        listener.learns(learned)
        listener.decides(decided)


def _learn(experiment: Experiment, store: Store, bench: Bench, trials: list[Trial]) -> list[str]:
    """What the trials before the first comparison tell, as soon as they are over."""
    following = next_block(trials)
    begun = any(t.purpose not in noise.BEFORE and t.state is not TrialState.PLANNED for t in trials)
    if begun or following is None or not any(trial.purpose in _LEARNING for trial in trials):
        return []
    plan = read.plan(store, experiment.id)
    learned = []
    purpose = following[0].purpose
    if purpose not in (Purpose.PRECONDITION, Purpose.CALIBRATE) and settling.is_to_be_learned(plan, trials):
        learned += list(filter(None, [settling.learn(plan, experiment, store, trials)]))
        plan = read.plan(store, experiment.id)
        trials[:] = read.trials(store, experiment.id)
    if purpose not in noise.BEFORE and noise.is_to_be_learned(trials):
        learned += noise.learn(plan, experiment, store, trials)
        plan = read.plan(store, experiment.id)
        trials[:] = read.trials(store, experiment.id)
    bench.follow(plan)
    return learned
