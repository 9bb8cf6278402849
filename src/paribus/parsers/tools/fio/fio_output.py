"""Reader of fio reports in every form: JSON, normal and terse; for a workload, all jobs are summed."""

from paribus.parsers.json_lines import documents
from paribus.parsers.log import Log, LogRun
from paribus.parsers.plain import ends_of, tool_lines
from paribus.parsers.repeats import drop_copies
from paribus.parsers.report import NotUnderstood, ToolReport
from paribus.parsers.tools.fio import json_report, normal_report, terse_report

FORMAT = "fio"


def recognises(text: str) -> float:
    """Score by the JSON keys, the first fields of a terse line, or the first line of a job's report."""
    ends = ends_of(text)
    if '"fio version"' in ends or ('"jobs"' in ends and '"jobname"' in ends):
        return 0.95
    return max(normal_report.recognises(ends), terse_report.recognises(ends))


def read(text: str) -> Log:
    """Read the jobs of all reports: each direction of a job, and their sum if all were read."""
    lines = tool_lines(text)
    json_documents, other_lines = documents(lines)
    runs, remarks = json_report.runs(json_documents)
    terse, other_lines = terse_report.runs(other_lines)
    normal, other_lines, normal_remarks = normal_report.runs(other_lines)
    not_in_json, repeat_remarks = _once_in_json(runs, [*terse, *normal])
    all_runs, copies = drop_copies(sorted([*runs, *not_in_json], key=lambda run: run.lines))
    for document in json_documents:
        if "jobs" not in document.top and "client_stats" not in document.top:
            other_lines += [(number, lines[number - 1]) for number in range(document.first, document.last + 1)]
    if ('"mixed"' in text or "  mixed: " in text) and any(_value(run, "reads_per_s") is not None for run in all_runs):
        remarks.append("mixed beside read and write is left out for their sum: fio 3.33 prints zeros there")
    return Log(
        format=FORMAT,
        runs=tuple(all_runs),
        not_understood=tuple(sorted({line for line in other_lines if line[1].strip()})),
        remarks=tuple(dict.fromkeys([*remarks, *normal_remarks, *repeat_remarks, *copies])),
    )


def parse(text: str) -> ToolReport:
    """Return the report of one run with its jobs summed; other output is ignored. Raises NotUnderstood."""
    runs = [run for run in read(text).runs if run.workload != normal_report.GROUP]
    complete = [run for run in runs if not run.missing]
    if not runs or len(complete) != len(runs):
        raise NotUnderstood(f"has no whole report of fio: {runs[0].missing or 'no job' if runs else 'no job'}")
    operations = [_value(run, "throughput_per_s") for run in runs]
    transferred = [_value(run, "bytes_per_s") for run in runs]
    if all(rate is None for rate in operations) and not any(run.readings for run in runs):
        raise NotUnderstood("has no job of fio that did anything")
    failed = [run for run in runs if _value(run, "error_code")]
    return ToolReport(
        operations_per_s=sum(rate or 0.0 for rate in operations),
        bytes_per_s=sum(amount or 0.0 for amount in transferred),
        responses_s=_responses(runs),
        errors={f"{run.labels.get('job', '')}: error {_value(run, 'error_code'):g}": 1 for run in failed},
    )


def _once_in_json(runs: list[LogRun], others: list[LogRun]) -> tuple[list[LogRun], list[str]]:
    """Return the runs of other forms that JSON does not contain; JSON has full precision."""
    unique: list[LogRun] = []
    remarks: list[str] = []
    for other in others:
        counterpart = next((run for run in runs if run.labels == other.labels and _agree(run, other)), None)
        if counterpart is None:
            unique.append(other)
        else:
            span = f"lines {other.lines[0]} to {other.lines[1]}"
            remarks.append(
                f"{span} tell again, rounded, of the run in lines {counterpart.lines[0]} to {counterpart.lines[1]}"
            )
    return unique, remarks


def _agree(first: LogRun, second: LogRun) -> bool:
    """Return whether two reports have the same rate and bytes within 2 %, the precision of rounded forms."""
    pairs = [(_value(first, name), _value(second, name)) for name in ("throughput_per_s", "bytes_per_s")]
    return all(a is not None and b is not None and abs(a - b) <= 0.02 * max(a, b) for a, b in pairs)


def _value(run: LogRun, metric: str, subject: str = "") -> float | None:
    return next(
        (reading.value for reading in run.readings if (reading.metric, reading.subject) == (metric, subject)), None
    )


def _responses(runs: list[LogRun]) -> dict[str, float]:
    """Return response times from submission to completion; percentiles of several jobs cannot be combined."""
    timed = [
        (run, reading.subject, reading.value)
        for run in runs
        for reading in run.readings
        if reading.metric == "response_count"
    ]
    count = sum(n for _run, _side, n in timed)
    if not count:
        return {}
    means = [(_value(run, "response_mean_s", side) or 0.0, n) for run, side, n in timed]
    maxima = [_value(run, "response_max_s", side) or 0.0 for run, side, _n in timed]
    responses = {"mean": sum(mean * n for mean, n in means) / count, "max": max(maxima)}
    if len(timed) == 1:
        run, side, _n = timed[0]
        for name in ("p95", "p99"):
            value = _value(run, f"response_{name}_s", side)
            responses |= {} if value is None else {name: value}
    return responses
