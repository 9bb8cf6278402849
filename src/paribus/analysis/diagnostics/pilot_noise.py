"""Noise of a comparison as its first pairs show it, beside the effects of what is compared."""

import math
from collections.abc import Sequence

from paribus.analysis.diagnostics.noise import KEEPS_S, stack_of
from paribus.analysis.paired.effects import PairSeries, Summaries, pair_series
from paribus.analysis.paired.questions import arrays
from paribus.analysis.screening.screen_pairs import screen_pairs_of
from paribus.model import Calibration, Plan, Purpose, Trial, Workload
from paribus.stats import screen
from paribus.stats.huber import Regression, huber
from paribus.stats.levels import design
from paribus.stats.pairs import CannotJudge


def pilot_calibrations(
    trials: Sequence[Trial], summaries: Summaries, workload: Workload, plan: Plan, host: str, now: float
) -> list[Calibration]:
    """Return the noise of a pair, the same for each load level; nothing where too few pairs show it.

    Few pairs at each level cannot tell levels apart. An effect that differs between them counts as noise.

    Args:
        trials: Trials of one comparison.
        summaries: Measurements by trial and metric.
        workload: The workload of the comparison.
        plan: The plan with its factors.
        host: Digest of the machine.
        now: UTC seconds of the calibration.
    """
    all_series = pair_series(
        trials, summaries, {workload.name: workload.response}, (Purpose.COMPARE, Purpose.SCREEN, Purpose.CONFIRM)
    )
    fits = [fitted for series in all_series if (fitted := _fit(series, trials, plan)) is not None]
    freedom = sum(fitted.freedom for fitted in fits)
    if not freedom:
        return []
    variance = sum(fitted.residual_sd**2 * fitted.freedom for fitted in fits) / freedom
    return [
        Calibration(
            host=host,
            workload=stack_of(workload, plan.protocol),
            load=load,
            settle_s=plan.protocol.settle_s,
            pair_sd=math.sqrt(variance),
            made=now,
            expires=now + KEEPS_S,
            freedom=max(1, freedom // len(workload.levels)),
        )
        for load in workload.levels
    ]


def _fit(series: PairSeries, trials: Sequence[Trial], plan: Plan) -> Regression | None:
    """The fitted differences of a comparison's pairs; None where they show no noise."""
    try:
        pairs = arrays(series)
        if series.purpose is not Purpose.SCREEN:
            return huber(pairs.difference, design(pairs.order))
        settings = screen_pairs_of(series, trials, plan.factors).settings
        return screen.fit(pairs.difference, settings, pairs.order)
    except (CannotJudge, ValueError):
        return None
