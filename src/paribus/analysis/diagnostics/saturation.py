"""Whether changing a factor moved the peak of throughput, or the knee where more load only waits longer.

In: the pairs of a comparison over several load levels. Out: sentences beside its verdict, which they do not change.
"""

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


def passes_of(one: PairSeries) -> tuple[Passes, Passes] | None:
    """Passes over all load levels with each arm; None of open loops, single trials an application, or too few."""
    by_load: dict[LoadLevel, list[Pair]] = defaultdict(list)
    for pair in one.pairs:
        by_load[pair.load].append(pair)
    closed = all(load.unit is LoadUnit.OUTSTANDING for load in by_load)
    if one.response != "throughput_per_s" or one.split or not closed or len(by_load) < _FEWEST_LEVELS:
        return None
    passes = list(zip(*by_load.values(), strict=False))  # each load level once, of pairs in the order they were made
    if len(passes) < _FEWEST_PASSES:
        return None
    baseline: Passes = [{pair.load.n: pair.baseline for pair in one_pass} for one_pass in passes]
    compared: Passes = [{pair.load.n: pair.compared for pair in one_pass} for one_pass in passes]
    return baseline, compared


def saturation(one: PairSeries, confidence: float) -> list[str]:
    """What is known of peak and knee, where passes are."""
    passes = passes_of(one)
    if passes is None:
        return []
    baseline, compared = passes
    try:
        return [_peak(baseline, compared, confidence), *_knee(one, baseline, compared, confidence)]
    except CannotJudge:
        return []


def _peak(baseline: Passes, compared: Passes, confidence: float) -> str:
    found = scaling.peak_ratio(baseline, compared, confidence)
    interval = f"{show_percent(found.estimate)} [{show_percent(found.low)}, {show_percent(found.high)}]"
    before, now = found.peak_levels
    said = N_("not judged, the peak: {interval}, at {now} outstanding")
    if before != now:
        said = N_("not judged, the peak: {interval}, at {now} outstanding instead of {before}")
    return gettext(said, interval=interval, now=now, before=before)


def _knee(one: PairSeries, baseline: Passes, compared: Passes, confidence: float) -> list[str]:
    knees = [scaling.knee(rounds, confidence) for rounds in (baseline, compared)]
    if None in knees:
        names = [name for name, knee in zip((one.baseline, one.arm), knees, strict=True) if knee is None]
        most = max(itertools.chain(*baseline))
        said = N_("the knee lies beyond {n} outstanding with {arm}")
        return [gettext(said, n=most, arm=names[0])] if len(names) == 1 else []
    found = scaling.knee_ratio(baseline, compared, confidence)
    times = f"x{math.exp(found.estimate):.2f} [{math.exp(found.low):.2f}, {math.exp(found.high):.2f}]"
    before, now = (f"{knee.level:.3g}" for knee in knees if knee)
    if found.low > 0 or found.high < 0:
        said = N_("not judged, the knee moved from {before} to {now} outstanding, {times}")
    else:
        said = N_("whether the knee moved is not shown: {before} to {now} outstanding, {times}")
    return [gettext(said, before=before, now=now, times=times)]
