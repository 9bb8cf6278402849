"""One load made by several engines: their windows and intervals as those of one engine.

In: what each engine counted in the same time. Out: sums; response times come from added histograms, never from averaged
percentiles. Called by the load of several hosts.
"""

import base64
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from paribus.engine.histogram import histogram_of
from paribus.engine.protocol import Counts, Cpu, Interval, Pacing, Result, Statements, Times, TransactionKind
from paribus.errors import EngineError
from paribus.histogram import HdrHistogram

_NANOSECONDS = 1e9
_SUMMED = ("operations", "reads", "writes", "fsyncs", "read_bytes", "written_bytes")
_QUANTILES = {"p50_s": 0.50, "p95_s": 0.95, "p99_s": 0.99, "p999_s": 0.999}


def merged_result(results: Sequence[Result], connections: Sequence[int]) -> Result:
    """Return the windows of several engines, opened at the same time, as one window by the clock of the first.

    Args:
        results: The window of each engine.
        connections: The number of connections of each.

    Raises EngineError where a histogram is invalid.
    """
    duration_s = sum(result.duration_s for result in results) / len(results)
    first = results[0]
    response = merged_times([result.response for result in results])
    is_closed = first.pacing is None  # an operation then starts when it is meant to
    return first.model_copy(
        update={
            **_counts(results),
            "duration_s": duration_s,
            "throughput_per_s": sum(result.throughput_per_s for result in results),
            "bytes_per_s": sum(result.bytes_per_s for result in results),
            "response": response,
            "service": response if is_closed else merged_times([result.service for result in results]),
            "fairness": _fairness(results, connections) if is_closed else None,
            "pacing": _pacing([result.pacing for result in results if result.pacing]),
            "kinds": _kinds([result.kinds for result in results if result.kinds], duration_s),
            "cpu": Cpu(
                user_s=sum(result.cpu.user_s for result in results),
                system_s=sum(result.cpu.system_s for result in results),
            ),
            "cores_usable": sum(result.cores_usable for result in results),
            "workers": sum(result.workers for result in results),
        }
    )


def merged_interval(of_engines: Sequence[Sequence[Interval]]) -> Interval:
    """Return what several engines did in the same time as one interval, by the clock of the first.

    Args:
        of_engines: The intervals of each engine in this time; one engine at least has any.

    Raises EngineError where a histogram is invalid.
    """
    intervals = [interval for of_engine in of_engines for interval in of_engine]
    completed = [interval for interval in intervals if interval.mean_s is not None]
    histogram = _total(interval.histogram or "" for interval in completed)
    weights = [interval.operations for interval in completed]
    slowest_s = max((interval.max_s or 0.0 for interval in completed), default=0.0)
    update: dict[str, Any] = {
        **_counts(intervals),
        "duration_s": max(sum(interval.duration_s for interval in of_engine) for of_engine in of_engines),
        "mean_s": _weighted([interval.mean_s or 0.0 for interval in completed], weights),
        "max_s": slowest_s if completed else None,
        "offered": _sum_or_none(interval.offered for interval in intervals),
        "backlog": _sum_or_none(of_engine[-1].backlog for of_engine in of_engines if of_engine),
        "histogram": None,
    }
    for name in ("p50_s", "p95_s", "p99_s"):
        update[name] = _quantile_s(histogram, _QUANTILES[name], 0.0, slowest_s)
    return intervals[0].model_copy(update=update)


def merged_times(times: Sequence[Times]) -> Times:
    """Return several distributions as one. Raises EngineError where a histogram is invalid."""
    not_empty = [each for each in times if each.count]
    if not not_empty:
        return times[0]
    histogram = _total(each.histogram for each in not_empty)
    count, sum_s = sum(each.count for each in not_empty), sum(each.sum_s for each in not_empty)
    fastest_s = min(each.min_s or 0.0 for each in not_empty)
    slowest_s = max(each.max_s or 0.0 for each in not_empty)
    quantiles_s = {name: _quantile_s(histogram, share, fastest_s, slowest_s) for name, share in _QUANTILES.items()}
    encoded = base64.b64encode(histogram.encode()).decode() if histogram else ""
    return Times(
        count=count, mean_s=sum_s / count, min_s=fastest_s, max_s=slowest_s, sum_s=sum_s, histogram=encoded,
        **quantiles_s,
    )  # fmt: skip


