"""Comparisons of a running experiment before their first look: the pairs so far, which decide nothing.

In: the store, and the plan, trials and looks of an experiment as read. Out: `Preliminary`. The page of a running
experiment calls it. The intervals are those that a failed reach test shows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.engine import Engine as Store

from paribus import workloads as _workloads  # noqa: F401  registers every kind, of which a plan asks
from paribus.analysis.paired.descriptive import DescriptiveInterval, descriptive_intervals
from paribus.analysis.paired.effects import PairSeries, metrics_of_pairs, pair_series
from paribus.experiment.interim_analysis import underway
from paribus.experiment.replanning import blocks_before_first_look
from paribus.model import SINGLE, Look, Plan, Purpose, Trial, TrialState
from paribus.plan.schedule.comparisons import Comparison
from paribus.store import read

_MOST_INTERVALS = 24  # the last ones of a comparison; a look follows after fewer unless the plan has one look


@dataclass(frozen=True, slots=True, kw_only=True)
class Preliminary:
    """One arm under one workload by its deciding response, without a look so far.

    The first look follows after `first_look` units: pairs, or pairs of applications. `intervals` are those after each
    unit from the second on.
    """

    factor: str
    arm: str
    workload: str
    response: str
    purpose: Purpose
    first_look: int
    intervals: tuple[DescriptiveInterval, ...]


def preliminary(
    store: Store, experiment: str, plan: Plan, trials: Sequence[Trial], looks: Sequence[Look]
) -> list[Preliminary]:
    """Return the arms that no look has judged, in the order of the plan. Raises StoreError.

    Screens are left out: their arms are settings of several factors at once.
    """
    looked_at = {(look.factor, look.arm, look.workload, look.purpose) for look in looks}
    open_comparisons = {
        comparison.key: comparison
        for comparison in underway(plan, trials)
        if not comparison.screened and not _is_looked_at(comparison, looks)
    }
    begun = {(trial.factor, trial.workload) for trial in trials if trial.state is TrialState.DONE}
    responses = {workload.name: workload.response for workload in plan.workloads}
    own_trials = [trial for trial in trials if (trial.factor, trial.workload) in open_comparisons]
    if not own_trials:
        return []
    keys = sorted(begun & open_comparisons.keys())
    metrics = metrics_of_pairs(plan.workloads)
    summaries = read.summaries(store, experiment, metrics=metrics, comparisons=keys) if keys else {}
    return [
        Preliminary(
            factor=series.factor,
            arm=series.arm,
            workload=series.workload,
            response=series.response,
            purpose=series.purpose,
            first_look=_first_look(open_comparisons[series.factor, series.workload], series, plan),
            intervals=tuple(descriptive_intervals(series)[-_MOST_INTERVALS:]),
        )
        for series in pair_series(own_trials, summaries, responses, SINGLE)
        if (series.factor, series.arm, series.workload, series.purpose) not in looked_at
    ]


def _is_looked_at(comparison: Comparison, looks: Sequence[Look]) -> bool:
    """Whether every compared arm has a look outside of a screen."""
    arms = {
        look.arm
        for look in looks
        if look.purpose is not Purpose.SCREEN and (look.factor, look.workload) == comparison.key
    }
    return arms.issuperset(arm.label for arm in comparison.arms[1:])


def _first_look(comparison: Comparison, series: PairSeries, plan: Plan) -> int:
    """Units before the first look, of which a fixed sample has only one, at its end."""
    return series.planned if plan.protocol.method == "fixed" else blocks_before_first_look(comparison)
