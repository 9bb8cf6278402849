"""The pairs of a screen, with the setting of each factor in both trials of a pair."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from paribus.analysis.paired.effects import Faults, PairSeries, factors_of_screen
from paribus.model import Factor, FailureClass, Purpose, Trial
from paribus.stats.huber import Array


@dataclass(frozen=True, slots=True)
class ScreenPairs:
    """The pairs of a screen and its factors.

    `settings`, shape (n, k), holds +1 where the compared trial of a pair had a factor's second level, else -1. `faults`
    are the unusable trials by factor: in how many blocks they were at its second level, and at its first.
    """

    series: PairSeries
    factors: tuple[Factor, ...]
    settings: Array
    faults: tuple[Faults, ...]

    def first(self, n: int) -> "ScreenPairs":
        """Return the first n pairs."""
        return replace(self, series=self.series.first(n), settings=self.settings[:n])


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
    return ScreenPairs(series, varied, settings, tuple(_faults(factor, series.workload, trials) for factor in varied))


def _faults(factor: Factor, workload: str, trials: Sequence[Trial]) -> Faults:
    """The blocks of the screen in which a trial was unusable, by the level that the factor had in that trial."""
    blocks: dict[bool, set[int]] = {False: set(), True: set()}
    for trial in trials:
        is_unusable = trial.invalid_because or trial.failure not in (None, FailureClass.INTERRUPTED)
        if is_unusable and trial.purpose is Purpose.SCREEN and trial.workload == workload:
            blocks[trial.settings[factor.key] == factor.levels[1]].add(trial.block)
    both = len(blocks[False] & blocks[True])
    return Faults(baseline=len(blocks[False]) - both, compared=len(blocks[True]) - both, both=both)
