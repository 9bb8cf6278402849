"""Shapes of sysbench's lines in every version, and the meaning of their numbers."""

from collections.abc import Mapping

from paribus.parsers.shapes import PERCENT, Field, Part, shapes

_MIB = 2.0**-20  # MB, Mb and MiB all mean 2^20 bytes in the sources of every version


def _count(metric: str, subject: str = "") -> Field:
    return Field(metric, "count", 0, subject=subject)


def _rate(metric: str, subject: str = "") -> Field:
    return Field(metric, "1/s", 2, subject=subject)


def _ms(metric: str, decimals: int = 2) -> Field:
    return Field(metric, "s", decimals, 1000)


def _mib(metric: str) -> Field:
    return Field(metric, "B/s", 2, _MIB)


_PER_S = _rate("throughput_per_s")
_QUERIES = _rate("queries_per_s")
_READ, _WRITTEN = _rate("queries_read_per_s"), _rate("queries_write_per_s")
_OTHER = _rate("queries_other_per_s")
_ERRORS, _RECONNECTS = _rate("errors_per_s"), _rate("reconnects_per_s")
_LATENCY = _ms("response_p{}_s")
_FILES = (_mib("read_bytes_per_s"), _mib("written_bytes_per_s"), _rate("fsyncs_per_s"))

_INTERVALS: Mapping[str, tuple[Part, ...]] = shapes(
    {
        # 1.0 and 1.1
        "thds: # tps: # qps: # (r/w/o: #/#/#) lat (ms,#%): # err/s: # reconn/s: #": (
            *(None, _PER_S, _QUERIES, _READ, _WRITTEN, _OTHER, PERCENT, _LATENCY, _ERRORS, _RECONNECTS),
        ),
        "thds: # tps: # qps: # (r/w/o: #/#/#) lat (ms,#%): # err/s # reconn/s: #": (
            *(None, _PER_S, _QUERIES, _READ, _WRITTEN, _OTHER, PERCENT, _LATENCY, _ERRORS, _RECONNECTS),
        ),
        "thds: # eps: # lat (ms,#%): #": (None, _PER_S, PERCENT, _LATENCY),
        "reads: # MiB/s writes: # MiB/s fsyncs: #/s latency (ms,#%): #": (
            *_FILES,
            PERCENT,
            _ms("response_p{}_s", 3),
        ),
        "# MiB/sec": (_mib("bytes_per_s"),),
        "queue length: # concurrency: #": (Field("queue_length", "1", 0), Field("concurrency", "1", 0)),
        "queue length: #, concurrency: #": (Field("queue_length", "1", 0), Field("concurrency", "1", 0)),
        # between 0.5 and 1.0
        "threads: # tps: # qps: # (r/w/o: #/#/#) latency (ms,#%): # errors/s: # reconnects/s: #": (
            *(None, _PER_S, _QUERIES, _READ, _WRITTEN, _OTHER, PERCENT, _LATENCY, _ERRORS, _RECONNECTS),
        ),
        "threads: # events/s: # latency (ms,#%): #": (None, _PER_S, PERCENT, _LATENCY),
        "reads: # MiB/s writes: # MiB/s fsyncs: #/s latency: # ms (#th pct.)": (
            *_FILES,
            _ms("response_p{}_s", 3),
            PERCENT,
        ),
        "# MiB/sec,": (_mib("bytes_per_s"),),
        # 0.5 and the last 0.4; reads and writes are statements a second
        "threads: #, tps: #, reads: #, writes: #, response time: #ms (#%), errors: #, reconnects: #": (
            *(None, _PER_S, _READ, _WRITTEN, _LATENCY, PERCENT, _ERRORS, _RECONNECTS),
        ),
        "threads: #, tps: #, reads: #, writes: #, response time: #ms (#%), errors: #": (
            *(None, _PER_S, _READ, _WRITTEN, _LATENCY, PERCENT, _ERRORS),
        ),
        "threads: #, tps: #, reads: #, writes: #, response time: #ms (#%)": (
            *(None, _PER_S, _READ, _WRITTEN, _LATENCY, PERCENT),
        ),
        "threads: #, tps: #, reads/s: #, writes/s: # response time: #ms (#%)": (
            *(None, _PER_S, _READ, _WRITTEN, _LATENCY, PERCENT),
        ),
        "threads: #, tps: #, reads/s: #, writes/s: #, response time: #ms (#%)": (
            *(None, _PER_S, _READ, _WRITTEN, _LATENCY, PERCENT),
        ),
        "threads: #, tps: #, reads/s: #, writes/s: #": (None, _PER_S, _READ, _WRITTEN),
        "threads: #, tps: #": (None, _PER_S),
        "Intermediate results: # threads, # tps": (None, Field("throughput_per_s", "1/s", 0)),
        "reads: # MB/s writes: # MB/s fsyncs: #/s response time: #ms (#%)": (
            *_FILES,
            _ms("response_p{}_s", 3),
            PERCENT,
        ),
        "# MB/sec,": (_mib("bytes_per_s"),),
    }
)

_IN_MICROSECONDS: Mapping[str, tuple[Part, ...]] = shapes(
    {  # some builds of 0.5, whose reports are in milliseconds
        shape.replace("response time: #ms", "response time: #us"): tuple(
            Field(column.metric, column.unit, column.decimals, 1e6)
            if isinstance(column, Field) and column.unit == "s"
            else column
            for column in columns
        )
        for shape, columns in _INTERVALS.items()
        if "response time: #ms" in shape
    }
)
INTERVALS: Mapping[str, tuple[Part, ...]] = {**_INTERVALS, **_IN_MICROSECONDS}
"""Shapes after the time in brackets."""

