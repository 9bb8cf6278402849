"""From a run to measurements: every figure that it states under one name, with its course and its histogram."""

import base64
import itertools
import math
from collections.abc import Iterator, Sequence
from functools import lru_cache

from paribus.model import Measurement
from paribus.parsers.log import LogReading, LogRun, LogSeries

PHASE = "measure"
_OURS = {"load_average": "load_1m", "iowait_share": "cpu_iowait_share"}
"""What experiments of our own call the same."""

_NANOSECONDS = 1e9
_MOST_NS = 3600 * 10**9
_WITH_HISTOGRAM = "response_mean_s"


def measurements(run: LogRun) -> list[Measurement]:
    """Each metric once: as it is first stated, else the mean of its course."""
    stated: dict[str, LogReading] = {}
    for reading in run.readings:
        stated.setdefault(_name(reading), reading)
    courses = {_name(course): course for course in run.courses if course.values}
    found = [_measurement(name, stated.get(name), courses.get(name), run) for name in {**stated, **courses}]
    return [one for one in found if math.isfinite(one.mean)]


def _name(one: LogReading | LogSeries) -> str:
    name = _OURS.get(one.metric, one.metric)
    return f"{name}:{one.subject}" if one.subject else name


def _measurement(name: str, stated: LogReading | None, course: LogSeries | None, run: LogRun) -> Measurement:
    values = _finite(course.values) if course else ()
    mean = stated.value if stated else sum(values) / max(len(values), 1) if values else math.nan
    step = _step(course.at_s) if course else None
    return Measurement(
        phase=PHASE,
        metric=name,
        unit=(stated or course or run.readings[0]).unit,
        source=run.tool or "text",
        n=len(values) or 1,
        mean=mean,
        low=min(values, default=mean),
        high=max(values, default=mean),
        total=_total(name, mean, run),
        start_s=max(0.0, course.at_s[0] - step) if course and step else None,
        step_s=step,
        points=tuple(course.values) if course and step else (),
        histogram=_histogram(run) if name == _WITH_HISTOGRAM else b"",
    )


def _finite(values: Sequence[float]) -> Sequence[float]:
    """Those that are numbers; mostly all of them are."""
    if math.isfinite(sum(values)):
        return values
    return [value for value in values if math.isfinite(value)]


def _total(name: str, mean: float, run: LogRun) -> float:
    """Of a rate what came of it in the whole run, where that is known."""
    stated = {one.metric: one.value for one in run.readings if not one.subject}
    if name == "throughput_per_s" and "operations" in stated:
        return stated["operations"]
    return mean * stated["duration_s"] if name.endswith("_per_s") and "duration_s" in stated else mean


@lru_cache(maxsize=8)  # the courses of a run have their times in common
def _step(at_s: tuple[float, ...]) -> float | None:
    """The usual distance of points in time; None where they are too unlike, or there are less than two."""
    steps = sorted(b - a for a, b in itertools.pairwise(at_s))
    if not steps or steps[0] <= 0:
        return None
    usual = steps[len(steps) // 2]
    return usual if steps[-1] < 1.5 * usual and steps[0] > 0.5 * usual else None


def _counts(run: LogRun) -> Iterator[tuple[int, int]]:
    for upper_s, count in run.histogram:
        if count > 0 and math.isfinite(upper_s) and upper_s >= 0:
            yield min(max(1, round(upper_s * _NANOSECONDS)), _MOST_NS), count


def _histogram(run: LogRun) -> bytes:
    """The run's histogram as our own trials have theirs (HDR V2, in nanoseconds)."""
    counts = list(_counts(run))
    if not counts:
        return b""
    from hdrh.histogram import HdrHistogram

    made = HdrHistogram(1, _MOST_NS, 3)
    for value, count in counts:
        made.record_value(value, count)
    return base64.b64decode(made.encode())
