"""Conversion of a run to measurements: one per metric, with its time series and histogram."""

import itertools
import math
from collections.abc import Iterator, Sequence
from functools import lru_cache

from paribus.model import Measurement
from paribus.parsers.log import LogReading, LogRun, LogSeries

PHASE = "measure"
_OWN_NAMES = {"load_average": "load_1m", "iowait_share": "cpu_iowait_share"}
"""Names of the same metrics in own experiments."""

_NANOSECONDS = 1e9
_MOST_NS = 3600 * 10**9
_MOST_COUNT = 2**48  # a log may state anything
_WITH_HISTOGRAM = "response_mean_s"


def measurements(run: LogRun) -> list[Measurement]:
    """Return each metric once: its first stated value, else the mean of its time series."""
    stated: dict[str, LogReading] = {}
    for reading in run.readings:
        stated.setdefault(_name(reading), reading)
    series_by_name = {_name(series): series for series in run.courses if series.values}
    candidates = [
        _measurement(name, stated.get(name), series_by_name.get(name), run) for name in {**stated, **series_by_name}
    ]
    return [measurement for measurement in candidates if math.isfinite(measurement.mean)]


def _name(item: LogReading | LogSeries) -> str:
    name = _OWN_NAMES.get(item.metric, item.metric)
    return f"{name}:{item.subject}" if item.subject else name


def _measurement(name: str, stated: LogReading | None, series: LogSeries | None, run: LogRun) -> Measurement:
    values = _finite(series.values) if series else ()
    mean = stated.value if stated else sum(values) / max(len(values), 1) if values else math.nan
    step_s = _step(series.at_s) if series else None
    return Measurement(
        phase=PHASE,
        metric=name,
        unit=(stated or series or run.readings[0]).unit,
        source=run.tool or "text",
        n=len(values) or 1,
        mean=mean,
        low=min(values, default=mean),
        high=max(values, default=mean),
        total=_total(name, mean, run),
        start_s=max(0.0, series.at_s[0] - step_s) if series and step_s else None,
        step_s=step_s,
        points=tuple(series.values) if series and step_s else (),
        histogram=_histogram(run) if name == _WITH_HISTOGRAM else b"",
    )


def _finite(values: Sequence[float]) -> Sequence[float]:
    """Return the finite values."""
    if math.isfinite(sum(values)):
        return values
    return [value for value in values if math.isfinite(value)]


def _total(name: str, mean: float, run: LogRun) -> float:
    """Return the total that a rate amounts to over the run, if the duration or the operations are known."""
    stated = {reading.metric: reading.value for reading in run.readings if not reading.subject}
    if name == "throughput_per_s" and "operations" in stated:
        return stated["operations"]
    return mean * stated["duration_s"] if name.endswith("_per_s") and "duration_s" in stated else mean


@lru_cache(maxsize=8)  # the time series of a run share their times
def _step(at_s: tuple[float, ...]) -> float | None:
    """Return the usual distance of points in seconds; None for irregular or fewer than two points."""
    steps = sorted(b - a for a, b in itertools.pairwise(at_s))
    if not steps or steps[0] <= 0:
        return None
    usual = steps[len(steps) // 2]
    return usual if steps[-1] < 1.5 * usual and steps[0] > 0.5 * usual else None


def _counts(run: LogRun) -> Iterator[tuple[int, int]]:
    for upper_s, count in run.histogram:
        if count > 0 and math.isfinite(upper_s) and upper_s >= 0:
            yield min(max(1, round(upper_s * _NANOSECONDS)), _MOST_NS), min(count, _MOST_COUNT)


def _histogram(run: LogRun) -> bytes:
    """Return the run's histogram in the format of own trials (HDR V2, nanoseconds)."""
    counts = list(_counts(run))
    if not counts:
        return b""
    import numpy as np

    from paribus.histogram import HdrHistogram

    values, times = np.array(counts, np.int64).T
    return HdrHistogram.of(values, times, _MOST_NS).encode()
