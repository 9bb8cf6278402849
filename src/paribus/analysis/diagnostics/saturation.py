"""Changes of the throughput peak and of the knee by a factor: sentences next to its verdict, which stays unchanged."""

import itertools
import math
from collections import defaultdict

from paribus.analysis.paired.effects import Pair, PairSeries
from paribus.i18n import N_, gettext
from paribus.stats import scaling
from paribus.stats.pairs import CannotJudge
from paribus.units import LoadLevel, LoadUnit, show_percent

_FEWEST_LEVELS = 3
_FEWEST_PASSES = 4

Passes = list[dict[int, float]]


def passes_of(series: PairSeries) -> tuple[Passes, Passes] | None:
    """Return the rates of the baseline and of the compared arm by load level, one mapping per pass over all levels.

    None for other responses than throughput, open loops, applications of several trials, or too few levels or passes.
    """
    by_load: dict[LoadLevel, list[Pair]] = defaultdict(list)
    for pair in series.pairs:
        by_load[pair.load].append(pair)
    is_closed_loop = all(load.unit is LoadUnit.OUTSTANDING for load in by_load)
    if series.response != "throughput_per_s" or series.split or not is_closed_loop or len(by_load) < _FEWEST_LEVELS:
        return None
    passes = list(zip(*by_load.values(), strict=False))  # each load level once per pass, in run order
    if len(passes) < _FEWEST_PASSES:
        return None
    baseline: Passes = [{pair.load.n: pair.baseline for pair in one_pass} for one_pass in passes]
    compared: Passes = [{pair.load.n: pair.compared for pair in one_pass} for one_pass in passes]
    return baseline, compared


def saturation(series: PairSeries, confidence: float) -> list[str]:
    """Return what the passes show of peak and knee; empty where there are none."""
    passes = passes_of(series)
    if passes is None:
        return []
    baseline, compared = passes
    try:
        return [_peak(baseline, compared, confidence), *_knee(series, baseline, compared, confidence)]
    except CannotJudge:
        return []


def _peak(baseline: Passes, compared: Passes, confidence: float) -> str:
    """The sentence on the peak."""
    ratio = scaling.peak_ratio(baseline, compared, confidence)
    interval = f"{show_percent(ratio.estimate)} [{show_percent(ratio.low)}, {show_percent(ratio.high)}]"
    baseline_level, compared_level = ratio.peak_levels
    message = N_("not judged, the peak: {interval}, at {now} outstanding")
    if baseline_level != compared_level:
        message = N_("not judged, the peak: {interval}, at {now} outstanding instead of {before}")
    return gettext(message, interval=interval, now=compared_level, before=baseline_level)


def _knee(series: PairSeries, baseline: Passes, compared: Passes, confidence: float) -> list[str]:
    """The sentence on the knee; none where both arms' knees lie beyond the levels."""
    knees = [scaling.knee(rounds, confidence) for rounds in (baseline, compared)]
    if None in knees:
        names = [name for name, knee in zip((series.baseline, series.arm), knees, strict=True) if knee is None]
        most = max(itertools.chain(*baseline))
        message = N_("the knee lies beyond {n} outstanding with {arm}")
        return [gettext(message, n=most, arm=names[0])] if len(names) == 1 else []
    ratio = scaling.knee_ratio(baseline, compared, confidence)
    factor = f"x{math.exp(ratio.estimate):.2f} [{math.exp(ratio.low):.2f}, {math.exp(ratio.high):.2f}]"
    baseline_level, compared_level = (f"{knee.level:.3g}" for knee in knees if knee)
    if ratio.low > 0 or ratio.high < 0:
        message = N_("not judged, the knee moved from {before} to {now} outstanding, {times}")
    else:
        message = N_("undetermined whether the knee moved: {before} to {now} outstanding, {times}")
    return [gettext(message, before=baseline_level, now=compared_level, times=factor)]
