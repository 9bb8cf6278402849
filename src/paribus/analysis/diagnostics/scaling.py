"""Scaling of each arm with the outstanding operations: peak, knee, scalability law, and the level to use."""

import math
from collections.abc import Container, Sequence

import numpy as np

from paribus.analysis.diagnostics.saturation import Passes, passes_of
from paribus.analysis.paired.effects import PairSeries
from paribus.findings import Estimate, Law, Scaling
from paribus.model import ArmKey
from paribus.stats import scaling, universal
from paribus.stats.pairs import CannotJudge


def scalings(
    series: PairSeries, margin: float, confidence: float, described_arms: Container[ArmKey] = ()
) -> list[Scaling]:
    """Return the scaling of both arms of a comparison; empty where `passes_of` gives no passes.

    Args:
        series: The pairs of the comparison.
        margin: Largest loss of throughput at the level to use, a log ratio.
        confidence: Coverage of the intervals.
        described_arms: Arms to leave out.
    """
    passes = passes_of(series)
    if passes is None:
        return []
    trials = [tuple(sorted(order for pair in series.pairs for order in pair.sides[side])) for side in (0, 1)]
    results = [
        described(series.factor, series.workload, arm, rounds, arm_trials, margin, confidence)
        for arm, rounds, arm_trials in zip((series.baseline, series.arm), passes, trials, strict=True)
        if (series.factor, series.workload, arm) not in described_arms
    ]
    return [result for result in results if result is not None]


def described(
    factor: str, workload: str, arm: str, rounds: Passes, trials: Sequence[int], margin: float, confidence: float
) -> Scaling | None:
    """Return the scaling of one arm from passes over its load levels; None where they have no peak.

    Args:
        factor: Factor of the arm.
        workload: Workload name.
        arm: Arm name.
        rounds: Rate by level, one mapping per pass.
        trials: The trials behind them.
        margin: Largest loss of throughput at the level to use, a log ratio.
        confidence: Coverage of the intervals.
    """
    try:
        peak, knee = scaling.peak(rounds, confidence), scaling.knee(rounds, confidence)
    except CannotJudge:
        return None
    means = {level: float(np.mean([rates[level] for rates in rounds])) for level in sorted(rounds[0])}
    highest = max(means.values())
    level_to_use = next(level for level, rate in means.items() if rate >= math.exp(-margin) * highest)
    return Scaling(
        factor=factor,
        workload=workload,
        arm=arm,
        peak_at=peak.position,
        peak_per_s=Estimate(peak.rate, peak.low, peak.high),
        knee=Estimate(knee.level, knee.low, knee.high) if knee else None,
        drive_at=level_to_use,
        drive_share=means[level_to_use] / highest,
        highest=max(means),
        law=_law(rounds, confidence),
        trials=tuple(trials),
    )


def _law(rounds: Passes, confidence: float) -> Law | None:
    try:
        fit = universal.fit(rounds, confidence)
    except CannotJudge:
        return None
    return Law(
        contention=Estimate(*fit.contention),
        coherency=Estimate(*fit.coherency),
        peak_at=fit.peak_at,
        miss=fit.deviation,
        miss_at=fit.deviation_at,
        holds=fit.holds,
    )
