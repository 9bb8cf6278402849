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
"""Series of a trial over time that are drawn: title with unit, and the factor of a value."""

_MOST_POINTS = 60_000  # in a page: half a megabyte
_FEWEST = 60  # of a trial
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Choice:
    """Selection of metrics, trials and points to draw over time where not all can be drawn."""

    metrics: tuple[str, ...]
    trials: tuple[int, ...]
    points: int


def choose(orders: Sequence[int]) -> Choice:
    """Of all trials the first metrics that a page holds; where not even one is held of all, of every nth trial."""
    if not orders:
        return Choice((), (), 0)
    metrics = tuple(TIMED)[: max(1, _MOST_POINTS // (_FEWEST * len(orders)))]
    nth = math.ceil(_FEWEST * len(orders) * len(metrics) / _MOST_POINTS)
    trials = tuple(orders[::nth])[: _MOST_POINTS // (_FEWEST * len(metrics))]
    return Choice(metrics, trials, _MOST_POINTS // (len(metrics) * len(trials)))


def thinned(measurement: Measurement, max_points: int) -> Measurement:
    """With so many points at most: the lowest and highest of each part in their order, so that no extreme is lost."""
    width = math.ceil(2 * len(measurement.points) / max_points)
    if len(measurement.points) <= max_points:
        return measurement
    parts = [measurement.points[at : at + width] for at in range(0, len(measurement.points), width)]
    points = [extreme for part in parts for extreme in _extremes(part)]
    return replace(measurement, points=tuple(points), step_s=(measurement.step_s or 1.0) * width / 2)


def _extremes(part: Sequence[float]) -> tuple[float, float]:
    low, high = min(part), max(part)
    return (low, high) if part.index(low) < part.index(high) else (high, low)


def path(cells: Sequence[Cell], arms: Sequence[str], key: str) -> PathCurve | None:
    """Mean response time over throughput; None where fewer than two load levels were measured."""
    means = {(cell.arm, cell.load, cell.metric): cell for cell in cells}
    pairs = [
        (rate, means[arm, load, "response_mean_s"])
        for (arm, load, metric), rate in sorted(means.items(), key=lambda item: item[0][1])
        if metric == "throughput_per_s" and (arm, load, "response_mean_s") in means and arm in arms
    ]
    if len({rate.load for rate, _ in pairs}) < 2:
        return None
    scale = numbers.scale(MetricKind.TIME, (time.mean for _, time in pairs))
    points = [
        PathPoint(time=tables.curve_point(time, scale), rate=rate.mean)
        for rate, time in sorted(pairs, key=lambda pair: arms.index(pair[0].arm))
    ]
    return PathCurve(key=f"{key}-path", unit=scale.unit, rate_unit="/s", points=tuple(points))


def quantiles(distributions: Sequence[Distribution], arms: Sequence[str], key: str) -> QuantileCurve | None:
    """The distributions of response times; None where there are none."""
    selected = [distribution for distribution in distributions if distribution.arm in arms]
    if not selected:
        return None
    selected.sort(key=lambda distribution: (arms.index(distribution.arm), distribution.load))
    scale = numbers.scale(MetricKind.TIME, (time for distribution in selected for _, time in distribution.quantiles))
    points = [
        QuantilePoint(
            arm=distribution.arm,
            load=distribution.load,
            one_in=1 / (1 - quantile),
            value=time * scale.factor,
        )
        for distribution in selected
        for quantile, time in distribution.quantiles
        if time > 0
    ]
    return QuantileCurve(key=f"{key}-distribution", unit=scale.unit, points=tuple(points)) if points else None


def time_series(measurements: Mapping[str, Mapping[int, Measurement]], trials_done: int) -> TimeSeriesChart | None:
    """Return the chart of any trial over time; None without points.

    `measurements`: with points, by metric and trial order; `trials_done`: the number of trials of the experiment.
    """
    series = [
        _time_series(order, title, factor, measurement)
        for metric, (title, factor) in TIMED.items()
        for order, measurement in sorted(measurements.get(metric, {}).items())
        if len(measurement.points) > 1
    ]
    if not series:
        return None
    drawn_trials = len({curve.trial for curve in series})
    thin = any(
        measurement.n > len(measurement.points) > 1
        for by_trial in measurements.values()
        for measurement in by_trial.values()
    )
    notes = [
        *(
            [gettext("{n} of {all} trials are listed: the export has all", n=drawn_trials, all=trials_done)]
            if drawn_trials < trials_done
            else []
        ),
        *([gettext("each interval shows its lowest and its highest point")] if thin else []),
    ]
    return TimeSeriesChart(key="trial-course", note=gettext("; ").join(notes), series=tuple(series))


def _time_series(order: int, title: str, factor: float, measurement: Measurement) -> TrialTimeSeries:
    return TrialTimeSeries(
        trial=order,
        metric=gettext(title),
        step_s=measurement.step_s or 1.0,
        values=tuple(_rounded(measurement.points, factor)),
    )


def _rounded(values: Iterable[float], factor: float) -> Iterable[float]:
    """With as many digits as a picture shows; whole numbers without a point."""
    for value in values:
        scaled = value * factor
        if not math.isfinite(scaled) or scaled == 0:
            yield 0
            continue
        rounded = round(scaled, _DIGITS - 1 - math.floor(math.log10(abs(scaled))))
        yield int(rounded) if rounded.is_integer() else rounded
