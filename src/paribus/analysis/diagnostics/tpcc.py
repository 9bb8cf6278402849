"""TPC-C by arm: New-Orders per minute, the mix that was driven, and the response times of each kind."""

import math
from collections.abc import Mapping, Sequence

from paribus.analysis.diagnostics.event_phases import compared_trials
from paribus.analysis.paired.effects import Summaries
from paribus.findings import ArmTpcc, Estimate, KindFigures
from paribus.model import NEW_ORDERS, TPCC_KINDS, TRANSACTIONS_OF, Measurement, Trial
from paribus.stats.pairs import mean_interval

_LIMITS_S = {"stock_level": 20.0}
_LIMIT_S = 5.0
"""Clause 5.2.5.3 of TPC-C, revision 5.11: the 90th percentiles at most."""


def tpcc_figures(trials: Sequence[Trial], summaries: Summaries, confidence: float) -> tuple[ArmTpcc, ...]:
    """Return the figures of every arm under every TPC-C workload at every load level.

    Means are geometric, with the t interval of the logarithms; trials are the unit.

    Args:
        trials: All trials of an experiment.
        summaries: Measurements by trial and metric.
        confidence: Coverage of the intervals.
    """
    by_arm: dict[tuple[str, str, str, object], list[Trial]] = {}
    for trial in compared_trials(trials):
        if NEW_ORDERS in summaries.get(trial.order, {}):
            by_arm.setdefault((trial.factor, trial.arm, trial.workload, trial.load), []).append(trial)
    return tuple(_of_arm(of_arm, summaries, confidence) for of_arm in by_arm.values())


def _of_arm(trials: Sequence[Trial], summaries: Summaries, confidence: float) -> ArmTpcc:
    first, measured = trials[0], [summaries[trial.order] for trial in trials]
    rates = {kind: sum(_values(f"{of_kind}_per_s", measured)) for kind, of_kind in TRANSACTIONS_OF.items()}
    kinds = []
    for kind in TPCC_KINDS:
        if p90s_s := _values(f"{kind}_p90_s", measured):
            kinds.append(
                KindFigures(
                    kind=kind,
                    share=rates[kind] / sum(rates.values()),
                    p90_s=_mean(p90s_s, confidence),
                    limit_s=_LIMITS_S.get(kind, _LIMIT_S),
                )
            )
    return ArmTpcc(
        factor=first.factor,
        arm=first.arm,
        workload=first.workload,
        load=first.load,
        new_orders_per_minute=_mean([60 * rate for rate in _values(NEW_ORDERS, measured)], confidence),
        kinds=tuple(kinds),
        skipped=int(sum(_values("skipped_deliveries", measured))),
        lost=int(sum(_values("lost_new_orders", measured))) if _values("outage_s", measured) else None,
        trials=tuple(trial.order for trial in trials),
    )


def _values(metric: str, measured: Sequence[Mapping[str, Measurement]]) -> list[float]:
    return [metrics[metric].mean for metrics in measured if metric in metrics and metrics[metric].mean > 0]


def _mean(values: Sequence[float], confidence: float) -> Estimate:
    """The geometric mean of positive values, with its interval; 0 of none."""
    if not values:
        return Estimate(0.0, None, None)
    mean, low, high = mean_interval([math.log(value) for value in values], confidence)
    return Estimate(math.exp(mean), None if low is None else math.exp(low), None if high is None else math.exp(high))
