"""Progress of an experiment and its estimated remaining time, from its trials."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from paribus.model import Purpose, Trial, TrialState

OVER = (TrialState.DONE, TrialState.INVALID, TrialState.FAILED)
UNDERWAY = (TrialState.APPLYING, TrialState.SETTLING, TrialState.MEASURING)
_NOT_COUNTED = (TrialState.SUPERSEDED, TrialState.SPARED)
_OTHER_LENGTH = (Purpose.PRECONDITION, Purpose.CALIBRATE)  # they say nothing of the trials to come
_RECENT = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Numbers of ended, counted, unusable and spared trials, and the remaining seconds (None: not yet known)."""

    made: int
    counted: int
    unusable: int
    spared: int
    left_s: float | None

    @property
    def share(self) -> float:
        """Share of ended trials, from 0 to 1."""
        return self.made / self.counted if self.counted else 0.0


def pace(trials: Sequence[Trial]) -> Pace:
    """Count the trials; remaining ones are assumed to be as long as the latest, with the median pause between them."""
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
    spans = sorted(
        (trial.started, trial.ended)
        for trial in trials
        if trial.purpose not in _OTHER_LENGTH and trial.started and trial.ended
    )
    latest = spans[-_RECENT:]
    if not latest:
        return None
    length = statistics.fmean(ended - started for started, ended in latest)
    between = [max(0.0, following[0] - preceding[1]) for preceding, following in pairwise(latest)]
    return to_do * (length + (statistics.median(between) if between else 0.0))  # an interruption is not usual


def last_activity(trials: Sequence[Trial]) -> tuple[float, float]:
    """Time of the last event of any trial, seconds since the epoch, and the longest duration of a trial, in seconds."""
    moments = (moment for trial in trials for moment in (trial.started, trial.applied, trial.ended) if moment)
    return max(moments, default=0.0), max((trial.took_s for trial in trials), default=0.0)


def may_be_cut_off(last_event_s: float, longest_s: float, trial_s: float, now: float) -> bool:
    """Whether a running experiment has been silent for longer than its trials explain."""
    return now - last_event_s > 120 + 3 * max(longest_s, trial_s)


def is_overdue(last_event_s: float, longest_s: float, trial_s: float, now: float) -> bool:
    """Whether a running experiment is silent for longer than a trial takes, so that its owner may be looked for."""
    return now - last_event_s > 15 + 1.5 * max(longest_s, trial_s)
