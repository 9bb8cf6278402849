"""sysbench's output: 0.4, 0.5, 1.0 and 1.1, with command lines, interval lines, histograms, one run after the other."""

import statistics
from collections.abc import Mapping, Sequence

from paribus.parsers.log import Log, LogRun, LogSeries
from paribus.parsers.report import NotUnderstood, Second, ToolReport
from paribus.parsers.sysbench.runs import SysbenchReader

FORMAT = "sysbench"
_ENDS = 16384
_SIGNS = (
    ("total number of events:", 0.5),
    ("Running the test with following options:", 0.4),
    ("sysbench ", 0.3),
    ("Threads fairness:", 0.3),
    ("General statistics:", 0.2),
    ("Test execution summary:", 0.3),
    ("queries performed:", 0.3),
    ("s ] thds: ", 0.5),
    ("s] threads: ", 0.5),
    ("Requests/sec executed", 0.4),
    ("s ] reads: ", 0.5),
    ("read/write requests:", 0.4),
    ("th percentile:", 0.2),
    ("approx.", 0.1),
)


def recognises(text: str) -> float:
    """By the words of its banner, its interval lines and its report."""
    ends = text if len(text) <= 2 * _ENDS else text[:_ENDS] + text[-_ENDS:]
    return min(0.95, sum(sure for sign, sure in _SIGNS if sign in ends))


def read(text: str) -> Log:
    """Every run of the text."""
    return SysbenchReader(text).log(FORMAT)


def parse(text: str) -> ToolReport:
    """The report of a whole run, as a workload needs it. Raises NotUnderstood."""
    for run in read(text).runs:
        told = {one.metric: one.value for one in run.readings if not one.subject}
        if "duration_s" in told and "operations" in told:
            return _report(run, told)
    raise NotUnderstood("has no summary of sysbench")


def _report(run: LogRun, told: Mapping[str, float]) -> ToolReport:
    reconnects = int(told.get("reconnects", 0))
    return ToolReport(
        operations_per_s=told.get("throughput_per_s", 0.0),
        bytes_per_s=told.get("bytes_per_s"),
        queries_per_s=told.get("queries_per_s"),
        responses_s=_responses(told),
        ignored_per_s=told.get("errors_per_s"),
        errors={"reconnects": reconnects} if reconnects else {},
        seconds=tuple(_seconds(run.courses)),
    )


def _responses(told: Mapping[str, float]) -> dict[str, float]:
    """Response times by their short names; one of 0.00 was too short to be told."""
    names = {name.removeprefix("response_").removesuffix("_s"): value for name, value in told.items()}
    return {name: names[name] for name in names if name in ("mean", "max") or name[1:].isdigit() if names[name]}


def _seconds(courses: Sequence[LogSeries]) -> list[Second]:
    at: dict[float, dict[str, float]] = {}
    for course in courses:
        for at_s, value in zip(course.at_s, course.values, strict=True):
            at.setdefault(at_s, {})[course.metric] = value
    return [
        Second(
            at_s=at_s,
            operations_per_s=told["throughput_per_s"],
            bytes_per_s=told.get("bytes_per_s"),
            queries_per_s=told.get("queries_per_s"),
            responses_s=_responses(told),
        )
        for at_s, told in sorted(at.items())
        if "throughput_per_s" in told
    ]


def within(report: ToolReport, start_s: float, end_s: float) -> ToolReport:
    """What the interval lines tell of a part of the run. Response times are the means of theirs.

    Raises NotUnderstood where they do not tell of all of it.
    """
    lines = [one for one in report.seconds if start_s < one.at_s <= end_s]
    if not lines or len(lines) < round(end_s - start_s):
        raise NotUnderstood(f"tells of {len(lines)} s of the {end_s - start_s:g} s that were to be measured")
    names = set(lines[0].responses_s).intersection(*(one.responses_s for one in lines))
    return ToolReport(
        operations_per_s=statistics.fmean(one.operations_per_s for one in lines),
        bytes_per_s=_mean([one.bytes_per_s for one in lines]),
        queries_per_s=_mean([one.queries_per_s for one in lines]),
        responses_s={name: statistics.fmean(one.responses_s[name] for one in lines) for name in sorted(names)},
        ignored_per_s=report.ignored_per_s,
        errors=report.errors,
        seconds=tuple(lines),
    )


def _mean(values: list[float | None]) -> float | None:
    known_values = [value for value in values if value is not None]
    return statistics.fmean(known_values) if known_values else None
