"""The pairs of a screen, with the setting of each factor in both trials of a pair."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from paribus.analysis.paired.effects import PairSeries, factors_of_screen
from paribus.analysis.paired.unusable import Attempt, Faults, RunTime, is_unusable, lost_before, worse_lost
from paribus.model import Factor, Purpose, Trial
from paribus.stats.huber import Array


@dataclass(frozen=True, slots=True)
class ScreenPairs:
    """The pairs of a screen and its factors.

    `settings`, shape (n, k), holds +1 where the compared trial of a pair had a factor's second level, else -1. `faults`
    are the unusable trials by factor: in how many attempts they were at its second level, and at its first. `lost`,
    shape (n, k, 2), holds the pairs lost since the pair before at the first level of a factor, and at its second.
    """

    series: PairSeries
    factors: tuple[Factor, ...]
    settings: Array
    faults: tuple[Faults, ...]
    lost: NDArray[np.intp]

    @property
    def lost_pairs(self) -> list[int]:
        """Pairs that one level of each factor lost more than the other, beyond chance."""
        return [worse_lost(*counts) for counts in self.lost.sum(axis=0).tolist()]

    def first(self, n: int) -> "ScreenPairs":
        """Return the first n pairs."""
        return replace(self, series=self.series.first(n), settings=self.settings[:n], lost=self.lost[:n])


def screen_pairs_of(series: PairSeries, trials: Sequence[Trial], factors: Sequence[Factor]) -> ScreenPairs:
    """Return a series of pairs as a screen.

    Args:
        series: The pairs.
        trials: All trials of the experiment.
        factors: Factors of the plan.
    """
    varied = factors_of_screen(trials, series.workload, factors)
    settings_of = {trial.order: trial.settings for trial in trials}
    compared_settings = [settings_of[pair.sides[1][0]] for pair in series.pairs]
    high = [[of_pair[factor.key] == factor.levels[1] for factor in varied] for of_pair in compared_settings]
    settings = np.where(np.array(high, dtype=bool).reshape(-1, len(varied)), 1.0, -1.0)
    ran = {trial.order: (trial.started or 0.0, trial.order) for trial in trials}
    ended = [max(ran[order] for order in pair.trials) for pair in series.pairs]
    attempts = [_unusable(factor, series.workload, trials) for factor in varied]
    lost = [lost_before(first, second, ended) for first, second in attempts]
    return ScreenPairs(
        series,
        varied,
        settings,
        tuple(Faults.of(first, second) for first, second in attempts),
        np.array(lost, dtype=np.intp).reshape(len(varied), -1, 2).swapaxes(0, 1),
    )


def _unusable(
    factor: Factor, workload: str, trials: Sequence[Trial]
) -> tuple[dict[Attempt, RunTime], dict[Attempt, RunTime]]:
    """Attempts at blocks of the screen with an unusable trial at the first level of the factor, and at its second."""
    attempts: tuple[dict[Attempt, RunTime], dict[Attempt, RunTime]] = ({}, {})
    for trial in trials:
        if is_unusable(trial) and trial.purpose is Purpose.SCREEN and trial.workload == workload:
            is_second = trial.settings[factor.key] == factor.levels[1]
            attempts[is_second][trial.block, trial.attempt] = trial.started or 0.0, trial.order
    return attempts
