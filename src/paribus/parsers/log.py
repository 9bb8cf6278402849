"""Records of a log or published table: every number with its line, in base units."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class LogReading:
    """A stated number: `value` in the base unit (1/s, B/s, s, 1 for shares, count) and its `stated` text.

    `line` counts from 1. `subject` names the part of a run that the number describes (sda, new_order), else it is
    empty. A number derived from two others states both: `58791.26 + 39194.17` or `10000 / 23.4107s`.
    """

    metric: str
    value: float
    unit: str
    line: int
    stated: str
    subject: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSeries:
    """A metric as a time series, one value per interval line; `at_s` is seconds from the start of the run or text."""

    metric: str
    unit: str
    at_s: tuple[float, ...]
    values: tuple[float, ...]
    subject: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRun:
    """One reported run, or one row or column of a table.

    `options` are the tool's own names and values (`file-block-size`: `16384`). `labels` come from a table or the user
    (`NUMA`: `off`). `load` is the number of threads, connections or outstanding operations. `courses` are the time
    series. `histogram` holds counts by the upper bound of each bucket in seconds. `lines` are the first and the last
    line. `missing` describes what a truncated text lacks; it is empty for a complete run. `failed` is the tool's own
    statement that the run failed.
    """

    tool: str
    version: str = ""
    workload: str = ""
    load: int | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    readings: tuple[LogReading, ...] = ()
    courses: tuple[LogSeries, ...] = ()
    histogram: tuple[tuple[float, int], ...] = ()
    lines: tuple[int, int]
    missing: str = ""
    failed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """A whole text, read as `format` (sysbench, fio, iostat, table, …).

    `not_understood` lists every line that the format does not know, with its number. `remarks` are notes for the user
    about the whole text.
    """

    format: str
    runs: tuple[LogRun, ...]
    not_understood: tuple[tuple[int, str], ...] = ()
    remarks: tuple[str, ...] = ()


METRICS: Mapping[str, str] = {
    "throughput_per_s": "1/s",  # the tool's own operations: I/O, transactions, events
    "queries_per_s": "1/s",
    "reads_per_s": "1/s",
    "writes_per_s": "1/s",
    "fsyncs_per_s": "1/s",
    "bytes_per_s": "B/s",
    "read_bytes_per_s": "B/s",
    "written_bytes_per_s": "B/s",
    "response_min_s": "s",
    "response_mean_s": "s",
    "response_p50_s": "s",
    "response_p95_s": "s",  # likewise other percentiles: response_p99_s, response_p999_s (99.9)
    "response_max_s": "s",
    "response_stddev_s": "s",
    "response_sum_s": "s",
    "duration_s": "s",
    "operations": "count",  # events, transactions or I/O in the whole run
    "queries": "count",
    "queries_read": "count",
    "queries_write": "count",
    "queries_other": "count",
    "errors": "count",
    "errors_per_s": "1/s",  # errors that the tool ignored
    "reconnects": "count",
    "load_average": "1",
    "iowait_share": "1",
    "cpu_share": "1",
    "normalised": "1",  # rate divided by the best rate of its table
    "device_reads_per_s": "1/s",
    "device_writes_per_s": "1/s",
    "device_read_bytes_per_s": "B/s",
    "device_written_bytes_per_s": "B/s",
    "device_utilisation": "1",
    "device_queue": "1",
    "device_read_await_s": "s",
    "device_write_await_s": "s",
}
"""Metric names shared by all tools, with their units; a reading that matches none keeps its own name."""
