"""sysbench's text report, of 1.0 and of 0.4 and 0.5 before it, with the lines of --report-interval."""

import re
import statistics

from ceteris.parsers.log import Course, Log, Reading, Run
from ceteris.parsers.report import NotUnderstood, Report, Second

_NUMBER = r"([0-9.]+)"
_UNITS = {"b": 1, "Kb": 2**10, "Mb": 2**20, "Gb": 2**30, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "": 1}
_LINE = re.compile(rf"^\[\s*{_NUMBER}s\s*\] (.*)$", re.MULTILINE)
_LATENCY = re.compile(r"(?:latency|lat) \(ms,\s*(?P<of>[0-9]+)%\): (?P<ms>[0-9.]+)")
_OLD_LATENCY = re.compile(r"response time: (?P<ms>[0-9.]+)ms \((?P<of>[0-9]+)%\)")


def parse(text: str) -> Report:
    """The report of a whole run. Raises NotUnderstood."""
    total_s = _first(rf"total time:\s+{_NUMBER}s", text)
    events = _first(rf"total number of events:\s+{_NUMBER}", text)
    if total_s is None or events is None:
        raise NotUnderstood("has no summary of sysbench")
    seconds = tuple(_seconds(text))
    reads, writes = _first(rf"reads/s:\s+{_NUMBER}", text), _first(rf"writes/s:\s+{_NUMBER}", text)
    transactions = _first(rf"transactions:\s+\d+\s+\({_NUMBER} per sec", text)
    operations = (
        reads + writes  # fsyncs are no operations
        if reads is not None and writes is not None
        else transactions
        or _first(rf"{_NUMBER} Requests/sec executed", text)
        or _first(rf"events per second:\s+{_NUMBER}", text)
        or _first(rf"Total operations: \d+ \(\s*{_NUMBER} per second\)", text)
        or (events / total_s if total_s else 0.0)
    )
    ignored = _first(rf"ignored errors:\s+\d+\s+\({_NUMBER} per sec", text)
    if ignored is None:
        ignored = _first(rf"deadlocks:\s+\d+\s+\({_NUMBER} per sec", text)
    reconnects = _first(rf"reconnects:\s+{_NUMBER}", text)
    return Report(
        operations_per_s=operations,
        bytes_per_s=_bytes(text),
        queries_per_s=_queries(text),
        responses_s=_responses(text),
        ignored_per_s=ignored,
        errors={"reconnects": int(reconnects)} if reconnects else {},
        seconds=seconds,
    )


def within(report: Report, start_s: float, end_s: float) -> Report:
    """What the interval lines tell of a part of the run. Response times are the means of theirs.

    Raises NotUnderstood where they do not tell of all of it.
    """
    lines = [one for one in report.seconds if start_s < one.at_s <= end_s]
    if not lines or len(lines) < round(end_s - start_s):
        raise NotUnderstood(f"tells of {len(lines)} s of the {end_s - start_s:g} s that were to be measured")
    names = set(lines[0].responses_s).intersection(*(one.responses_s for one in lines))
    return Report(
        operations_per_s=statistics.fmean(one.operations_per_s for one in lines),
        bytes_per_s=_mean([one.bytes_per_s for one in lines]),
        queries_per_s=_mean([one.queries_per_s for one in lines]),
        responses_s={name: statistics.fmean(one.responses_s[name] for one in lines) for name in sorted(names)},
        ignored_per_s=report.ignored_per_s,
        errors=report.errors,
        seconds=tuple(lines),
    )


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def _first(pattern: str, text: str) -> float | None:
    found = re.search(pattern, text)
    return float(found[1]) if found else None


def _bytes(text: str) -> float | None:
    """Bytes read and written each second."""
    read, written = _first(rf"read, MiB/s:\s+{_NUMBER}", text), _first(rf"written, MiB/s:\s+{_NUMBER}", text)
    if read is not None and written is not None:
        return (read + written) * _UNITS["MiB"]
    if found := re.search(rf"Total transferred \S+\s+\({_NUMBER}([KMG]?b)/sec\)", text):
        return float(found[1]) * _UNITS[found[2]]
    moved = _first(rf"transferred \({_NUMBER} MiB/sec\)", text)
    return None if moved is None else moved * _UNITS["MiB"]


