"""What follows from the numbers that sysbench states, where it does not state it itself, and what a run lacks."""

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
_WANTED = {
    "total time": "duration_s",
    "number of events": "operations",
    "response times": "response_mean_s",
    "fairness of threads": "thread_time_mean_s",
}


def complete(draft: Draft) -> None:
    """Add the sums and rates that follow, the version's family, the mode of files and the number of threads."""
    mode = draft.options.get("file-test-mode", "")
    if ("operations", "with fsyncs") in draft.readings:
        draft.workload = draft.workload or "fileio"
    if draft.workload == "fileio" and mode:
        draft.workload = f"fileio {mode}"
    for name in _BLOCKS:
        if name in draft.options:
            draft.options[name] = _bytes(draft.options[name])
    if draft.goes_on and not draft.version.startswith("0."):
        _since_the_start(draft)
    for metric, first, second in (
        ("throughput_per_s", ("reads_per_s", ""), ("writes_per_s", "")),  # an fsync is no operation
        ("bytes_per_s", ("read_bytes_per_s", ""), ("written_bytes_per_s", "")),
        ("queries_per_s", ("queries_per_s", "read and write"), ("queries_per_s", "other")),
    ):
        _add(draft, metric, first, second)
    _rate(draft)
    draft.version = draft.version or _family(draft)
    draft.load = draft.load or _running(draft) or _threads(draft)


def _since_the_start(draft: Draft) -> None:
    """After a checkpoint all is counted anew, but since 1.0 the time is still told from the start of the run."""
    told = draft.readings.pop(("duration_s", ""), None)
    if told:
        draft.add(replace(told, subject="since the start"))


def _add(draft: Draft, metric: str, first: tuple[str, str], second: tuple[str, str]) -> None:
    one, two = draft.readings.get(first), draft.readings.get(second)
    if one and two and (metric, "") not in draft.readings:
        stated = f"{one.stated} + {two.stated}"
        draft.add(LogReading(metric=metric, value=one.value + two.value, unit=one.unit, line=one.line, stated=stated))


def _rate(draft: Draft) -> None:
    """Events each second, where the test is known to be one that states no rate: in others an fsync is an event."""
    events, lasted = draft.readings.get(("operations", "")), draft.readings.get(("duration_s", ""))
    told = draft.readings.get(("throughput_per_s", "events"))
    if _without_transactions(draft):
        draft.add(replace(draft.readings.pop(_RATE), subject=_TRANSACTIONS[1]))
    if told and _RATE not in draft.readings:
        draft.add(LogReading(metric=told.metric, value=told.value, unit="1/s", line=told.line, stated=told.stated))
    elif events and lasted and lasted.value and (_of_events(draft) or _states_no_rate(draft)):
        stated = f"{events.stated} / {lasted.stated}"
        value = events.value / lasted.value
        draft.add(LogReading(metric="throughput_per_s", value=value, unit="1/s", line=lasted.line, stated=stated))


def _without_transactions(draft: Draft) -> bool:
    """Whether statements were counted as events that are no transactions, as 0.4 and 0.5 do where none is begun.

    So it is unless it is told that there were no events: a log that lacks their number tells no rate.
    """
    told = {key: one.value for key, one in draft.readings.items()}
    began_none = told.get(_TRANSACTIONS) == 0 and told.get(_RATE) == 0
    return began_none and told.get(("operations", ""), 1) > 0 and not told.get(("errors", ""))


def _of_events(draft: Draft) -> bool:
    return ("throughput_per_s", _TRANSACTIONS[1]) in draft.readings


def _states_no_rate(draft: Draft) -> bool:
    """Threads, mutexes, and processors before 1.0; any other test if its whole head is there and says nothing else."""
    if any(not metric.startswith(_OF_ANY) or (metric, subject) == _RATE for metric, subject in draft.readings):
        return False
    if draft.workload == "cpu":
        return not draft.headings.isdisjoint(("Test execution summary", "response time"))
    of_ours = draft.workload.startswith(("fileio", "oltp", "memory")) or draft.headings & _OF_RATES
    return draft.workload in ("threads", "mutex") or (not of_ours and draft.headings.issuperset(_HEAD))


