"""Which block is next, from nothing but the trials as stored: a first run and a resumed one are one path."""

import dataclasses
from collections import defaultdict
from collections.abc import Sequence

from ceteris.model import FailureClass, Trial, TrialState

MOST_RERUNS = 2
_UNFINISHED = (TrialState.APPLYING, TrialState.SETTLING, TrialState.MEASURING)


def next_block(trials: Sequence[Trial]) -> list[Trial] | None:
    """The trials of the next block, as stored, or None when there is no more to do.

    Within a round: first a block that was interrupted, then those not yet tried, at the end those with an
    invalid or failed trial, each at most twice more.
    """
    rounds: dict[int, dict[int, list[Trial]]] = defaultdict(lambda: defaultdict(list))
    attempts: dict[int, set[int]] = defaultdict(set)
    for trial in trials:
        if trial.state is not TrialState.SUPERSEDED:
            rounds[trial.round][trial.block].append(trial)
        elif trial.invalid_because or trial.failure not in (None, FailureClass.INTERRUPTED):
            attempts[trial.block].add(trial.attempt)
    for _, blocks in sorted(rounds.items()):
        interrupted = [block for block in blocks.values() if _is_interrupted(block)]
        fresh = [block for block in blocks.values() if all(t.state is TrialState.PLANNED for t in block)]
        broken = [b for n, b in blocks.items() if _is_broken(b) and len(attempts[n]) < MOST_RERUNS]
        for waiting in (interrupted, fresh, broken):
            if waiting:
                return sorted(waiting[0], key=lambda trial: trial.position)
    return None


def _is_broken(block: Sequence[Trial]) -> bool:
    """Whether a trial of the block is invalid or failed for a reason of its own."""
    return any(
        t.state is TrialState.INVALID or (t.state is TrialState.FAILED and t.failure is not FailureClass.INTERRUPTED)
        for t in block
    )


def _is_interrupted(block: Sequence[Trial]) -> bool:
    """Whether the block was begun and neither finished nor broken."""
    states = {trial.state for trial in block}
    return not _is_broken(block) and (
        bool(states.intersection(_UNFINISHED)) or len(states) > 1 or states == {TrialState.FAILED}
    )


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
