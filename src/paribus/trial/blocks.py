"""The next block, from the stored trials alone: a first run and a resumed one share one path."""

import dataclasses
import itertools
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from enum import IntEnum

from paribus.model import COMPARING, ArmKey, FailureClass, Purpose, Trial, TrialState, arm_of, arms_given_up

MOST_RERUNS = 2
_UNFINISHED = (TrialState.APPLYING, TrialState.SETTLING, TrialState.MEASURING)


def next_block(trials: Sequence[Trial], decided: Collection[ArmKey] = ()) -> list[Trial] | None:
    """The trials of the next block, as stored, or None when there is nothing left to run.

    `decided` arms need no more trials: a block in which only such a trial is invalid is not run again.

    While a block is left, data is preconditioned first, one data set at a time until it is done: without it the other
    trials would measure something else. A trial whose baseline the machine refuses is not repeated.
    """
    block = _next_compared([trial for trial in trials if trial.purpose is not Purpose.PRECONDITION], decided)
    undone = [t for t in _preconditioning(trials) if t.state is not TrialState.DONE]
    pending = [trial for trial in undone if trial.failure is not FailureClass.SETTING_REJECTED]
    return pending[:1] if block and pending else block


def _preconditioning(trials: Sequence[Trial]) -> list[Trial]:
    return [t for t in trials if t.purpose is Purpose.PRECONDITION and t.state is not TrialState.SUPERSEDED]


def lost_preconditioning(trials: Sequence[Trial], decided: Collection[ArmKey] = ()) -> list[Trial]:
    """The preconditioning trials whose data was lost when the bench was left, or will be made anew.

    Empty where no remaining block needs them.
    """
    begun = [trial for trial in _preconditioning(trials) if trial.state is not TrialState.PLANNED]
    return begun if next_block(trials, decided) else []


def _next_compared(trials: Sequence[Trial], decided: Collection[ArmKey]) -> list[Trial] | None:
    """The next block of the trials that measure.

    Within a round, an interrupted block comes first, then blocks not yet tried. Blocks with an invalid or failed trial
    come last, each at most twice more. Blocks with too few remaining arms are skipped.
    """
    blocks = _blocks_in_use(trials)
    turns = _turns(blocks, trials, decided)
    waiting = [(blocks[n][0].round, turn, n) for n, turn in turns.items() if turn is not None]
    return sorted(blocks[min(waiting)[2]], key=lambda trial: trial.position) if waiting else None


def trials_to_run(trials: Sequence[Trial], decided: Collection[ArmKey] = ()) -> list[Trial]:
    """The trials of all blocks that `next_block` has yet to return, without preconditioning."""
    measuring = [trial for trial in trials if trial.purpose is not Purpose.PRECONDITION]
    blocks = _blocks_in_use(measuring)
    waiting = {number for number, turn in _turns(blocks, measuring, decided).items() if turn is not None}
    left_out = arms_given_up(trials).union(decided)
    return [trial for number in waiting for trial in blocks[number] if arm_of(trial) not in left_out]


def blocks_over(trials: Sequence[Trial], decided: Collection[ArmKey] = ()) -> dict[tuple[str, str], int]:
    """By factor and workload, the number of leading blocks of the comparison that will not be tried again."""
    blocks = _blocks_in_use([trial for trial in trials if trial.purpose in COMPARING])
    turns = _turns(blocks, trials, decided)
    turns_by_comparison: dict[tuple[str, str], list[_Turn | None]] = defaultdict(list)
    for number in sorted(blocks):
        turns_by_comparison[blocks[number][0].factor, blocks[number][0].workload].append(turns[number])
    return {
        comparison: len(list(itertools.takewhile(lambda turn: turn is None, comparison_turns)))
        for comparison, comparison_turns in turns_by_comparison.items()
    }


class _Turn(IntEnum):
    """The order in which the blocks of a round are run."""

    INTERRUPTED = 1
    FRESH = 2
    BROKEN = 3


def _blocks_in_use(trials: Sequence[Trial]) -> dict[int, list[Trial]]:
    """The trials of each block that were neither superseded nor spared."""
    blocks: dict[int, list[Trial]] = defaultdict(list)
    for trial in trials:
        if trial.state not in (TrialState.SUPERSEDED, TrialState.SPARED):
            blocks[trial.block].append(trial)
    return blocks


def _turns(
    blocks: Mapping[int, Sequence[Trial]], trials: Sequence[Trial], decided: Collection[ArmKey]
) -> dict[int, _Turn | None]:
    """Return the turn of each block; None where it is over."""
    left_out = arms_given_up(trials).union(decided)
    attempts: dict[int, set[int]] = defaultdict(set)
    for trial in trials:
        is_failed_attempt = trial.invalid_because or trial.failure not in (None, FailureClass.INTERRUPTED)
        if trial.state is TrialState.SUPERSEDED and is_failed_attempt:
            attempts[trial.block].add(trial.attempt)
    due: dict[int, _Turn | None] = {}
    for number, block in blocks.items():
        remaining = [trial for trial in block if arm_of(trial) not in left_out]
        arms = [{arm_of(trial) for trial in part} for part in (remaining, block)]
        due[number] = _turn(remaining, len(attempts[number])) if len(arms[0]) >= min(2, len(arms[1])) else None
    return due


def _turn(block: Sequence[Trial], attempts: int) -> _Turn | None:
    if _is_interrupted(block):
        return _Turn.INTERRUPTED
    if all(trial.state is TrialState.PLANNED for trial in block):
        return _Turn.FRESH
    return _Turn.BROKEN if _is_broken(block) and attempts < MOST_RERUNS else None


def _is_broken(block: Sequence[Trial]) -> bool:
    """Whether a trial of the block is invalid, or failed for a reason of its own that may not recur."""
    excluded = (FailureClass.INTERRUPTED, FailureClass.SETTING_REJECTED)
    return any(
        t.state is TrialState.INVALID or (t.state is TrialState.FAILED and t.failure not in excluded) for t in block
    )


def _is_interrupted(block: Sequence[Trial]) -> bool:
    """Whether the block was begun and neither finished nor broken."""
    if _is_broken(block):
        return False
    states = {trial.state for trial in block if trial.failure is not FailureClass.SETTING_REJECTED}
    return bool(states.intersection(_UNFINISHED)) or len(states) > 1 or states == {TrialState.FAILED}


def rerun_of(block: Sequence[Trial], last_order: int, decided: Collection[ArmKey] = ()) -> list[Trial]:
    """The same trials to run again, numbered on from the last one; empty where the block was never tried.

    Those of `decided` arms are spared.
    """
    if all(trial.state is TrialState.PLANNED for trial in block):
        return []
    return [
        dataclasses.replace(
            trial,
            order=last_order + number,
            attempt=trial.attempt + 1,
            state=TrialState.SPARED if arm_of(trial) in decided else TrialState.PLANNED,
            started=None,
            applied=None,
            ended=None,
            invalid_because=(),
            failure=None,
            failure_message="",
            supersedes=trial.order,
        )
        for number, trial in enumerate(block, start=1)
    ]
