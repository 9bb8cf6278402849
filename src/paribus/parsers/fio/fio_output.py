"""fio's reports in every form it prints: JSON, normal and terse; for a workload, all jobs and directions together."""

from paribus.parsers.fio import json_report, normal_report, terse_report
from paribus.parsers.json_lines import documents
from paribus.parsers.log import Log, LogRun
from paribus.parsers.plain import ends_of, tool_lines
from paribus.parsers.repeats import once
from paribus.parsers.report import NotUnderstood, ToolReport

FORMAT = "fio"


def recognises(text: str) -> float:
    """By the keys of JSON, the first fields of a terse line, or the lines that head a job's report."""
    ends = ends_of(text)
    if '"fio version"' in ends or ('"jobs"' in ends and '"jobname"' in ends):
        return 0.95
    return max(normal_report.recognises(ends), terse_report.recognises(ends))


def read(text: str) -> Log:
    """The jobs of all reports; each direction of a job on its own, and their sum where all are known."""
    lines = tool_lines(text)
    found, besides = documents(lines)
    runs, remarks = json_report.runs(found)
    terse, besides = terse_report.runs(besides)
    normal, besides, told = normal_report.runs(besides)
    apart, again = _once_in_json(runs, [*terse, *normal])
    every, copies = once(sorted([*runs, *apart], key=lambda one: one.lines))
    for one in found:
        if "jobs" not in one.top and "client_stats" not in one.top:
            besides += [(number, lines[number - 1]) for number in range(one.first, one.last + 1)]
    if ('"mixed"' in text or "  mixed: " in text) and any(_value(one, "reads_per_s") is not None for one in every):
        remarks.append("mixed beside read and write is left out for their sum: fio 3.33 prints zeros there")
    return Log(
        format=FORMAT,
        runs=tuple(every),
        not_understood=tuple(sorted({one for one in besides if one[1].strip()})),
        remarks=tuple(dict.fromkeys([*remarks, *told, *again, *copies])),
    )


def parse(text: str) -> ToolReport:
    """The report of one run, its jobs together; what fio says besides is passed over. Raises NotUnderstood."""
    runs = [one for one in read(text).runs if one.workload != normal_report.GROUP]
    whole = [one for one in runs if not one.missing]
    if not runs or len(whole) != len(runs):
        raise NotUnderstood(f"has no whole report of fio: {runs[0].missing or 'no job' if runs else 'no job'}")
    operations = [_value(one, "throughput_per_s") for one in runs]
    moved = [_value(one, "bytes_per_s") for one in runs]
    if all(one is None for one in operations) and not any(one.readings for one in runs):
        raise NotUnderstood("has no job of fio that did anything")
    failed = [one for one in runs if _value(one, "error_code")]
    return ToolReport(
        operations_per_s=sum(one or 0.0 for one in operations),
        bytes_per_s=sum(one or 0.0 for one in moved),
        responses_s=_responses(runs),
        errors={f"{one.labels.get('job', '')}: error {_value(one, 'error_code'):g}": 1 for one in failed},
    )


def _once_in_json(runs: list[LogRun], others: list[LogRun]) -> tuple[list[LogRun], list[str]]:
    """The runs of other forms of report that are not in JSON too, which has their numbers in full."""
    kept: list[LogRun] = []
    remarks: list[str] = []
    for one in others:
        same = next((run for run in runs if run.labels == one.labels and _alike(run, one)), None)
        if same is None:
            kept.append(one)
        else:
            there = f"lines {one.lines[0]} to {one.lines[1]}"
            remarks.append(f"{there} tell again, rounded, of the run in lines {same.lines[0]} to {same.lines[1]}")
    return kept, remarks


def _alike(one: LogRun, other: LogRun) -> bool:
    """Whether two forms of report tell of the same rate and bytes, but for rounding."""
    pairs = [(_value(one, name), _value(other, name)) for name in ("throughput_per_s", "bytes_per_s")]
    return all(a is not None and b is not None and abs(a - b) <= 0.02 * max(a, b) for a, b in pairs)


def _value(run: LogRun, metric: str, subject: str = "") -> float | None:
    return next((one.value for one in run.readings if (one.metric, one.subject) == (metric, subject)), None)


def _responses(runs: list[LogRun]) -> dict[str, float]:
    """Times from submitting to the end; percentiles of several jobs or kinds cannot be put together again."""
    timed = [(run, one.subject, one.value) for run in runs for one in run.readings if one.metric == "response_count"]
    count = sum(n for _run, _side, n in timed)
    if not count:
        return {}
    means = [(_value(run, "response_mean_s", side) or 0.0, n) for run, side, n in timed]
    most = [_value(run, "response_max_s", side) or 0.0 for run, side, _n in timed]
    found = {"mean": sum(mean * n for mean, n in means) / count, "max": max(most)}
    if len(timed) == 1:
        run, side, _n = timed[0]
        for name in ("p95", "p99"):
            value = _value(run, f"response_{name}_s", side)
            found |= {} if value is None else {name: value}
    return found