def _counts(parts: Sequence[Counts]) -> dict[str, Any]:
    """The sums of operations, bytes, statements and errors."""
    sums: dict[str, Any] = {name: sum(getattr(part, name) for part in parts) for name in _SUMMED}
    errors: Counter[str] = Counter()
    for part in parts:
        errors.update(part.errors)
    made_of = [part.statements for part in parts if part.statements]
    fields = Statements.model_fields
    statements = Statements(**{name: sum(getattr(each, name) for each in made_of) for name in fields})
    return {**sums, "errors": dict(errors), "statements": statements if made_of else None}


def _fairness(results: Sequence[Result], connections: Sequence[int]) -> float | None:
    """Jain's index over the connections of all, from the index of each and its number of connections."""
    squares = 0.0
    for result, count in zip(results, connections, strict=True):
        index = 1.0 if count == 1 else result.fairness
        if index is None and result.response.count:
            return None
        squares += result.response.count**2 / (count * (index or 1.0))
    total = sum(result.response.count for result in results)
    return total**2 / (sum(connections) * squares) if squares else None


def _pacing(parts: Sequence[Pacing]) -> Pacing | None:
    """The schedules of an open loop as one; None in a closed loop."""
    if not parts:
        return None
    late = [part for part in parts if part.late_mean_s is not None]
    return Pacing(
        offered=sum(part.offered for part in parts),
        started=sum(part.started for part in parts),
        backlog_at_start=sum(part.backlog_at_start for part in parts),
        backlog_at_end=sum(part.backlog_at_end for part in parts),
        lag_s=max(part.lag_s for part in parts),
        late_mean_s=_weighted([part.late_mean_s or 0.0 for part in late], [part.started for part in late]),
        late_max_s=max((part.late_max_s or 0.0 for part in late), default=None),
    )


def _kinds(parts: Sequence[Mapping[str, TransactionKind]], duration_s: float) -> dict[str, TransactionKind] | None:
    """The kinds of transactions, each with all its response times; None where the load has one kind."""
    if not parts:
        return None
    return {name: _kind([part[name] for part in parts], duration_s) for name in parts[0]}


def _kind(parts: Sequence[TransactionKind], duration_s: float) -> TransactionKind:
    completed = [part for part in parts if part.count]
    histogram = _total(part.histogram for part in completed)
    count = sum(part.count for part in parts)
    slowest_s = max((part.max_s or 0.0 for part in completed), default=0.0)
    return TransactionKind(
        count=count,
        per_s=count / duration_s,
        mean_s=_weighted([part.mean_s or 0.0 for part in completed], [part.count for part in completed]),
        p90_s=_quantile_s(histogram, 0.90, 0.0, slowest_s),
        p95_s=_quantile_s(histogram, 0.95, 0.0, slowest_s),
        max_s=slowest_s if completed else None,
    )


def _total(texts: Iterable[str]) -> HdrHistogram | None:
    """The sum of histograms; None where there is none. Raises EngineError where one is invalid."""
    histograms = [histogram for text in texts if (histogram := histogram_of(text))]
    try:
        return HdrHistogram.total(histograms) if histograms else None
    except ValueError as error:
        wrong = f"the engines sent histograms that do not fit together: {error}"
        raise EngineError("protocol-mismatch", wrong, "install engine and program from one release") from error


def _quantile_s(histogram: HdrHistogram | None, share: float, fastest_s: float, slowest_s: float) -> float | None:
    """The time that a share of all operations did not exceed; a count stands for its highest value."""
    if histogram is None or not histogram.counts.any():
        return None
    return float(min(max(histogram.quantiles([share])[0] / _NANOSECONDS, fastest_s), slowest_s))


def _weighted(values: Sequence[float], weights: Sequence[int]) -> float | None:
    total = sum(weights)
    return sum(value * weight for value, weight in zip(values, weights, strict=True)) / total if total else None


def _sum_or_none(values: Iterable[int | None]) -> int | None:
    counted = [value for value in values if value is not None]
    return sum(counted) if counted else None
