"""From cells, distributions and series to curves: over load levels, over throughput, over percentiles, over time.

In: what was measured. Out: curves in one unit each. Called by the view.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from paribus.findings import Distribution
from paribus.i18n import N_, gettext
from paribus.model import Cell, Measurement
from paribus.report.sections import tables
from paribus.report.view import numbers
from paribus.report.view.curve_models import (
    PathCurve,
    PathPoint,
    QuantileCurve,
    QuantilePoint,
    TimeSeriesChart,
    TrialTimeSeries,
)
from paribus.report.view.numbers import MetricKind

TIMED = {
    "throughput_per_s": (N_("throughput, /s"), 1.0),
    "response_p95_s": (N_("p95 response time, ms"), 1e3),
    "device_utilisation": (N_("device busy, %"), 100.0),
    "cpu_user_share": (N_("processors in user mode, %"), 100.0),
    "cpu_system_share": (N_("processors in system mode, %"), 100.0),
    "cpu_iowait_share": (N_("processors waiting for I/O, %"), 100.0),
}
"""What is drawn of a trial over time: title with unit, and what a value is multiplied by."""

_MOST_POINTS = 60_000  # in a page: half a megabyte
_FEWEST = 60  # of a trial
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Choice:
    """What is drawn over time where not all can be: which metrics, of which trials, in how many points at most."""

    metrics: tuple[str, ...]
    trials: tuple[int, ...]
    points: int


def choose(made: Sequence[int]) -> Choice:
    """Of all trials the first metrics that a page holds; where not even one is held of all, of every nth trial."""
    if not made:
        return Choice((), (), 0)
    metrics = tuple(TIMED)[: max(1, _MOST_POINTS // (_FEWEST * len(made)))]
    nth = math.ceil(_FEWEST * len(made) * len(metrics) / _MOST_POINTS)
    trials = tuple(made[::nth])[: _MOST_POINTS // (_FEWEST * len(metrics))]
    return Choice(metrics, trials, _MOST_POINTS // (len(metrics) * len(trials)))


def thinned(course: Measurement, most: int) -> Measurement:
    """With so many points at most: the lowest and highest of each part in their order, so that no extreme is lost."""
    each = math.ceil(2 * len(course.points) / most)
    if len(course.points) <= most:
        return course
    parts = [course.points[at : at + each] for at in range(0, len(course.points), each)]
    kept = [one for part in parts for one in _extremes(part)]
    return replace(course, points=tuple(kept), step_s=(course.step_s or 1.0) * each / 2)


def _extremes(part: Sequence[float]) -> tuple[float, float]:
    low, high = min(part), max(part)
    return (low, high) if part.index(low) < part.index(high) else (high, low)


def path(cells: Sequence[Cell], arms: Sequence[str], key: str) -> PathCurve | None:
    """Mean response time over throughput; None where fewer than two load levels were measured."""
    means = {(cell.arm, cell.load, cell.metric): cell for cell in cells}
    known = [
        (rate, means[arm, load, "response_mean_s"])
        for (arm, load, metric), rate in sorted(means.items(), key=lambda item: item[0][1])
        if metric == "throughput_per_s" and (arm, load, "response_mean_s") in means and arm in arms
    ]
    if len({rate.load for rate, _ in known}) < 2:
        return None
    scale = numbers.scale(MetricKind.TIME, (time.mean for _, time in known))
    points = [
        PathPoint(time=tables.curve_point(time, scale), rate=rate.mean)
        for rate, time in sorted(known, key=lambda pair: arms.index(pair[0].arm))
    ]
    return PathCurve(key=f"{key}-path", unit=scale.unit, rate_unit="/s", points=tuple(points))


def quantiles(found: Sequence[Distribution], arms: Sequence[str], key: str) -> QuantileCurve | None:
    """The distributions of response times; None where there are none."""
    mine = sorted((one for one in found if one.arm in arms), key=lambda one: (arms.index(one.arm), one.load))
    if not mine:
        return None
    scale = numbers.scale(MetricKind.TIME, (time for one in mine for _, time in one.quantiles))
    points = [
        QuantilePoint(
            arm=one.arm,
            load=one.load,
            one_in=1 / (1 - quantile),
            value=time * scale.factor,
        )
        for one in mine
        for quantile, time in one.quantiles
        if time > 0
    ]
    return QuantileCurve(key=f"{key}-distribution", unit=scale.unit, points=tuple(points)) if points else None


def courses(series: Mapping[str, Mapping[int, Measurement]], made: int) -> TimeSeriesChart | None:
    """Trials over time, by metric, of as many as were `made`. None where nothing has a course."""
    found = [
        _course(order, title, factor, one)
        for metric, (title, factor) in TIMED.items()
        for order, one in sorted(series.get(metric, {}).items())
        if len(one.points) > 1
    ]
    if not found:
        return None
    drawn = len({course.trial for course in found})
    thin = any(one.n > len(one.points) > 1 for mine in series.values() for one in mine.values())
    left_out = [
        *([gettext("{n} of {all} trials are here: export has all", n=drawn, all=made)] if drawn < made else []),
        *([gettext("of each stretch the lowest and the highest point is drawn")] if thin else []),
    ]
    return TimeSeriesChart(key="trial-course", note=gettext("; ").join(left_out), courses=tuple(found))


def _course(order: int, title: str, factor: float, one: Measurement) -> TrialTimeSeries:
    return TrialTimeSeries(
        trial=order, metric=gettext(title), step_s=one.step_s or 1.0, values=tuple(_rounded(one.points, factor))
    )


def _rounded(values: Iterable[float], factor: float) -> Iterable[float]:
    """With as many digits as a picture shows; whole numbers without a point."""
    for value in values:
        scaled = value * factor
        if not math.isfinite(scaled) or scaled == 0:
            yield 0
            continue
        shown = round(scaled, _DIGITS - 1 - math.floor(math.log10(abs(scaled))))
        yield int(shown) if shown.is_integer() else shown