def _family(draft: Draft) -> str:
    """The version as far as the form of the report tells it."""
    if "Test execution summary" in draft.headings:
        return "0.4"
    if "response time" in draft.headings:
        return "0.5"
    if ("throughput_per_s", "events") in draft.readings:
        return "1.1"
    return "1.0" if "General statistics" in draft.headings and "Latency (ms)" in draft.headings else ""


def _running(draft: Draft) -> int | None:
    """The threads that interval lines tell of, if they all tell the same."""
    told = [lines for shape, lines in draft.intervals.items() if shape.startswith(("thds:", "threads:", "csv"))]
    found = {parts[1] for lines in told for _, _, parts in lines.rows}
    return count(found.pop()) if len(found) == 1 else None


def _threads(draft: Draft) -> int | None:
    """How many threads did the events, if each did so many on average: nothing but a whole number will do."""
    events, each = draft.readings.get(("operations", "")), draft.readings.get(("thread_events_mean", ""))
    if not events or not each or each.value < 1:
        return None
    threads = round(events.value / each.value)
    return threads if threads and abs(events.value / threads - each.value) < 0.0001 else None


def _bytes(words: str) -> str:
    """A block size in bytes where it is a whole number of them."""
    found = size(words.rstrip("bB"))
    return str(int(found)) if found and found.is_integer() else words


def courses(draft: Draft, told: Sequence[LogSeries]) -> tuple[LogSeries, ...]:
    """What was told second by second, with bytes in both directions, and operations from the size of one."""
    found = [made for one in _named(draft, told) for made in _events(draft, one, told)]
    by_name = {course.metric: course for course in found}
    read, written, both = (by_name.get(name) for name in ("read_bytes_per_s", "written_bytes_per_s", "bytes_per_s"))
    if read and written and read.at_s == written.at_s:
        values = tuple(map(sum, zip(read.values, written.values, strict=True)))
        both = LogSeries(metric="bytes_per_s", unit="B/s", at_s=read.at_s, values=values)
        found.append(both)
    block = next((draft.options[name] for name in _BLOCKS if name in draft.options), "")
    if both and "throughput_per_s" not in by_name and (of_one := count(block)):
        values = tuple(value / of_one for value in both.values)
        found.append(LogSeries(metric="throughput_per_s", unit="1/s", at_s=both.at_s, values=values))
    return tuple(found)


def _events(draft: Draft, course: LogSeries, told: Sequence[LogSeries]) -> Iterator[LogSeries]:
    """The course; where no transaction is begun, that of transactions and of events: of as many statements each."""
    rate = draft.readings.get(_RATE)
    none_done = rate is not None and not rate.value and not _of_events(draft)
    if course.metric != "throughput_per_s" or any(course.values) or none_done:
        yield course
        return
    reads, writes = (
        next((one.values for one in told if one.metric == f"queries_{kind}_per_s"), ()) for kind in ("read", "write")
    )
    if not any(reads) and not any(writes):
        yield course
        return
    yield replace(course, subject=_TRANSACTIONS[1])
    events, queries = (draft.readings.get((name, "")) for name in ("operations", "queries"))
    each = queries.value / events.value if events and queries else 0.0
    if each.is_integer() and each and len(reads) == len(writes) == len(course.values):
        yield replace(course, values=tuple((read + write) / each for read, write in zip(reads, writes, strict=True)))


def _named(draft: Draft, told: Sequence[LogSeries]) -> Iterator[LogSeries]:
    """The courses, those of a percentile by the one that the report is of: sysbench has one for both."""
    percentiles = {name for name, _ in draft.readings if name.startswith("response_p")}
    for course in told:
        if "{}" not in course.metric:
            yield course
        elif len(percentiles) == 1:
            yield replace(course, metric=next(iter(percentiles)))


def missing(draft: Draft) -> str:
    """What a whole report has and this one lacks, in words; empty where it is whole."""
    names = {metric for metric, _ in draft.readings}
    if not names:
        return "the whole report"
    if draft.workload.startswith("fileio") and "File operations" not in draft.headings and "reads_per_s" in names:
        lacking = [words for words, metric in (("response times", "response_sum_s"),) if metric not in names]  # 1.1
    else:
        lacking = [words for words, metric in _WANTED.items() if metric not in names]
        if _TRANSACTIONS in draft.readings and "queries" not in names:
            lacking.append("statements")
    return ", ".join(lacking)