def _queries(text: str) -> float | None:
    """Statements each second; of an old report, reads and writes and all others."""
    found = _first(rf"\n\s+queries:\s+\d+\s+\({_NUMBER} per sec", text)
    if found is not None:
        return found
    parts = [_first(rf"{name}:\s+\d+\s+\({_NUMBER} per sec", text) for name in ("requests", "other operations")]
    return None if parts[0] is None or parts[1] is None else parts[0] + parts[1]


def _responses(text: str) -> dict[str, float]:
    """Response times; one of 0.00 was too short to be told."""
    found = {}
    for name, words in (("mean", "avg"), ("max", "max")):
        value = re.search(rf"(?m)^\s+{words}:\s+{_NUMBER}(ms|s)?\s*$", text)
        if value:
            found[name] = _time(value[1], value[2])
    percentile = re.search(rf"(?m)^\s+(?:approx\.\s+)?([0-9]+)(?:th)? percentile:\s+{_NUMBER}(ms|s)?\s*$", text)
    if percentile:
        found[f"p{percentile[1]}"] = _time(percentile[2], percentile[3])
    return {name: value for name, value in found.items() if value}


def _time(number: str, unit: str | None) -> float:
    return float(number) / (1 if unit == "s" else 1000)


def _seconds(text: str) -> list[Second]:
    block = re.search(rf"Block size {_NUMBER}([KMG]i?[bB])", text)
    size = float(block[1]) * _UNITS[block[2]] if block else 0.0
    found = []
    for line in _LINE.finditer(text):
        at_s, words = float(line[1]), line[2]
        read, written = (_first(rf"{name}: {_NUMBER} MiB/s", words) for name in ("reads", "writes"))
        moved = _first(rf"^{_NUMBER} MiB/sec", words)
        rate = _first(rf"(?:tps|eps): {_NUMBER}", words)
        bytes_per_s = None
        if read is not None and written is not None and size:
            bytes_per_s = (read + written) * _UNITS["MiB"]
            rate = bytes_per_s / size
        elif moved is not None:
            size_of_one = re.search(rf"block size: {_NUMBER}([KMG]iB)", text)
            bytes_per_s = moved * _UNITS["MiB"]
            rate = bytes_per_s / (float(size_of_one[1]) * _UNITS[size_of_one[2]]) if size_of_one else None
        if rate is None:
            continue
        latency = _LATENCY.search(words) or _OLD_LATENCY.search(words)
        responses = {f"p{latency['of']}": _time(latency["ms"], "ms")} if latency and float(latency["ms"]) else {}
        found.append(
            Second(
                at_s=at_s,
                operations_per_s=rate,
                bytes_per_s=bytes_per_s,
                queries_per_s=_first(rf"qps: {_NUMBER}", words),
                responses_s=responses,
            )
        )
    return found


FORMAT = "sysbench"


def recognises(text: str) -> float:
    """By the words of its banner, its interval lines and its report."""
    ends = text[:4096] + text[-4096:]
    if "percentile:" in ends and "total number of events:" in ends:
        return 0.9
    return 0.7 if "sysbench" in ends or _LINE.search(ends) else 0.0


def read(text: str) -> Log:
    """The run of a report."""
    lines = text.splitlines()
    try:
        found = parse(text)
    except NotUnderstood as error:
        kept = tuple((number, line) for number, line in enumerate(lines, 1) if line.strip())
        return Log(format=FORMAT, runs=(), not_understood=kept, remarks=(str(error),))
    readings = [
        Reading(metric="throughput_per_s", value=found.operations_per_s, unit="1/s", line=1, stated=""),
        *(
            Reading(metric=f"response_{name}_s", value=s, unit="s", line=1, stated="")
            for name, s in found.responses_s.items()
        ),
    ]
    at_s, values = tuple(one.at_s for one in found.seconds), tuple(one.operations_per_s for one in found.seconds)
    courses = (Course(metric="throughput_per_s", unit="1/s", at_s=at_s, values=values),) if at_s else ()
    return Log(
        format=FORMAT,
        runs=(Run(tool="sysbench", readings=tuple(readings), courses=courses, lines=(1, max(1, len(lines)))),),
    )
