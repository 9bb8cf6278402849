"""Cost of a crash with the settings of each arm: time to start again, and lost commits."""

import math
from collections.abc import Sequence

from paribus.analysis.paired.effects import Summaries
from paribus.findings import ArmRecovery, Estimate
from paribus.model import COMPARING, Trial, TrialState
from paribus.stats.pairs import mean_interval


def recoveries(trials: Sequence[Trial], summaries: Summaries, confidence: float) -> tuple[ArmRecovery, ...]:
    """Return the crashes of every arm under every workload; none where no server was killed.

    The mean is geometric, with the t interval of the logarithms.
    """
    by_arm: dict[tuple[str, str, str], list[int]] = {}
    for trial in trials:
        counts = trial.purpose in COMPARING and trial.state is TrialState.DONE
        if counts and "recovery_s" in summaries.get(trial.order, {}):
            by_arm.setdefault((trial.factor, trial.arm, trial.workload), []).append(trial.order)
    return tuple(_of_arm(*arm, orders, summaries, confidence) for arm, orders in by_arm.items())


def _of_arm(
    factor: str, arm: str, workload: str, orders: Sequence[int], summaries: Summaries, confidence: float
) -> ArmRecovery:
    def values(metric: str) -> list[float]:
        return [summaries[order][metric].mean for order in orders]

    mean, low, high = mean_interval([math.log(value) for value in values("recovery_s")], confidence)
    ends = (None if end is None else math.exp(end) for end in (low, high))
    return ArmRecovery(
        factor=factor,
        arm=arm,
        workload=workload,
        restart_s=Estimate(math.exp(mean), *ends),
        acknowledged=int(sum(values("acknowledged_commits"))),
        lost=int(sum(values("lost_commits"))),
        trials=tuple(orders),
    )
