"""fio's --output-format=json: all jobs together, reads, writes and trims together."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ceteris.parsers.log import Log, Reading, Run
from ceteris.parsers.report import NotUnderstood, Report

_DIRECTIONS = ("read", "write", "trim")
_WANTED = {"p95": 95.0, "p99": 99.0}
_NS = 1e9


def parse(text: str) -> Report:
    """The report of a run; what fio says before and after the JSON is passed over. Raises NotUnderstood."""
    start, end = text.find("{"), text.rfind("}")
    try:
        jobs = list(json.loads(text[start : end + 1])["jobs"])
        sections = [one for job in jobs for one in _sections(job)]
        operations = sum(float(one["iops"]) for one in sections)
        moved = sum(float(one["bw_bytes"]) for one in sections)
        errors = {f"{job['jobname']}: error {job['error']}": 1 for job in jobs if job["error"]}
        return Report(operations_per_s=operations, bytes_per_s=moved, responses_s=_responses(sections), errors=errors)
    except (ValueError, KeyError, TypeError) as error:
        raise NotUnderstood(f"is not the JSON of fio: {error!r}") from error


def _sections(job: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The kinds of operations that a job has done; all in one where it was told to report them so."""
    names = ("mixed",) if "mixed" in job else _DIRECTIONS
    return (job[name] for name in names if name in job and job[name]["total_ios"])


def _responses(sections: list[Mapping[str, Any]]) -> dict[str, float]:
    """Times from submitting to the end; percentiles of several jobs or kinds cannot be put together again."""
    times = [one["lat_ns"] for one in sections]
    count = sum(one["N"] for one in times)
    if not count:
        return {}
    found = {"mean": sum(one["mean"] * one["N"] for one in times) / count / _NS}
    if len(sections) == 1:
        percentiles = (times[0].get("percentile") or sections[0]["clat_ns"].get("percentile") or {}).items()
        known = {float(name): value for name, value in percentiles}
        found |= {name: known[number] / _NS for name, number in _WANTED.items() if number in known}
    return found | {"max": max(one["max"] for one in times) / _NS}


FORMAT = "fio-json"


def recognises(text: str) -> float:
    """By the keys of every version's report."""
    ends = text[:4096] + text[-4096:]
    return 0.9 if '"fio version"' in ends else 0.4 if '"jobs"' in ends else 0.0


def read(text: str) -> Log:
    """The jobs of a run, together."""
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
    if found.bytes_per_s is not None:
        readings.append(Reading(metric="bytes_per_s", value=found.bytes_per_s, unit="B/s", line=1, stated=""))
    return Log(format=FORMAT, runs=(Run(tool="fio", readings=tuple(readings), lines=(1, max(1, len(lines)))),))
