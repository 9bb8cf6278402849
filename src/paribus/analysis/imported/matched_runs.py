"""Pairs of imported runs at matching load levels and labels."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from paribus.analysis.paired.effects import Summaries, counting
from paribus.i18n import N_, gettext
from paribus.model import RESPONSES, Factor, Measurement, Trial, TrialState
from paribus.stats.pairs import CannotJudge
from paribus.stats.unpaired import LevelRatio, Pooled, VarianceSource, compare_level, pool, pool_by_spread
from paribus.units import LoadLevel

Context = tuple[tuple[str, str], ...]
"""Labels as (name, value) pairs."""

_LOWER_IS_BETTER = "response_"


@dataclass(frozen=True, slots=True)
class MatchedLevel:
    """A load level at which an arm and its baseline were both measured, with the other labels that both have.

    `trials` holds the orders of the baseline's trials and of the arm's.
    """

    load: LoadLevel
    context: Context
    ratio: LevelRatio
    trials: tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunComparison:
    """An arm compared with its baseline under a workload, by one response.

    `unmatched` are load levels that only one of them has, `unusable` those with a figure that is not a positive number.
    `whole_runs` compares the means of whole runs, where all levels are repeated alike: what sets a run apart, such as
    the start of its server, is in all of its levels.
    """

    factor: str
    baseline: str
    arm: str
    workload: str
    response: str
    matched: tuple[MatchedLevel, ...]
    unmatched: tuple[LoadLevel, ...]
    unusable: tuple[LoadLevel, ...]
    whole_runs: LevelRatio | None = None

    @property
    def variance_source(self) -> VarianceSource:
        """The best source of the error that a level has."""
        sources = {level.ratio.variance_source for level in self.matched}
        return "repetitions" if "repetitions" in sources else "lines" if sources == {"lines"} else "nothing"

    @property
    def judged(self) -> tuple[MatchedLevel, ...]:
        """The levels that the verdict is based on: the repeated ones where there are any."""
        return tuple(
            level for level in self.matched if self.variance_source in (level.ratio.variance_source, "nothing")
        )


def trials_per_factor(trials: Sequence[Trial], factors: Sequence[Factor]) -> list[Trial]:
    """Return every trial once for each varying factor, with its level as the arm; once at all where none varies."""
    varying = [factor.key for factor in factors if len(factor.levels) > 1]
    first_levels = {factor.key: str(factor.levels[0]) for factor in factors}
    result = []
    for trial in trials:
        for key in [key for key in varying if key in trial.settings] or [trial.factor]:
            arm = str(trial.settings.get(key, trial.arm))
            result.append(replace(trial, factor=key, arm=arm, baseline=arm == first_levels.get(key)))
    return result


def comparisons(
    trials: Sequence[Trial],
    factor: Factor,
    workload: str,
    response: str,
    summaries: Summaries,
    courses: Mapping[int, Measurement],
) -> tuple[list[RunComparison], list[str]]:
    """Compare every arm that has trials with the factor's first level.

    Args:
        trials: Trials of this factor and workload.
        factor: The factor.
        workload: Workload name.
        response: The compared metric.
        summaries: Measurements by trial and metric.
        courses: Time series of the response by trial.

    Returns:
        (comparisons, messages on arms without a matching figure of the baseline).
    """
    trials_at: dict[tuple[LoadLevel, Context], dict[str, list[Trial]]] = defaultdict(dict)
    for trial in counting(trials):
        if trial.state is TrialState.DONE and response in summaries.get(trial.order, {}):
            trials_at[trial.load, _context(trial, without=factor.key)].setdefault(trial.arm, []).append(trial)
    baseline = str(factor.levels[0])
    result, messages = [], []
    for arm in [
        str(level)
        for level in factor.levels[1:]
        if any(str(level) in trials_by_arm for trials_by_arm in trials_at.values())
    ]:
        matched, unusable = [], []
        for (load, context), arms in sorted(trials_at.items(), key=lambda item: (item[0][0], item[0][1])):
            if baseline not in arms or arm not in arms:
                continue
            sides = (arms[baseline], arms[arm])
            try:
                ratio = _level_ratio(sides, response, summaries, courses)
            except CannotJudge:
                unusable.append(load)
                continue
            orders = tuple(tuple(trial.order for trial in side) for side in sides)
            matched.append(MatchedLevel(load, context, ratio, (orders[0], orders[1])))
        measured_loads = {load for (load, _), arms in trials_at.items() if baseline in arms or arm in arms}
        unmatched = sorted(measured_loads - {level.load for level in matched} - set(unusable))
        if not matched:
            message = N_("{factor} = {arm} under {workload} was not judged: no matching figure of {baseline}")
            messages.append(gettext(message, factor=factor.key, arm=arm, workload=workload, baseline=baseline))
            continue
        result.append(
            RunComparison(
                factor=factor.key,
                baseline=baseline,
                arm=arm,
                workload=workload,
                response=response,
                matched=tuple(matched),
                unmatched=tuple(unmatched),
                unusable=tuple(unusable),
                whole_runs=_whole_runs(matched, response, summaries),
            )
        )
    return result, messages


def unrepeated(trials: Sequence[Trial], response: str, summaries: Summaries) -> list[int]:
    """Return the unrepeated trials that measured a response; their noise shows in their time series only."""
    repetitions: dict[tuple[str, LoadLevel, str, Context], list[int]] = defaultdict(list)
    for trial in counting(trials):
        if trial.state is TrialState.DONE and response in summaries.get(trial.order, {}):
            repetitions[trial.workload, trial.load, trial.arm, _context(trial)].append(trial.order)
    return [orders[0] for orders in repetitions.values() if len(orders) == 1]


def _context(trial: Trial, without: str = "") -> Context:
    """The labels of a trial, without one of them."""
    return tuple(sorted((key, str(level)) for key, level in trial.settings.items() if key != without))


def _level_ratio(
    sides: tuple[list[Trial], list[Trial]], response: str, summaries: Summaries, courses: Mapping[int, Measurement]
) -> LevelRatio:
    values = [[summaries[trial.order][response].mean for trial in side] for side in sides]
    lines = [courses[side[0].order].points if len(side) == 1 and side[0].order in courses else () for side in sides]
    arrays = [np.asarray(points, dtype=float) if points else None for points in lines]
    return compare_level((values[0], values[1]), (arrays[0], arrays[1]))


def _whole_runs(matched: Sequence[MatchedLevel], response: str, summaries: Summaries) -> LevelRatio | None:
    """The means of runs over all levels, the n-th run of each level taken for one; None where levels differ in runs."""
    sides = []
    for side in range(2):
        runs = {len(level.trials[side]) for level in matched}
        if len(runs) > 1 or runs == {1}:
            return None
        logs = [[np.log(summaries[order][response].mean) for order in level.trials[side]] for level in matched]
        sides.append(np.exp(np.mean(logs, axis=0)))
    ratio = compare_level((list(sides[0]), list(sides[1])), (None, None))
    return ratio if ratio.variance_source == "repetitions" else None


def estimate(comparison: RunComparison) -> Pooled:
    """Return the mean over the levels, with the error that is known; for single figures, with their spread."""
    if comparison.whole_runs is not None:
        return pool([comparison.whole_runs])
    ratios = [level.ratio for level in comparison.judged]
    return pool_by_spread(ratios) if comparison.variance_source == "nothing" else pool(ratios)


def higher_is_better(response: str) -> bool:
    """Return whether higher values of a response are better."""
    definition = RESPONSES.get(response)
    return definition.higher_is_better if definition else not response.startswith(_LOWER_IS_BETTER)
