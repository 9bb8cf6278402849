"""Windows of the engine with these response times, in nanoseconds."""

import base64
from collections.abc import Sequence

import numpy as np

from paribus.engine.protocol import Cpu, Interval, Result, Statements, Times, TransactionKind
from paribus.histogram import HdrHistogram

SLOWEST_NS = 10**12
QUANTILES = (("p50_s", 0.5), ("p95_s", 0.95), ("p99_s", 0.99), ("p999_s", 0.999))


def histogram_of(times_ns: Sequence[int]) -> str:
    values = np.array(times_ns, np.int64)
    encoded = HdrHistogram.of(values, np.ones_like(values), max(2, *times_ns)).encode()
    return base64.b64encode(encoded).decode()


def times_of(times_ns: Sequence[int]) -> Times:
    """The times as an engine reports them: a quantile is that of the operations by rank."""
    if not times_ns:
        empty = dict.fromkeys(("mean_s", "min_s", "max_s", *(name for name, _ in QUANTILES)))
        return Times(count=0, sum_s=0.0, histogram="", **empty)
    ranked = sorted(times_ns)
    of_quantiles = {name: ranked[max(1, int(np.ceil(share * len(ranked)))) - 1] / 1e9 for name, share in QUANTILES}
    total_s = sum(times_ns) / 1e9
    return Times(
        count=len(ranked), mean_s=total_s / len(ranked), min_s=ranked[0] / 1e9, max_s=ranked[-1] / 1e9,
        sum_s=total_s, histogram=histogram_of(times_ns), **of_quantiles,
    )  # fmt: skip


def result_of(times_ns: Sequence[int], duration_s: float = 2.0, **changes: object) -> Result:
    count = len(times_ns)
    kind = TransactionKind(
        count=count, per_s=count / duration_s, mean_s=times_of(times_ns).mean_s, p90_s=None, p95_s=None,
        max_s=times_of(times_ns).max_s, histogram=histogram_of(times_ns) if times_ns else "",
    )  # fmt: skip
    result = Result(
        event="result", window="timed", start_s=5.0, start_unix_s=0.0, duration_s=duration_s, operations=count,
        reads=count, writes=0, fsyncs=0, read_bytes=10 * count, written_bytes=0, errors={"io-error": 1},
        statements=Statements(read_queries=count, reconnects=1), throughput_per_s=count / duration_s,
        bytes_per_s=0.0, response=times_of(times_ns), service=times_of(times_ns), fairness=None, pacing=None,
        parts=None,
        kinds={"payment": kind}, cpu=Cpu(user_s=1.0, system_s=0.5), cores_usable=2, workers=1,
        registered_buffers=False,
    )  # fmt: skip
    return result.model_copy(update=changes)


def interval_of(times_ns: Sequence[int], **changes: object) -> Interval:
    times = times_of(times_ns)
    interval = Interval(
        event="interval", window="timed", start_s=5.0, duration_s=1.0, operations=times.count, reads=0, writes=0,
        fsyncs=0, read_bytes=0, written_bytes=0, errors={}, mean_s=times.mean_s, p50_s=times.p50_s,
        p95_s=times.p95_s, p99_s=times.p99_s, max_s=times.max_s, offered=None, backlog=None,
        histogram=times.histogram,
    )  # fmt: skip
    return interval.model_copy(update=changes)
