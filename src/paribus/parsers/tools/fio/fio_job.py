"""One fio job in any form of report: numbers of each direction in, readings out."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from paribus.parsers.log import LogReading, LogRun

_NAMES: Mapping[tuple[str, str], str] = {
    ("read", "rate"): "reads_per_s",
    ("read", "bytes_per_s"): "read_bytes_per_s",
    ("write", "rate"): "writes_per_s",
    ("write", "bytes_per_s"): "written_bytes_per_s",
    ("trim", "rate"): "trims_per_s",
    ("trim", "bytes_per_s"): "trimmed_bytes_per_s",
    ("mixed", "rate"): "throughput_per_s",
    ("mixed", "bytes_per_s"): "bytes_per_s",
    ("sync", "rate"): "fsyncs_per_s",
}
_TOTALS = {"rate": "throughput_per_s", "bytes_per_s": "bytes_per_s"}
_UNITS = {"rate": "1/s", "bytes_per_s": "B/s", "bytes": "B", "operations": "count", "duration_s": "s"}
COMPLETION = "response_p… are percentiles of completion (clat), since fio was not told of lat_percentiles"
ALL_CLIENTS = "All clients"  # name of the sum over the hosts of fio --client
JOB = "job"  # subject of the processor time of a job, which is no share of the machine
_ONE_AT_A_TIME = ("psync", "sync", "pvsync", "pvsync2", "vsync", "mmap")


@dataclass(frozen=True, slots=True)
class Number:
    """A value in base units with its stated text and line."""

    value: float
    line: int
    stated: str


@dataclass(slots=True)
class Sheet:
    """Numbers of a job by direction (read, write, trim, sync or mixed).

    Names: rate, bytes_per_s, bytes, operations, duration_s, and the times response_*, completion_*, submission_*
    (`_s`). `complete` means that every possible direction was read, so that a sum covers all of them.
    """

    sides: dict[str, dict[str, Number]] = field(default_factory=dict)
    complete: bool = True
    extra: list[LogReading] = field(default_factory=list)

    def put(self, side: str, name: str, value: float, line: int, stated: str) -> None:
        """Record a number; the first statement of it is kept."""
        self.sides.setdefault(side, {}).setdefault(name, Number(value, line, stated))

    def drop_mixed(self) -> None:
        """Drop `mixed` if other directions exist: fio 3.33 prints only zeros there."""
        if {"read", "write", "trim"} & set(self.sides):
            self.sides.pop("mixed", None)

    def active(self) -> list[str]:
        """Return the directions with any I/O."""
        return [
            side
            for side, numbers in self.sides.items()
            if side != "sync"
            and any(numbers[name].value for name in ("rate", "operations", "bytes") if name in numbers)
        ]

    def readings(self) -> tuple[LogReading, ...]:
        """Return the numbers of active directions, and their sums if all directions were read."""
        active = self.active()
        collected: list[LogReading] = []
        for side, numbers in self.sides.items():
            subject = "" if side == "mixed" or (self.complete and [side] == active) else side
            idle = side not in active and side != "sync"
            for name, number in numbers.items():
                metric = _NAMES.get((side, name), name)
                if idle and name not in ("rate", "bytes_per_s"):
                    continue
                collected.append(_reading(metric, number, "" if (side, name) in _NAMES else subject))
        if self.complete and "mixed" not in self.sides:
            collected += [total for name, metric in _TOTALS.items() if (total := self._total(name, metric, active))]
        return tuple(sorted([*collected, *self.extra], key=lambda reading: reading.line))

    def _total(self, name: str, metric: str, active: list[str]) -> LogReading | None:
        parts = [self.sides[side][name] for side in active if name in self.sides[side]]
        if not parts or len(parts) != len(active):
            return None
        stated = " + ".join(part.stated for part in parts)
        return _reading(metric, Number(sum(part.value for part in parts), parts[0].line, stated), "")


def _reading(metric: str, number: Number, subject: str) -> LogReading:
    unit = "s" if metric.endswith("_s") and not metric.endswith("_per_s") else _unit(metric)
    return LogReading(
        metric=metric, value=number.value, unit=unit, line=number.line, stated=number.stated, subject=subject
    )


def _unit(metric: str) -> str:
    if metric.endswith("bytes_per_s"):
        return "B/s"
    return "1/s" if metric.endswith("_per_s") else _UNITS.get(metric, "count")


def percentile(number: float) -> str:
    """Name the response time at a percentile: 95 is `response_p95_s`, 99.9 is `response_p999_s`."""
    return f"response_p{number:g}_s".replace(".", "")


def outstanding(options: Mapping[str, str], jobs: int) -> int | None:
    """Return the number of outstanding operations of all jobs; None if the report does not show it."""
    depth, engine = options.get("iodepth", "1"), options.get("ioengine", "")
    if not jobs or not depth.isascii() or not depth.isdecimal() or len(depth) > 6:
        return None
    if engine in _ONE_AT_A_TIME or depth == "1":
        return jobs
    return int(depth) * jobs if engine else None


def run(
    sheet: Sheet, *, version: str, options: Mapping[str, str], job: str, jobs: int, lines: tuple[int, int], missing: str
) -> LogRun:
    """Return the run of a job."""
    sheet.drop_mixed()
    readings = sheet.readings()
    lines = (
        min([lines[0], *(reading.line for reading in readings)]),
        max([lines[1], *(reading.line for reading in readings)]),
    )
    return LogRun(
        tool="fio",
        version=version,
        workload=options.get("rw") or options.get("readwrite") or "",
        load=outstanding(options, jobs) if options else None,
        options=dict(options),
        labels={"job": job} if job else {},
        readings=readings,
        lines=lines,
        missing=missing,
        failed=next((f"err={reading.stated}" for reading in sheet.extra if reading.metric == "error_code"), ""),
    )
