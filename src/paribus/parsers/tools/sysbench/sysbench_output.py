"""sysbench output, 0.4, 0.5, 1.0 and 1.1: command lines, intervals, histograms and consecutive runs."""

from collections.abc import Mapping, Sequence

from paribus.parsers import recognition
from paribus.parsers.log import Log, LogRun, LogSeries
from paribus.parsers.report import NotUnderstood, Second, ToolReport
from paribus.parsers.tools.sysbench.runs import SysbenchReader

FORMAT = "sysbench"
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
    """Score by the wording of the banner, the interval lines and the report."""
    return recognition.score(text, _SIGNS, highest=0.95)


def read(text: str) -> Log:
    """Read every run in the text."""
    return SysbenchReader(text).log(FORMAT)


def parse(text: str) -> ToolReport:
    """Return the report of the first complete run, for a workload. Raises NotUnderstood."""
    for run in read(text).runs:
        values = {reading.metric: reading.value for reading in run.readings if not reading.subject}
        if "duration_s" in values and "operations" in values:
            return _report(run, values)
    raise NotUnderstood("has no summary of sysbench")


def _report(run: LogRun, values: Mapping[str, float]) -> ToolReport:
    reconnects = int(values.get("reconnects", 0))
    return ToolReport(
        operations_per_s=values.get("throughput_per_s", 0.0),
        bytes_per_s=values.get("bytes_per_s"),
        queries_per_s=values.get("queries_per_s"),
        responses_s=_responses(values),
        ignored_per_s=values.get("errors_per_s"),
        errors={"reconnects": reconnects} if reconnects else {},
        seconds=tuple(_seconds(run.courses)),
    )


def _responses(values: Mapping[str, float]) -> dict[str, float]:
    """Return response times by short name; a time of 0.00 is below the printed resolution and omitted."""
    names = {name.removeprefix("response_").removesuffix("_s"): value for name, value in values.items()}
    return {name: names[name] for name in names if name in ("mean", "max") or name[1:].isdigit() if names[name]}


def _seconds(courses: Sequence[LogSeries]) -> list[Second]:
    values_by_time: dict[float, dict[str, float]] = {}
    for series in courses:
        for at_s, value in zip(series.at_s, series.values, strict=True):
            values_by_time.setdefault(at_s, {})[series.metric] = value
    return [
        Second(
            at_s=at_s,
            operations_per_s=values["throughput_per_s"],
            bytes_per_s=values.get("bytes_per_s"),
            queries_per_s=values.get("queries_per_s"),
            responses_s=_responses(values),
        )
        for at_s, values in sorted(values_by_time.items())
        if "throughput_per_s" in values
    ]
