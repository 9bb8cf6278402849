"""Numbers derived from sysbench's report where it does not state them, and what a report lacks."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from paribus.parsers.log import LogReading, LogSeries
from paribus.parsers.reader import Draft
from paribus.parsers.shapes import count, size

_BLOCKS = ("file-block-size", "memory-block-size")
_RATE = ("throughput_per_s", "")
_TRANSACTIONS = ("operations", "transactions")
_HEAD = ("Running the test with following options:", "Threads started!")
_OF_RATES = {"SQL statistics", "OLTP test statistics", "File operations", "CPU speed"}
_OF_ANY = ("duration_s", "operations", "response_", "thread_", "unfinished", "throughput_per_s")
_REQUIRED = {
    "total time": "duration_s",
    "number of events": "operations",
    "response times": "response_mean_s",
    "fairness of threads": "thread_time_mean_s",
}


def complete(draft: Draft) -> None:
    """Add derived sums and rates, the version family, the file test mode and the number of threads."""
    mode = draft.options.get("file-test-mode", "")
    if ("operations", "with fsyncs") in draft.readings:
        draft.workload = draft.workload or "fileio"
    if draft.workload == "fileio" and mode:
        draft.workload = f"fileio {mode}"
    for name in _BLOCKS:
        if name in draft.options:
            draft.options[name] = _bytes(draft.options[name])
    if draft.continues and not draft.version.startswith("0."):
        _since_the_start(draft)
    for metric, first, second in (
        ("throughput_per_s", ("reads_per_s", ""), ("writes_per_s", "")),  # fsyncs do not count as operations
        ("bytes_per_s", ("read_bytes_per_s", ""), ("written_bytes_per_s", "")),
        ("queries_per_s", ("queries_per_s", "read and write"), ("queries_per_s", "other")),
    ):
        _add(draft, metric, first, second)
    _rate(draft)
    draft.version = draft.version or _family(draft)
    draft.load = draft.load or _running(draft) or _threads(draft)


def _since_the_start(draft: Draft) -> None:
    """Mark the duration after a checkpoint: counters restart there, but since 1.0 the time does not."""
    duration = draft.readings.pop(("duration_s", ""), None)
    if duration:
        draft.add(replace(duration, subject="since the start"))


def _add(draft: Draft, metric: str, first: tuple[str, str], second: tuple[str, str]) -> None:
    first_reading, second_reading = draft.readings.get(first), draft.readings.get(second)
    if first_reading and second_reading and (metric, "") not in draft.readings:
        stated = f"{first_reading.stated} + {second_reading.stated}"
        draft.add(
            LogReading(
                metric=metric,
                value=first_reading.value + second_reading.value,
                unit=first_reading.unit,
                line=first_reading.line,
                stated=stated,
            )
        )


def _rate(draft: Draft) -> None:
    """Add events per second for tests that state no rate; in other tests an fsync counts as an event."""
    events, duration = draft.readings.get(("operations", "")), draft.readings.get(("duration_s", ""))
    stated_rate = draft.readings.get(("throughput_per_s", "events"))
    if _without_transactions(draft):
        draft.add(replace(draft.readings.pop(_RATE), subject=_TRANSACTIONS[1]))
    if stated_rate and _RATE not in draft.readings:
        draft.add(
            LogReading(
                metric=stated_rate.metric,
                value=stated_rate.value,
                unit="1/s",
                line=stated_rate.line,
                stated=stated_rate.stated,
            )
        )
    elif events and duration and duration.value and (_of_events(draft) or _states_no_rate(draft)):
        stated = f"{events.stated} / {duration.stated}"
        value = events.value / duration.value
        draft.add(LogReading(metric="throughput_per_s", value=value, unit="1/s", line=duration.line, stated=stated))


def _without_transactions(draft: Draft) -> bool:
    """Return whether the events are statements outside transactions, as 0.4 and 0.5 count them.

    A log that lacks the number of events gives no rate, so this also holds if that number is absent.
    """
    values = {key: reading.value for key, reading in draft.readings.items()}
    began_none = values.get(_TRANSACTIONS) == 0 and values.get(_RATE) == 0
    return began_none and values.get(("operations", ""), 1) > 0 and not values.get(("errors", ""))


def _of_events(draft: Draft) -> bool:
    return ("throughput_per_s", _TRANSACTIONS[1]) in draft.readings


def _states_no_rate(draft: Draft) -> bool:
    """Return whether the test reports no rate: threads, mutex, cpu before 1.0, or any complete unknown test."""
    if any(not metric.startswith(_OF_ANY) or (metric, subject) == _RATE for metric, subject in draft.readings):
        return False
    if draft.workload == "cpu":
        return not draft.headings.isdisjoint(("Test execution summary", "response time"))
    of_ours = draft.workload.startswith(("fileio", "oltp", "memory")) or draft.headings & _OF_RATES
    return draft.workload in ("threads", "mutex") or (not of_ours and draft.headings.issuperset(_HEAD))


def _family(draft: Draft) -> str:
    """Infer the version family from the form of the report."""
    if "Test execution summary" in draft.headings:
        return "0.4"
    if "response time" in draft.headings:
        return "0.5"
    if ("throughput_per_s", "events") in draft.readings:
        return "1.1"
    return "1.0" if "General statistics" in draft.headings and "Latency (ms)" in draft.headings else ""


def _running(draft: Draft) -> int | None:
    """Return the thread count of the interval lines, if all agree."""
    interval_lines = [
        lines for shape, lines in draft.intervals.items() if shape.startswith(("thds:", "threads:", "csv"))
    ]
    thread_counts = {parts[1] for lines in interval_lines for _, _, parts in lines.rows}
    return count(thread_counts.pop()) if len(thread_counts) == 1 else None


def _threads(draft: Draft) -> int | None:
    """Infer the thread count from the total and mean events per thread; None unless it is a whole number."""
    events, per_thread = draft.readings.get(("operations", "")), draft.readings.get(("thread_events_mean", ""))
    if not events or not per_thread or per_thread.value < 1:
        return None
    threads = round(events.value / per_thread.value)
    return threads if threads and abs(events.value / threads - per_thread.value) < 0.0001 else None


def _bytes(text: str) -> str:
    """Return a block size in bytes if it is a whole number of them."""
    size_bytes = size(text.rstrip("bB"))
    return str(int(size_bytes)) if size_bytes and size_bytes.is_integer() else text


def courses(draft: Draft, interval_series: Sequence[LogSeries]) -> tuple[LogSeries, ...]:
    """Return the interval series, with total bytes and operations derived from the block size."""
    collected = [
        series
        for named_series in _named(draft, interval_series)
        for series in _events(draft, named_series, interval_series)
    ]
    by_name = {course.metric: course for course in collected}
    read, written, both = (by_name.get(name) for name in ("read_bytes_per_s", "written_bytes_per_s", "bytes_per_s"))
    if read and written and read.at_s == written.at_s:
        values = tuple(map(sum, zip(read.values, written.values, strict=True)))
        both = LogSeries(metric="bytes_per_s", unit="B/s", at_s=read.at_s, values=values)
        collected.append(both)
    block = next((draft.options[name] for name in _BLOCKS if name in draft.options), "")
    if both and "throughput_per_s" not in by_name and (operation_bytes := count(block)):
        values = tuple(value / operation_bytes for value in both.values)
        collected.append(LogSeries(metric="throughput_per_s", unit="1/s", at_s=both.at_s, values=values))
    return tuple(collected)


def _events(draft: Draft, course: LogSeries, interval_series: Sequence[LogSeries]) -> Iterator[LogSeries]:
    """Yield a series; without transactions, one of transactions and one of events with equal statements each."""
    rate = draft.readings.get(_RATE)
    none_done = rate is not None and not rate.value and not _of_events(draft)
    if course.metric != "throughput_per_s" or any(course.values) or none_done:
        yield course
        return
    reads, writes = (
        next((series.values for series in interval_series if series.metric == f"queries_{kind}_per_s"), ())
        for kind in ("read", "write")
    )
    if not any(reads) and not any(writes):
        yield course
        return
    yield replace(course, subject=_TRANSACTIONS[1])
    events, queries = (draft.readings.get((name, "")) for name in ("operations", "queries"))
    statements_per_event = queries.value / events.value if events and queries else 0.0
    if statements_per_event.is_integer() and statements_per_event and len(reads) == len(writes) == len(course.values):
        yield replace(
            course,
            values=tuple((read + write) / statements_per_event for read, write in zip(reads, writes, strict=True)),
        )


def _named(draft: Draft, interval_series: Sequence[LogSeries]) -> Iterator[LogSeries]:
    """Name percentile series by the report's percentile, since sysbench uses one percentile for both."""
    percentiles = {name for name, _ in draft.readings if name.startswith("response_p")}
    for course in interval_series:
        if "{}" not in course.metric:
            yield course
        elif len(percentiles) == 1:
            yield replace(course, metric=next(iter(percentiles)))


def missing(draft: Draft) -> str:
    """Describe what the report lacks; empty for a complete one."""
    names = {metric for metric, _ in draft.readings}
    if not names:
        return "the whole report"
    if draft.workload.startswith("fileio") and "File operations" not in draft.headings and "reads_per_s" in names:
        lacking = [
            description for description, metric in (("response times", "response_sum_s"),) if metric not in names
        ]  # 1.1
    else:
        lacking = [description for description, metric in _REQUIRED.items() if metric not in names]
        if _TRANSACTIONS in draft.readings and "queries" not in names:
            lacking.append("statements")
    return ", ".join(lacking)
