"""How each arm scales with the operations outstanding: peak, knee, law, and at which level to drive it.

In: the pairs of a comparison over several load levels. Out: a Scaling for the baseline and one for the arm.
"""

import math
from collections.abc import Container, Sequence

import numpy as np

from paribus.analysis.diagnostics.saturation import Passes, passes_of
from paribus.analysis.paired.effects import PairSeries
from paribus.findings import Estimate, Law, Scaling
from paribus.model import ArmKey
from paribus.stats import scaling, universal
from paribus.stats.pairs import CannotJudge


def scalings(one: PairSeries, margin: float, confidence: float, known: Container[ArmKey] = ()) -> list[Scaling]:
    """Of both arms; nothing of open loops, single trials an application, or too few levels. `margin` is a log ratio.

    Those that are `known` are left out.
    """
    found = passes_of(one)
    if found is None:
        return []
    trials = [tuple(sorted(pair.trials[side] for pair in one.pairs)) for side in (0, 1)]
    both = [
        described(one.factor, one.workload, arm, rounds, mine, margin, confidence)
        for arm, rounds, mine in zip((one.baseline, one.arm), found, trials, strict=True)
        if (one.factor, one.workload, arm) not in known
    ]
    return [each for each in both if each is not None]


def described(
    factor: str, workload: str, arm: str, rounds: Passes, trials: Sequence[int], margin: float, confidence: float
) -> Scaling | None:
    """Of one arm, from passes over its load levels; None where these tell nothing."""
    try:
        peak, knee = scaling.peak(rounds, confidence), scaling.knee(rounds, confidence)
    except CannotJudge:
        return None
    means = {level: float(np.mean([each[level] for each in rounds])) for level in sorted(rounds[0])}
    highest = max(means.values())
    drive = next(level for level, rate in means.items() if rate >= math.exp(-margin) * highest)
    return Scaling(
        factor=factor,
        workload=workload,
        arm=arm,
        peak_at=peak.position,
        peak_per_s=Estimate(peak.rate, peak.low, peak.high),
        knee=Estimate(knee.level, knee.low, knee.high) if knee else None,
        drive_at=drive,
        drive_share=means[drive] / highest,
        highest=max(means),
        law=_law(rounds, confidence),
        trials=tuple(trials),
    )


def _law(rounds: Passes, confidence: float) -> Law | None:
    try:
        found = universal.fit(rounds, confidence)
    except CannotJudge:
        return None
    return Law(
        contention=Estimate(*found.contention),
        coherency=Estimate(*found.coherency),
        peak_at=found.peak_at,
        miss=found.deviation,
        miss_at=found.deviation_at,
        holds=found.holds,
    )
