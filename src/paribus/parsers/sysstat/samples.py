"""Common parts of sampling tools: times of day, columns, time series and devices."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from paribus.parsers.log import LogReading, LogSeries
from paribus.parsers.numbers import decimals, printed

_DAY_S = 86400
CLOCK = re.compile(
    r"(?P<before>上午|下午|오전|오후|午前|午後)? ?(?P<h>[0-9]{1,2})(?:[:.,h]|时|時|시) ?"
    r"(?P<m>[0-9]{2})(?:[:.,m]|分|분) ?(?P<s>[0-9]{2})(?:秒|초)?(?:\s?(?P<after>[AaPp])\.?\s?[Mm]\.?)?(?=\s|$)"
)
_EPOCH = re.compile(r"[0-9]{10}(?=\s|$)")  # sysstat's -U
_AFTERNOON = {
    "下午": True,
    "오후": True,
    "午後": True,
    "p": True,
    "上午": False,
    "오전": False,
    "午前": False,
    "a": False,
}
_KIB = 1024.0
_LETTERS = {
    "s": 512.0,
    "B": 1.0,
    "k": _KIB,
    "M": _KIB**2,
    "G": _KIB**3,
    "T": _KIB**4,
    "P": _KIB**5,
}  # sysstat's --human
_MOST_PERCENT = 101.0  # of a share; larger values are interleaved lines or counter errors
_BUSY = ("device_utilisation", "network_utilisation")  # sysstat prints more than 100 % for these
SINCE_BOOT = "since boot"
"""Workload of a run that consists only of the averages since boot."""
_PARTITION = re.compile(
    r"(?P<disk>(?:sd|hd|vd|xvd|dasd)[a-z]{1,3})[0-9]+|"
    r"(?P<other>(?:nvme[0-9]+n|mmcblk|loop|nbd|rbd|cciss/c[0-9]+d)[0-9]+)p[0-9]+"
)
_STACKED = re.compile(r"dm-[0-9]+|md[0-9]+(?:p[0-9]+)?|drbd[0-9]+|bcache[0-9]+|dev253-[0-9]+|dev9-[0-9]+")


@dataclass(frozen=True, slots=True)
class SysstatColumn:
    """Meaning of a column: `times` base units per number; `size` if a letter suffix may scale the number."""

    metric: str
    unit: str
    times: float = 1.0
    size: bool = False

    def value(self, word: str) -> float | None:
        """Return a printed number in the base unit; None if it is ambiguous or impossible."""
        if self.unit == "1":
            word = word.removesuffix("%")
        times = self.times
        if self.size and word and word[-1] in _LETTERS:
            times, word = _LETTERS[word[-1]], word[:-1]
        number = printed(word)
        if number is None or number < 0 or (self.times == 0.01 and number > _MOST_PERCENT and self.metric not in _BUSY):
            return None
        return number / 100 if self.times == 0.01 else number / 1000 if self.times == 0.001 else number * times


def shares(names: Mapping[str, str]) -> dict[str, SysstatColumn]:
    """Return columns in percent."""
    return {column: SysstatColumn(metric, "1", 0.01) for column, metric in names.items()}


CPU = shares(
    {
        "%user": "cpu_user_share",
        "%usr": "cpu_user_share",  # without guests, which %user includes
        "%nice": "cpu_nice_share",
        "%system": "cpu_system_share",
        "%sys": "cpu_system_share",
        "%iowait": "iowait_share",
        "%irq": "cpu_irq_share",
        "%soft": "cpu_softirq_share",
        "%steal": "cpu_steal_share",
        "%guest": "cpu_guest_share",
        "%gnice": "cpu_nice_guest_share",
        "%idle": "cpu_idle_share",
    }
)


def sizes(names: Mapping[str, str], times: float, unit: str = "B/s") -> dict[str, SysstatColumn]:
    """Return columns of bytes. kB and MB are KiB and MiB: sysstat divides 512-byte sectors by 2 and by 2048."""
    return {column: SysstatColumn(metric, unit, times, size=True) for column, metric in names.items()}


BANNER = re.compile(r"Linux (?P<kernel>\S+) \((?P<host>[^)]*)\)\s.*?(?:\((?P<cpus>[0-9]+) CPU\))?\s*")


def banner(line: str) -> dict[str, str] | None:
    """Return kernel and processor count of sysstat's first line; None for any other line."""
    line = line.lstrip()
    match = BANNER.fullmatch(line) if line.startswith("Linux ") else None
    return {"kernel": match["kernel"], **({"processors": match["cpus"]} if match["cpus"] else {})} if match else None


