"""What a log, or a table, of somebody's measurements says: every number with its place, in base units."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class LogReading:
    """A number that a text states: `value` in the base unit (1/s, B/s, s, 1 for shares, count), and how it is `stated`.

    `line` is that of the text, from 1. `subject` is what it is of where a run has several (sda, new_order), else empty.
    What follows from two numbers of a run is stated as both, `58791.26 + 39194.17` or `10000 / 23.4107s`.
    """

    metric: str
    value: float
    unit: str
    line: int
    stated: str
    subject: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSeries:
    """A metric over time: what each interval line told, `at_s` seconds after the start of the run (or of the text)."""

    metric: str
    unit: str
    at_s: tuple[float, ...]
    values: tuple[float, ...]
    subject: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRun:
    """One run that a text reports, or one row or column of a table.

    `options` are the tool's own words of what was asked (`file-block-size`: `16384`), `labels` what a table or a user
    says of it (`NUMA`: `off`); `load` is the number of threads, connections or outstanding operations. `histogram`
    holds counts by the upper end of each bucket in seconds. `lines` are the first and the last; `missing` says in
    words what a text that was cut off lacks, and is empty where it is whole.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """A whole text, read as `format` (sysbench, fio, iostat, table, …).

    `not_understood` are lines that the format does not know, with their numbers: all of them, so that nothing is
    dropped in silence. `remarks` are words for the reader about the text as a whole.
    """

    format: str
    runs: tuple[LogRun, ...]
    not_understood: tuple[tuple[int, str], ...] = ()
    remarks: tuple[str, ...] = ()


METRICS: Mapping[str, str] = {
    "throughput_per_s": "1/s",  # what the tool counts as its operation: I/O, transactions, events
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
    "response_p95_s": "s",  # and any other percentile by its name: response_p99_s, response_p999_s (99.9)
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
    "errors_per_s": "1/s",  # those that a tool calls ignored
    "reconnects": "count",
    "load_average": "1",
    "iowait_share": "1",
    "cpu_share": "1",
    "normalised": "1",  # a rate over the best of its table
    "device_reads_per_s": "1/s",
    "device_writes_per_s": "1/s",
    "device_read_bytes_per_s": "B/s",
    "device_written_bytes_per_s": "B/s",
    "device_utilisation": "1",
    "device_queue": "1",
    "device_read_await_s": "s",
    "device_write_await_s": "s",
}
"""What numbers are called, whatever the tool, with their units; a reading may have another name where none fits."""
