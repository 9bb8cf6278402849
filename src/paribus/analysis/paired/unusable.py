"""Unusable trials: how often each arm had some, and the pairs that were lost to them.

An arm may cause them itself: a stall that breaks off the load, a trial in which a tool counts nothing. The pairs that
remain are then a selection. Interrupted trials are none: they are lost to whatever stopped the experiment.
"""

from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from paribus.model import ArmKey, FailureClass, Trial, arm_of
from paribus.stats.diagnostics import equal_counts_p

RunTime = tuple[float, int]
"""Position of a trial in time: its start, and its number where that is unknown."""
Attempt = tuple[int, int]
"""A block and the number of the attempt at it."""
_CHANCE = 0.25  # p of equal counts: at two to none, a selection that biases the effect shows in most experiments


@dataclass(frozen=True, slots=True)
class Faults:
    """Attempts at blocks with an unusable trial: of the baseline alone, of the compared arm alone, or of both."""

    baseline: int = 0
    compared: int = 0
    both: int = 0

    @classmethod
    def of(cls, baseline: Collection[Attempt], compared: Collection[Attempt]) -> "Faults":
        """Return the counts of the attempts with an unusable trial of each arm."""
        both = len(set(baseline) & set(compared))
        return cls(len(baseline) - both, len(compared) - both, both)


def is_unusable(trial: Trial) -> bool:
    """Return whether a trial was invalid or failed, whether or not it was rerun."""
    return bool(trial.invalid_because) or trial.failure not in (None, FailureClass.INTERRUPTED)


def unusable_attempts(trials: Iterable[Trial]) -> Mapping[ArmKey, dict[Attempt, RunTime]]:
    """Return the attempts at blocks in which an arm had an unusable trial, and when that ran."""
    attempts: dict[ArmKey, dict[Attempt, RunTime]] = defaultdict(dict)
    for trial in trials:
        if is_unusable(trial):
            attempts[arm_of(trial)][trial.block, trial.attempt] = trial.started or 0.0, trial.order
    return attempts


def lost_before(
    baseline: Mapping[Attempt, RunTime], compared: Mapping[Attempt, RunTime], ended: Sequence[RunTime]
) -> list[tuple[int, int]]:
    """Return how many pairs were lost between each pair and the one before: to the baseline, and to the compared arm.

    An attempt in which both had an unusable trial is not counted, nor is one after the last pair.

    Args:
        baseline: Attempts with an unusable trial of the baseline.
        compared: Attempts with an unusable trial of the compared arm.
        ended: When the last trial of each pair ran, in order.
    """
    lost = [
        Counter(bisect(ended, arm[attempt]) for attempt in arm.keys() - other.keys())
        for arm, other in ((baseline, compared), (compared, baseline))
    ]
    return [(lost[0][number], lost[1][number]) for number in range(len(ended))]


def worse_lost(baseline: int, compared: int) -> int:
    """Return how many pairs one arm lost more than the other; 0 where that may be chance: fewer than two to none.

    Args:
        baseline: Pairs lost to unusable trials of the baseline alone.
        compared: Pairs lost to those of the compared arm alone.

    Example:
        >>> worse_lost(0, 2), worse_lost(0, 1), worse_lost(3, 5)
        (2, 0, 0)
    """
    return abs(compared - baseline) if equal_counts_p(baseline, compared) <= _CHANCE else 0
