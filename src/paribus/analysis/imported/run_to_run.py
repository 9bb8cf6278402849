"""Variation between equal runs of an imported set: from its repetitions, from its own comparisons, or assumed.

In: the trials of a set. Out: a standard deviation of log ratios, and where it is from.
"""

import itertools
import math
import statistics
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from paribus.analysis.imported import matched_runs
from paribus.analysis.paired.effects import Summaries, counting
from paribus.model import Factor, Plan, Trial, TrialState, VariationSource
from paribus.stats.location import locate
from paribus.stats.unpaired import RUN_TO_RUN_SD
from paribus.units import LoadLevel

_LEAST = 0.01  # two runs of one afternoon know nothing of the next day
_FEWEST_FREEDOM = 8.0
_FEWEST_COMPARISONS = 10
_FEWEST_LEVELS = 3
_OF_NORMAL = 0.6745  # the median of a normal error's size, in its standard deviations
_UPPER = 1.5  # estimates of so few comparisons are that much too small at times


@dataclass(frozen=True, slots=True)
class RunToRun:
    """Standard deviation of the log of equal runs, and its source."""

    deviation: float
    source: VariationSource


ASSUMED = RunToRun(RUN_TO_RUN_SD, "assumed")


def run_to_run(plan: Plan, trials: Sequence[Trial], summaries: Summaries, limited: Collection[int]) -> RunToRun:
    """Return the variation of a set's equal runs.

    Repetitions come first. Without them half of the comparisons of a set are taken to be without effect: the median
    of their sizes is then that of chance. Where more have one it is too large, so it is at most twice what is assumed
    without any. Trials that ran at a limit are left out, since a limit makes equal what would differ.
    """
    done = [trial for trial in counting(trials) if trial.state is TrialState.DONE and trial.order not in limited]
    variance, freedom = _of_repetitions(plan, done, summaries)
    if freedom >= _FEWEST_FREEDOM:
        return RunToRun(max(_LEAST, math.sqrt(variance)), "repetitions")
    sizes = _sizes(plan, done, summaries)
    if len(sizes) >= _FEWEST_COMPARISONS:
        deviation = _UPPER * statistics.median(sizes) / _OF_NORMAL / math.sqrt(2)
        return RunToRun(min(max(_LEAST, deviation), 2 * RUN_TO_RUN_SD), "comparisons")
    return ASSUMED


def _of_repetitions(plan: Plan, trials: Sequence[Trial], summaries: Summaries) -> tuple[float, float]:
    """The pooled variance of the logs of equal runs, and its degrees of freedom, those of whole runs."""
    responses = {workload.name: workload.response for workload in plan.workloads}
    equal: dict[tuple[str, LoadLevel, str, matched_runs.Context], list[float]] = defaultdict(list)
    for trial in trials:
        figure = summaries.get(trial.order, {}).get(responses.get(trial.workload, ""))
        if figure is not None and 0 < figure.mean < math.inf:
            labels = tuple(sorted((key, str(level)) for key, level in trial.settings.items()))
            equal[trial.workload, trial.load, trial.arm, labels].append(math.log(figure.mean))
    groups = {key: logs for key, logs in equal.items() if len(logs) > 1}
    cells = sum(len(logs) - 1 for logs in groups.values())
    squares = sum(statistics.variance(logs) * (len(logs) - 1) for logs in groups.values())
    runs: dict[object, int] = defaultdict(int)  # by arm: what sets a run apart is in all of its load levels
    for (workload, _, arm, labels), logs in groups.items():
        runs[workload, arm, labels] = max(runs[workload, arm, labels], len(logs) - 1)
    return (squares / cells if cells else 0.0), float(sum(runs.values()))


def _sizes(plan: Plan, trials: Sequence[Trial], summaries: Summaries) -> list[float]:
    """Sizes of the differences of neighbouring levels of each factor under each workload."""
    sizes = []
    for factor, workload in itertools.product(plan.factors, plan.workloads):
        for pair in itertools.pairwise(map(str, factor.levels)):
            of_pair = Factor(key=factor.key, levels=pair, labels=pair, scope=())
            chosen = [trial for trial in trials if trial.workload == workload.name]
            chosen = [trial for trial in chosen if str(trial.settings.get(factor.key)) in pair]
            arms = matched_runs.trials_per_factor(chosen, [of_pair])
            compared, _ = matched_runs.comparisons(arms, of_pair, workload.name, workload.response, summaries, {})
            for comparison in compared:
                ratios = [level.ratio.estimate for level in comparison.matched]
                if len(ratios) >= _FEWEST_LEVELS:
                    sizes.append(abs(locate(ratios).estimate))
    return sizes