JSON = ("time", "threads", "tps", "total", "reads", "writes", "other", "latency", "errors", "reconnects")
"""Members of an interval's JSON object, as some scripts report it; otherwise the same as `CSV`."""

CSV: tuple[Part, ...] = (None, _PER_S, _QUERIES, _READ, _WRITTEN, _OTHER, _LATENCY, _ERRORS, _RECONNECTS)
"""Columns after the time, as printed by scripts such as sysbench-tpcc; the report names the percentile."""

REPORT: Mapping[str, tuple[Part, ...]] = shapes(
    {
        # transactions
        "transactions: # (# per sec.)": (_count("operations", "transactions"), _PER_S),
        "queries: # (# per sec.)": (_count("queries", "with its rate"), _QUERIES),
        "read/write requests: # (# per sec.)": (
            _count("queries", "read and write"),
            _rate("queries_per_s", "read and write"),
        ),
        "other operations: # (# per sec.)": (_count("queries", "other"), _rate("queries_per_s", "other")),
        "deadlocks: # (# per sec.)": (_count("errors"), _ERRORS),
        "ignored errors: # (# per sec.)": (_count("errors"), _ERRORS),
        "reconnects: # (# per sec.)": (_count("reconnects"), _RECONNECTS),
        # files
        "reads/s: #": (_rate("reads_per_s"),),
        "writes/s: #": (_rate("writes_per_s"),),
        "fsyncs/s: #": (_rate("fsyncs_per_s"),),
        "read, MiB/s: #": (_mib("read_bytes_per_s"),),
        "written, MiB/s: #": (_mib("written_bytes_per_s"),),
        # 1.1 prints one number in MiB and in MB
        "read: IOPS=# # MiB/s (# MB/s)": (_rate("reads_per_s"), _mib("read_bytes_per_s"), None),
        "write: IOPS=# # MiB/s (# MB/s)": (_rate("writes_per_s"), _mib("written_bytes_per_s"), None),
        "fsync: IOPS=#": (_rate("fsyncs_per_s"),),
        "# Requests/sec executed": (_PER_S,),
        # processors, memory
        "events per second: #": (_PER_S,),
        "events/s (eps): #": (Field("throughput_per_s", "1/s", 4, subject="events"),),
        "Total operations: # (# per second)": (_count("operations", "memory"), _PER_S),
        "Operations performed: # (# ops/sec)": (_count("operations", "memory"), _PER_S),
        "# MiB transferred (# MiB/sec)": (None, _mib("bytes_per_s")),
        "# MB transferred (# MB/sec)": (None, _mib("bytes_per_s")),
        # every test
        "total time: #s": (Field("duration_s", "s", 4),),
        "time elapsed: #s": (Field("duration_s", "s", 4),),
        "total number of events: #": (_count("operations"),),
        "total time taken by event execution: #": (Field("response_sum_s", "s", 4),),
        "total time taken by event execution: #s": (Field("response_sum_s", "s", 4),),
        "Number of unfinished transactions on forced shutdown: #": (_count("unfinished"),),
        "events (avg/stddev): #/#": (
            Field("thread_events_mean", "count", 4),
            Field("thread_events_stddev", "count", 2),
        ),
        "execution time (avg/stddev): #/#": (
            Field("thread_time_mean_s", "s", 4),
            Field("thread_time_stddev_s", "s", 2),
        ),
    }
    | {
        f"{label}: #ms": (_ms(f"response_{name}_s"),)
        for label, name in (("min", "min"), ("avg", "mean"), ("max", "max"))
    }
    | {
        f"{label}: #s": (Field(f"response_{name}_s", "s", 4),)
        for label, name in (("min", "min"), ("avg", "mean"), ("max", "max"))
    }
    | {f"approx. #{th} percentile: #ms": (PERCENT, _LATENCY) for th in ("", "th")}
    | {"approx. # percentile: #s": (PERCENT, Field("response_p{}_s", "s", 4))}
    | {
        f"Operations performed: # {read}, # {write}, # Other = # Total": (
            _count("operations", "read"),
            _count("operations", "write"),
            _count("operations", "fsync"),
            _count("operations", "with fsyncs"),
        )
        for read, write in (("Read", "Write"), ("reads", "writes"))
    }
    | {
        f"Read #{b} Written #{b} Total transferred #{b} (#{b}/sec)": (
            *(None, None, None, Field("bytes_per_s", "B/s", None)),
        )
        for b in (
            "b",
            "B",
        )  # 0.4 and 0.5 print Mb for MiB: 10692.66 requests/s of 16 KiB are 167.07Mb/sec
    }
)
"""Lines of the report that state their units."""

BELOW: Mapping[str, Mapping[str, tuple[Part, ...]]] = {
    "queries performed": shapes(
        {
            "read: #": (_count("queries_read"),),
            "write: #": (_count("queries_write"),),
            "other: #": (_count("queries_other"),),
            "total: #": (_count("queries"),),
        }
    ),
    "Latency (ms)": shapes(
        {
            "min: #": (_ms("response_min_s"),),
            "avg: #": (_ms("response_mean_s"),),
            "max: #": (_ms("response_max_s"),),
            "#th percentile: #": (PERCENT, _LATENCY),
            "sum: #": (_ms("response_sum_s"),),
            "percentile stats: disabled": (),
        }
    ),
}
"""Lines of the report that depend on their heading, which states the unit."""

HEADINGS = frozenset(
    {
        "SQL statistics",
        "OLTP test statistics",
        "queries performed",
        "File operations",
        "Throughput",
        "CPU speed",
        "General statistics",
        "Test execution summary",
        "per-request statistics",
        "response time",
        "Latency (ms)",
        "Threads fairness",
    }
)
