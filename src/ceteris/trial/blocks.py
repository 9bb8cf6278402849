"""Which block is next, from nothing but the trials as stored: a first run and a resumed one are one path."""

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Sequence

from ceteris.model import FailureClass, Purpose, Trial, TrialState

MOST_RERUNS = 2
_REFUSALS = 2  # so often a setting is refused before its arm is given up
Arm = tuple[str, str, str]
_UNFINISHED = (TrialState.APPLYING, TrialState.SETTLING, TrialState.MEASURING)


def arm_of(trial: Trial) -> Arm:
    """What the trial is of: factor, workload, arm."""
    return trial.factor, trial.workload, trial.arm


def refused_arms(trials: Sequence[Trial]) -> set[Arm]:
    """The arms whose settings the machine has refused twice."""
    refused = Counter(arm_of(t) for t in trials if t.failure is FailureClass.SETTING_REJECTED)
    return {arm for arm, count in refused.items() if count >= _REFUSALS}


def next_block(trials: Sequence[Trial]) -> list[Trial] | None:
    """The trials of the next block, as stored, or None when there is no more to do.

    While a block is left, data is preconditioned first, each data set by itself and until that is done: without it
    the others would measure something else. Only a machine that refuses the baseline is taken at its word.
    """
    block = _next_compared([trial for trial in trials if trial.purpose is not Purpose.PRECONDITION])
    undone = [t for t in _preconditioning(trials) if t.state is not TrialState.DONE]
    able = [trial for trial in undone if trial.failure is not FailureClass.SETTING_REJECTED]
    return able[:1] if block and able else block


def _preconditioning(trials: Sequence[Trial]) -> list[Trial]:
    return [t for t in trials if t.purpose is Purpose.PRECONDITION and t.state is not TrialState.SUPERSEDED]


def lost_preconditioning(trials: Sequence[Trial]) -> list[Trial]:
    """What was preconditioned, or begun to be, when the bench was last left: its data went, or will be made anew.

    Nothing where no block is left that would need it.
    """
    begun = [trial for trial in _preconditioning(trials) if trial.state is not TrialState.PLANNED]
    return begun if next_block(trials) else []


def _next_compared(trials: Sequence[Trial]) -> list[Trial] | None:
    """The next block of those that measure.

    Within a round: first a block that was interrupted, then those not yet tried, at the end those with an
    invalid or failed trial, each at most twice more. Blocks of which too few arms are left are passed over.
    """
    refused = refused_arms(trials)
    rounds: dict[int, dict[int, list[Trial]]] = defaultdict(lambda: defaultdict(list))
    attempts: dict[int, set[int]] = defaultdict(set)
    for trial in trials:
        if trial.state is not TrialState.SUPERSEDED:
            rounds[trial.round][trial.block].append(trial)
        elif trial.invalid_because or trial.failure not in (None, FailureClass.INTERRUPTED):
            attempts[trial.block].add(trial.attempt)
    for _, blocks in sorted(rounds.items()):
        usable = {n: [t for t in block if arm_of(t) not in refused] for n, block in blocks.items()}
        usable = {n: block for n, block in usable.items() if len(block) >= min(2, len(blocks[n]))}
        interrupted = [n for n, block in usable.items() if _is_interrupted(block)]
        fresh = [n for n, block in usable.items() if all(t.state is TrialState.PLANNED for t in block)]
        broken = [n for n, block in usable.items() if _is_broken(block) and len(attempts[n]) < MOST_RERUNS]
        for number in [*interrupted, *fresh, *broken][:1]:
            return sorted(blocks[number], key=lambda trial: trial.position)
    return None


def _is_broken(block: Sequence[Trial]) -> bool:
    """Whether a trial of the block is invalid or failed for a reason of its own that may not come again."""
    spared = (FailureClass.INTERRUPTED, FailureClass.SETTING_REJECTED)
    return any(
        t.state is TrialState.INVALID or (t.state is TrialState.FAILED and t.failure not in spared) for t in block
    )


def _is_interrupted(block: Sequence[Trial]) -> bool:
    """Whether the block was begun and neither finished nor broken."""
    if _is_broken(block):
        return False
    states = {trial.state for trial in block if trial.failure is not FailureClass.SETTING_REJECTED}
    return bool(states.intersection(_UNFINISHED)) or len(states) > 1 or states == {TrialState.FAILED}


def renewed(block: Sequence[Trial], last_order: int) -> list[Trial]:
    """The same trials anew, numbered on from the last one; empty where the block was never tried."""
    if all(trial.state is TrialState.PLANNED for trial in block):
        return []
    return [
        dataclasses.replace(
            trial,
            order=last_order + number,
            attempt=trial.attempt + 1,
            state=TrialState.PLANNED,
            started=None,
            ended=None,
            invalid_because=(),
            failure=None,
            failure_message="",
            supersedes=trial.order,
        )
        for number, trial in enumerate(block, start=1)
    ]
