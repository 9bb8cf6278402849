"""Measurements of a window from the engine's result. Called by the workload kinds."""

import bisect
import math
import statistics
from collections.abc import Sequence

from paribus.engine import histogram
from paribus.engine.protocol import Interval, Pacing, Result, Statements, Times
from paribus.model import FEWEST_SECONDS, SECONDS_BELOW_HALF, SLOW_SECONDS, Measurement

_SLOW_SHARE = 0.05
_WHOLE_SECOND_S = 0.9  # the last interval of a trial is often shorter

Metrics = Sequence[tuple[str, str, float | None]]  # name, unit, value


def _pacing_metrics(pacing: Pacing, duration_s: float) -> Metrics:
    """Offered rate and backlog of an open loop; the achieved rate is the throughput."""
    return [
        ("offered_per_s", "1/s", pacing.offered / duration_s),
        ("backlog_at_end", "", pacing.backlog_at_end),
        ("lag_s", "s", pacing.lag_s),
        ("late_mean_s", "s", pacing.late_mean_s),
        ("late_max_s", "s", pacing.late_max_s),
    ]


def _file_metrics(result: Result) -> Metrics:
    """Bytes and operations per second."""
    duration = result.duration_s
    return [
        ("bytes_per_s", "B/s", result.bytes_per_s),
        ("reads_per_s", "1/s", result.reads / duration),
        ("writes_per_s", "1/s", result.writes / duration),
        ("fsyncs_per_s", "1/s", result.fsyncs / duration),
    ]


def statement_metrics(result: Result) -> Metrics:
    """Statements per second, and outcomes of transactions."""
    statements, duration_s = result.statements or Statements(), result.duration_s
    queries = statements.read_queries + statements.write_queries + statements.other_queries
    return [
        ("queries_per_s", "1/s", queries / duration_s),
        ("read_queries_per_s", "1/s", statements.read_queries / duration_s),
        ("write_queries_per_s", "1/s", statements.write_queries / duration_s),
        ("rollbacks_per_s", "1/s", statements.rollbacks / duration_s),
        ("conflicts_per_s", "1/s", statements.conflicts / duration_s),
        ("lock_timeouts_per_s", "1/s", statements.lock_timeouts / duration_s),
        ("retries_per_s", "1/s", statements.retries / duration_s),
        ("reconnects", "", statements.reconnects),
    ]


def _of_whole_seconds(rates: Sequence[float], intervals: Sequence[Interval]) -> list[float]:
    """The rates of a trial's whole seconds in rising order; empty of too few.

    A second without an operation counts as one with one, so that it has a logarithm.
    """
    seconds = [
        max(rate, 1 / interval.duration_s)
        for rate, interval in zip(rates, intervals, strict=True)
        if interval.duration_s > _WHOLE_SECOND_S
    ]
    return sorted(seconds) if len(seconds) >= FEWEST_SECONDS - 1 else []


def _slow_seconds(rates: Sequence[float]) -> float | None:
    """The p5 of sorted rates (nearest rank)."""
    return rates[math.ceil(_SLOW_SHARE * len(rates)) - 1] if rates else None


def _seconds_below_half(rates: Sequence[float]) -> float | None:
    """Number of sorted rates below half of their median, as seconds.

    None of them counts as one, so that there is a logarithm.
    """
    return max(1.0, float(bisect.bisect_left(rates, statistics.median(rates) / 2))) if rates else None


def operation_measurements(
    result: Result, intervals: Sequence[Interval], additional: Metrics = ()
) -> tuple[Measurement, ...]:
    """Measurements of a window: each metric over the whole window, and over time where intervals have it.

    `additional` are metrics that only one kind has.
    """
    duration = result.duration_s
    times = result.response
    rates = [(interval.operations - interval.fsyncs) / interval.duration_s for interval in intervals]
    seconds = _of_whole_seconds(rates, intervals)
    window_metrics: Metrics = [
        ("throughput_per_s", "1/s", result.throughput_per_s),
        (SLOW_SECONDS, "1/s", _slow_seconds(seconds)),
        (SECONDS_BELOW_HALF, "s", _seconds_below_half(seconds)),
        *(() if result.statements else _file_metrics(result)),
        ("errors_per_s", "1/s", sum(result.errors.values()) / duration),
        ("response_mean_s", "s", times.mean_s),
        ("response_p50_s", "s", times.p50_s),
        ("response_p95_s", "s", times.p95_s),
        ("response_p99_s", "s", times.p99_s),
        ("response_p999_s", "s", times.p999_s),
        ("response_max_s", "s", times.max_s),
        ("longest_stall_s", "s", times.max_s),
        ("fairness", "", result.fairness),
        ("service_mean_s", "s", result.service.mean_s),
        ("service_p95_s", "s", result.service.p95_s),
        ("service_p99_s", "s", result.service.p99_s),
        ("engine_user_cpu_s", "s", result.cpu.user_s),
        ("engine_system_cpu_s", "s", result.cpu.system_s),
        *(_pacing_metrics(result.pacing, duration) if result.pacing else ()),
        *additional,
    ]
    time_series = {
        "throughput_per_s": rates,
        "response_p95_s": [interval.p95_s for interval in intervals if interval.p95_s is not None],
    }
    start, step = (intervals[0].start_s - result.start_s, intervals[0].duration_s) if intervals else (None, None)
    measurements = []
    for metric, unit, value in window_metrics:
        if value is None:
            continue
        if metric == "response_mean_s":
            measurements.append(_mean_response(times, value))
            continue
        measurements.append(
            Measurement.of_series(
                metric,
                unit,
                time_series.get(metric, ()),
                "measure",
                "engine",
                mean=value,
                total=value if unit in ("s", "") else value * duration,  # times and counts do not add up over a window
                start_s=start,
                step_s=step,
            )
        )
    return tuple(measurements)


def _mean_response(times: Times, mean_s: float) -> Measurement:
    """The mean response time over operations, not over intervals, with the histogram of all."""
    return Measurement(
        phase="measure",
        metric="response_mean_s",
        unit="s",
        source="engine",
        n=times.count,
        mean=mean_s,
        low=times.min_s or mean_s,
        high=times.max_s or mean_s,
        total=times.sum_s,
        histogram=histogram.decode(times.histogram),
    )
