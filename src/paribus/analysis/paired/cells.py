"""Mean of each metric over the trials that count, by arm and load level."""

from collections import defaultdict
from collections.abc import Sequence

from paribus.analysis.paired.effects import Summaries, factors_of_screen, whole_blocks
from paribus.model import SERVER_STARTED, Cell, Factor, Purpose, Trial
from paribus.stats.pairs import mean_interval
from paribus.units import LoadLevel


def cells(
    trials: Sequence[Trial], summaries: Summaries, confidence: float, factors: Sequence[Factor] = ()
) -> list[Cell]:
    """Return each metric's mean over the trials that count, by arm and load level.

    A screen's factor has one cell per level, over all settings of the other factors, unless it was also compared alone.

    Args:
        trials: All trials of an experiment.
        summaries: Measurements by trial and metric.
        confidence: Coverage of the cells' intervals.
        factors: Factors of the plan; needed for screens only.
    """
    groups: dict[tuple[str, str, str, LoadLevel], list[Trial]] = defaultdict(list)
    for block in whole_blocks(trials).values():
        for trial in block:
            groups[trial.factor, trial.arm, trial.workload, trial.load].append(trial)
    compared_alone = {(factor, workload) for factor, _, workload, _ in groups}
    screened = [trial for block in whole_blocks(trials, (Purpose.SCREEN,)).values() for trial in block]
    for workload in dict.fromkeys(trial.workload for trial in screened):
        for factor in factors_of_screen(screened, workload, factors):
            for trial in screened if (factor.key, workload) not in compared_alone else ():
                if trial.workload == workload:
                    label = factor.labels[factor.levels.index(trial.settings[factor.key])]
                    groups[factor.key, label, workload, trial.load].append(trial)
    result = []
    for (name, arm, workload, load), cell_trials in groups.items():
        measured = [summaries.get(trial.order, {}) for trial in cell_trials]
        for metric in sorted(set().union(*measured) - {SERVER_STARTED}):
            values = [metrics[metric].mean for metrics in measured if metric in metrics]
            mean, low, high = mean_interval(values, confidence)
            result.append(
                Cell(
                    factor=name,
                    arm=arm,
                    workload=workload,
                    load=load,
                    metric=metric,
                    mean=mean,
                    low=low,
                    high=high,
                    trials=tuple(
                        trial.order for trial, metrics in zip(cell_trials, measured, strict=True) if metric in metrics
                    ),
                )
            )
    return result
