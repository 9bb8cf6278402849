"""One job of fio's, whatever the form of its report: numbers of each direction in, readings out."""

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
_ONE_AT_A_TIME = ("psync", "sync", "pvsync", "pvsync2", "vsync", "mmap")


@dataclass(frozen=True, slots=True)
class Number:
    """A value in base units, and how and where it stands."""

    value: float
    line: int
    stated: str


@dataclass(slots=True)
class Sheet:
    """What a job's report says of each direction (read, write, trim, sync or mixed), by fio's own notions.

    rate, bytes_per_s, bytes, operations, duration_s, and times: response_*, completion_*, submission_* (`_s`).
    `both` says that all directions there can be are known, so that a sum is one of all.
    """

    sides: dict[str, dict[str, Number]] = field(default_factory=dict)
    both: bool = True
    more: list[LogReading] = field(default_factory=list)

    def put(self, side: str, name: str, value: float, line: int, stated: str) -> None:
        """The first statement of a number holds."""
        self.sides.setdefault(side, {}).setdefault(name, Number(value, line, stated))

    def settle(self) -> None:
        """Leave out a `mixed` beside the directions it is of: fio 3.33 prints nothing but zeros there."""
        if {"read", "write", "trim"} & set(self.sides):
            self.sides.pop("mixed", None)

    def active(self) -> list[str]:
        """The directions in which anything was done."""
        return [
            side
            for side, known in self.sides.items()
            if side != "sync" and any(known[name].value for name in ("rate", "operations", "bytes") if name in known)
        ]

    def readings(self) -> tuple[LogReading, ...]:
        """All numbers of the directions that were active, and sums over them where all are known."""
        active = self.active()
        found: list[LogReading] = []
        for side, known in self.sides.items():
            subject = "" if side == "mixed" or (self.both and [side] == active) else side
            idle = side not in active and side != "sync"
            for name, one in known.items():
                metric = _NAMES.get((side, name), name)
                if idle and name not in ("rate", "bytes_per_s"):
                    continue
                found.append(_reading(metric, one, "" if (side, name) in _NAMES else subject))
        if self.both and "mixed" not in self.sides:
            found += [total for name, metric in _TOTALS.items() if (total := self._total(name, metric, active))]
        return tuple(sorted([*found, *self.more], key=lambda one: one.line))

    def _total(self, name: str, metric: str, active: list[str]) -> LogReading | None:
        parts = [self.sides[side][name] for side in active if name in self.sides[side]]
        if not parts or len(parts) != len(active):
            return None
        stated = " + ".join(one.stated for one in parts)
        return _reading(metric, Number(sum(one.value for one in parts), parts[0].line, stated), "")


def _reading(metric: str, one: Number, subject: str) -> LogReading:
    unit = "s" if metric.endswith("_s") and not metric.endswith("_per_s") else _unit(metric)
    return LogReading(metric=metric, value=one.value, unit=unit, line=one.line, stated=one.stated, subject=subject)


def _unit(metric: str) -> str:
    if metric.endswith("bytes_per_s"):
        return "B/s"
    return "1/s" if metric.endswith("_per_s") else _UNITS.get(metric, "count")


def percentile(number: float) -> str:
    """What the response time at a percentile is called: 95 `response_p95_s`, 99.9 `response_p999_s`."""
    return f"response_p{number:g}_s".replace(".", "")


def outstanding(options: Mapping[str, str], jobs: int) -> int | None:
    """How many operations the jobs have outstanding at once; None where the report does not tell."""
    depth, engine = options.get("iodepth", "1"), options.get("ioengine", "")
    if not jobs or not depth.isascii() or not depth.isdecimal() or len(depth) > 6:
        return None
    if engine in _ONE_AT_A_TIME or depth == "1":
        return jobs
    return int(depth) * jobs if engine else None


def run(
    sheet: Sheet, *, version: str, options: Mapping[str, str], job: str, jobs: int, lines: tuple[int, int], missing: str
) -> LogRun:
    """The run that a job was."""
    sheet.settle()
    readings = sheet.readings()
    lines = (min([lines[0], *(one.line for one in readings)]), max([lines[1], *(one.line for one in readings)]))
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
    )
