"""How far an experiment is, and how long the rest may take, from its trials alone."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from paribus.model import Purpose, Trial, TrialState

OVER = (TrialState.DONE, TrialState.INVALID, TrialState.FAILED)
UNDERWAY = (TrialState.APPLYING, TrialState.SETTLING, TrialState.MEASURING)
_NOT_COUNTED = (TrialState.SUPERSEDED, TrialState.SPARED)
_ITS_OWN_LENGTH = (Purpose.PRECONDITION, Purpose.CALIBRATE)  # they say nothing of the trials to come
_RECENT = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Trials made and counted, of these invalid or failed, those spared, and the seconds left, None: not yet known."""

    made: int
    counted: int
    unusable: int
    spared: int
    left_s: float | None

    @property
    def share(self) -> float:
        """How much of it is made, from 0 to 1."""
        return self.made / self.counted if self.counted else 0.0


def pace(trials: Sequence[Trial]) -> Pace:
    """Count the trials; the rest is as long as the latest were, with the usual time between them."""
    counted = [trial for trial in trials if trial.state not in _NOT_COUNTED]
    made = [trial for trial in counted if trial.state in OVER]
    return Pace(
        made=len(made),
        counted=len(counted),
        unusable=sum(trial.state is not TrialState.DONE for trial in made),
        spared=sum(trial.state is TrialState.SPARED for trial in trials),
        left_s=_left_s(trials, len(counted) - len(made)),
    )


def _left_s(trials: Sequence[Trial], to_do: int) -> float | None:
    if to_do == 0:
        return 0.0
    spans = sorted((t.started, t.ended) for t in trials if t.purpose not in _ITS_OWN_LENGTH and t.started and t.ended)
    latest = spans[-_RECENT:]
    if not latest:
        return None
    length = statistics.fmean(ended - started for started, ended in latest)
    between = [max(0.0, after[0] - before[1]) for before, after in pairwise(latest)]
    return to_do * (length + (statistics.median(between) if between else 0.0))  # an interruption is not usual


def sign(trials: Sequence[Trial]) -> tuple[float, float]:
    """When trials last told of themselves, seconds since the epoch, and how long one took at most."""
    told = (moment for trial in trials for moment in (trial.started, trial.applied, trial.ended) if moment)
    return max(told, default=0.0), max((trial.took_s for trial in trials), default=0.0)


def may_be_cut_off(last: float, longest_s: float, trial_s: float, now: float) -> bool:
    """Whether a running experiment that was last heard of then is silent for longer than its trials give reason for."""
    return now - last > 120 + 3 * max(longest_s, trial_s)
