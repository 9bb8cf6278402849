"""Cost of a crash with the settings of each arm: time to start again, lost commits, and lost flushes of a guest."""

import math
from collections.abc import Sequence

from paribus.analysis.diagnostics.event_phases import compared_trials
from paribus.analysis.paired.effects import Summaries
from paribus.findings import ArmFlushes, ArmRecovery, Estimate
from paribus.model import Trial
from paribus.stats.pairs import mean_interval


def recoveries(trials: Sequence[Trial], summaries: Summaries, confidence: float) -> tuple[ArmRecovery, ...]:
    """Return the crashes of every arm under every workload; none where no server was killed.

    The mean is geometric, with the t interval of the logarithms.
    """
    by_arm = _by_arm(trials, summaries, "acknowledged_commits")
    return tuple(_of_arm(*arm, orders, summaries, confidence) for arm, orders in by_arm.items())


def _by_arm(trials: Sequence[Trial], summaries: Summaries, metric: str) -> dict[tuple[str, str, str], list[int]]:
    """The orders of the compared trials with a metric, by factor, arm and workload."""
    by_arm: dict[tuple[str, str, str], list[int]] = {}
    for trial in compared_trials(trials):
        if metric in summaries.get(trial.order, {}):
            by_arm.setdefault((trial.factor, trial.arm, trial.workload), []).append(trial.order)
    return by_arm


def _of_arm(
    factor: str, arm: str, workload: str, orders: Sequence[int], summaries: Summaries, confidence: float
) -> ArmRecovery:
    def values(metric: str) -> list[float]:
        return [summaries[order][metric].mean for order in orders if metric in summaries[order]]

    restart_s = None
    if restarts := values("recovery_s"):
        mean, low, high = mean_interval([math.log(value) for value in restarts], confidence)
        restart_s = Estimate(math.exp(mean), *(None if end is None else math.exp(end) for end in (low, high)))
    return ArmRecovery(
        factor=factor,
        arm=arm,
        workload=workload,
        restart_s=restart_s,
        acknowledged=int(sum(values("acknowledged_commits"))),
        lost=int(sum(values("lost_commits"))),
        trials=tuple(orders),
        power_cut=bool(values("power_cut_spoilt")),
        spoilt=int(sum(values("power_cut_spoilt"))),
    )


def flushes(trials: Sequence[Trial], summaries: Summaries) -> tuple[ArmFlushes, ...]:
    """Return the flushes of every arm under every workload; none where the target is no guest."""
    by_arm = _by_arm(trials, summaries, "unwritten_bytes")
    return tuple(_flushes_of_arm(*arm, orders, summaries) for arm, orders in by_arm.items())


def _flushes_of_arm(factor: str, arm: str, workload: str, orders: Sequence[int], summaries: Summaries) -> ArmFlushes:
    unwritten = [summaries[order]["unwritten_bytes"].mean for order in orders]
    return ArmFlushes(
        factor=factor,
        arm=arm,
        workload=workload,
        flushed_bytes=sum(summaries[order]["flushed_bytes"].mean for order in orders),
        unwritten_bytes=sum(unwritten),
        exposed=sum(each > 0 for each in unwritten),
        trials=tuple(orders),
    )