@dataclass(slots=True)
class Samples:
    """Samples of a run. Metrics with one point, and stated averages, become readings."""

    points: dict[tuple[str, str], tuple[str, list[tuple[float, float, int, str]]]] = field(default_factory=dict)
    stated: dict[tuple[str, str], LogReading] = field(default_factory=dict)

    def add(self, column: SysstatColumn, subject: str, at_s: float, value: float, line: int, word: str) -> None:
        """Add a point."""
        self.points.setdefault((column.metric, subject), (column.unit, []))[1].append((at_s, value, line, word))

    def average(self, column: SysstatColumn, subject: str, value: float, line: int, word: str) -> None:
        """Record an average that the tool states; the latest one is kept."""
        reading = LogReading(
            metric=column.metric, value=value, unit=column.unit, line=line, stated=word, subject=subject
        )
        self.stated[column.metric, subject] = reading

    def courses(self) -> tuple[LogSeries, ...]:
        """Return the time series of metrics with several points."""
        return tuple(
            LogSeries(
                metric=metric,
                unit=unit,
                at_s=tuple(point[0] for point in points),
                values=tuple(point[1] for point in points),
                subject=subject,
            )
            for (metric, subject), (unit, points) in self.points.items()
            if len(points) > 1
        )

    def readings(self) -> tuple[LogReading, ...]:
        """Return averages, and the metrics with one point."""
        single_points = {
            (metric, subject): LogReading(
                metric=metric, value=points[0][1], unit=unit, line=points[0][2], stated=points[0][3], subject=subject
            )
            for (metric, subject), (unit, points) in self.points.items()
            if len(points) == 1
        }
        return tuple(sorted({**single_points, **self.stated}.values(), key=lambda reading: reading.line))


def clock(text: str) -> tuple[int, int] | None:
    """Return seconds after midnight and the end of the time of day at the start of a text; None without one."""
    if since := _EPOCH.match(text):
        return int(since[0]) % _DAY_S, since.end()
    match = CLOCK.match(text)
    if match is None:
        return None
    hours, minutes, seconds = int(match["h"]), int(match["m"]), int(match["s"])
    half = match["before"] or (match["after"] or "").lower()
    if half and hours <= 12:
        hours = hours % 12 + (12 if _AFTERNOON[half] else 0)
    return (
        (hours * 3600 + minutes * 60 + seconds, match.end()) if hours < 24 and minutes < 60 and seconds < 62 else None
    )


@dataclass(slots=True)
class Clock:
    """Conversion of times of day, in text order and possibly past midnight, to elapsed seconds."""

    first: int | None = None
    last: int = 0
    days: int = 0

    def after(self, seconds: int) -> float | None:
        """Return the same as `at`, but None for a repeated time too."""
        return None if self.first is not None and seconds == self.last else self.at(seconds)

    def at(self, seconds: int) -> float | None:
        """Return seconds since the first time; None for a time earlier than the previous one."""
        if self.first is None:
            self.first = self.last = seconds
        if self.last - seconds > _DAY_S // 2:
            self.days += 1
        elif seconds < self.last:
            return None
        self.last = seconds
        return float(seconds - self.first + self.days * _DAY_S)


def whole(words: list[str], line: str, header: str) -> bool:
    """Return whether the last number of an unterminated line is complete."""
    same = decimals(words[-1]) == decimals(words[-2]) > 0 if len(words) > 1 else False
    return same or len(line.rstrip()) >= len(header.rstrip()) > 0


def stacked(devices: Iterable[str]) -> list[str]:
    """Return a remark on devices that are parts of others or built from others."""
    names = sorted(set(devices))
    parts = [f"{name} is a partition of {disk}" for name in names if (disk := _disk_of(name))]
    composed = [f"{name} is made of other devices" for name in names if _STACKED.fullmatch(name)]
    if not parts and not composed:
        return []
    return [f"each device stands for itself, and nothing is added up: {'; '.join([*parts, *composed])}"]


def _disk_of(name: str) -> str:
    match = _PARTITION.fullmatch(name)
    return (match["disk"] or match["other"]) if match else ""
