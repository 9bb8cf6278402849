"""Base of readers of line-oriented reports: a text of lines is read into runs."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import cast

from paribus.parsers.log import Log, LogReading, LogRun, LogSeries
from paribus.parsers.plain import unnamed
from paribus.parsers.repeats import drop_copies
from paribus.parsers.shapes import (
    MOST_S,
    PERCENT,
    Field,
    Part,
    in_base_unit,
    is_cut,
    last_number_is_whole,
    lines_of,
    percentile,
    without_prefix,
)

_MANY = 6
_DIGITS = tuple("0123456789")
_WORK = ("throughput_per_s", "queries_read_per_s", "queries_write_per_s", "read_bytes_per_s", "written_bytes_per_s")


@dataclass(slots=True)
class Draft:
    """A run being read."""

    tool: str
    version: str = ""
    workload: str = ""
    load: int | None = None
    options: dict[str, str] = field(default_factory=dict)
    readings: dict[tuple[str, str], LogReading] = field(default_factory=dict)
    intervals: dict[str, "Intervals"] = field(default_factory=dict)  # by shape
    histogram: Counter[float] = field(default_factory=Counter)
    stage: int = 0
    section: str = ""
    headings: set[str] = field(default_factory=set)
    continues: bool = False  # whether it starts where an earlier report of the same run ended
    failed: str = ""
    first: int = 0
    last: int = 0

    def touch(self, line: int) -> None:
        """Extend the run to this line."""
        self.first = self.first or line
        self.last = line

    def add(self, reading: LogReading) -> None:
        """Add a reading; the first one of a name is kept."""
        self.readings.setdefault((reading.metric, reading.subject), reading)

    def courses(self, lost: set[int]) -> tuple[LogSeries, ...]:
        """Return the interval lines as time series; lines with an ambiguous number are added to `lost`."""
        return tuple(course for lines in self.intervals.values() for course in lines.courses(lost))

    def run(self, courses: tuple[LogSeries, ...], missing: str) -> LogRun:
        """Return the finished run."""
        return LogRun(
            tool=self.tool,
            version=self.version,
            workload=self.workload,
            load=self.load,
            options=dict(self.options),
            readings=tuple(self.readings.values()),
            courses=courses,
            histogram=tuple(sorted(self.histogram.items())),
            lines=(self.first, self.last),
            missing=missing,
            failed=self.failed,
        )


@dataclass(slots=True)
class Intervals:
    """Interval lines of one shape: line number, time in seconds and parts of each."""

    columns: Sequence[Part]
    rows: list[tuple[int, float, Sequence[str]]] = field(default_factory=list)

    def doubled(self) -> bool:
        """Return whether repeated times show that several processes wrote at once."""
        twice = sum(before[1] == row[1] for before, row in pairwise(self.rows))
        return 4 * twice >= len(self.rows) > 2

    def courses(self, lost: set[int]) -> Iterator[LogSeries]:
        """Yield a time series per column, and per percentile where the percentile varies."""
        position = next((2 * index + 1 for index, column in enumerate(self.columns) if column is PERCENT), None)
        if position is None:
            yield from self._of("", self.rows, lost)
            return
        tokens = dict.fromkeys(row[2][position] for row in self.rows)
        for token in tokens:
            rows = self.rows if len(tokens) == 1 else [row for row in self.rows if row[2][position] == token]
            percent = percentile(token)
            if percent:
                yield from self._of(percent, rows, lost)
            else:
                lost.update(row[0] for row in rows)

    def _of(self, percent: str, rows: list[tuple[int, float, Sequence[str]]], lost: set[int]) -> Iterator[LogSeries]:
        fields = [
            (2 * index + 1, metric_field)
            for index, metric_field in enumerate(self.columns)
            if isinstance(metric_field, Field)
        ]
        numbers = [_column(rows, position, metric_field) for position, metric_field in fields]
        gaps = [column for column in numbers if None in column]
        wrong = {index for column in gaps for index, number in enumerate(column) if number is None}
        lost.update(rows[index][0] for index in wrong)
        if len(wrong) == len(rows):
            return
        work = [column for (_, field), column in zip(fields, numbers, strict=True) if field.metric in _WORK]
        idle = {at for at, values in enumerate(zip(*work, strict=True)) if not any(values)} - wrong
        for (_, metric_field), column in zip(fields, numbers, strict=True):
            left_out = wrong | idle if metric_field.unit == "s" else wrong  # no operation has no response time
            if len(left_out) == len(rows):
                continue
            sure = column if not left_out else [number for at, number in enumerate(column) if at not in left_out]
            name = metric_field.metric.format(percent) if percent else metric_field.metric
            yield LogSeries(
                metric=name,
                unit=metric_field.unit,
                at_s=tuple(row[1] for at, row in enumerate(rows) if at not in left_out),
                values=cast("tuple[float, ...]", tuple(sure)),
                subject=metric_field.subject,
            )


def _column(rows: Sequence[tuple[int, float, Sequence[str]]], position: int, column: Field) -> Sequence[float | None]:
    """Return the numbers of a column in base units, with a fast path for plain decimals."""
    tokens = [row[2][position] for row in rows]
    try:
        numbers = list(map(float, tokens))
    except ValueError:
        return [in_base_unit(token, column) for token in tokens]
    if (
        max(numbers) > MOST_S
        or column.decimals is None
        or (column.decimals == 0 and any("." in token for token in tokens))
    ):
        return [in_base_unit(token, column) for token in tokens]
    return numbers if column.per == 1 else [number / column.per for number in numbers]


class LogReader(ABC):
    """Single pass over the lines; a format decides whether it understands each line, and ends runs."""

    tool = ""

    def __init__(self, text: str) -> None:
        self.lines = unnamed(lines_of(text))
        self.cut = len(self.lines) if is_cut(text) else 0  # number of an unterminated last line
        self.runs: list[LogRun] = []
        self.unknown: set[int] = set()
        self.draft = Draft(tool=self.tool)
        self.prefixed = False  # whether a quotation mark, timestamp or name was removed

    @abstractmethod
    def understands(self, number: int, line: str) -> bool:
        """Read a line; False if some of it is ambiguous."""

    @abstractmethod
    def end(self) -> None:
        """Finish the current run, if any, and start another."""

    def may_lack_its_beginning(self, number: int) -> bool:
        """Return whether the line may start within a number that was cut or interleaved."""
        first = self.lines[number - 1][:1]
        return first in _DIGITS and not self.prefixed and (number == 1 or number - 1 in self.unknown)

    def breaks_off(self, number: int, parts: Sequence[str], columns: Sequence[Part] = ()) -> bool:
        """Return whether the last number of the line may be incomplete, at the end of the text or by wrapping."""
        whole = last_number_is_whole(parts, columns)
        if whole is not None:
            return not whole
        if number >= len(self.lines):
            return number == self.cut
        following = without_prefix(self.lines[number]) if self.prefixed else self.lines[number]
        return following[:1] in _DIGITS

    def log(self, format: str) -> Log:
        """Return all runs and the numbered lines that were not understood."""
        for number, line in enumerate(self.lines, 1):
            if not line or line.isspace() or self.understands(number, line):
                continue
            bare = without_prefix(line).strip()
            self.prefixed = bare != line.strip()
            if bare and not (self.prefixed and self.understands(number, bare)):
                self.unknown.add(number)
            self.prefixed = False
        self.end()
        not_understood = tuple((number, self.lines[number - 1].rstrip("\r")) for number in sorted(self.unknown))
        if self.cut in self.unknown and self.runs and not self.runs[-1].missing and self._last_run_reaches(self.cut):
            self.runs[-1] = replace(self.runs[-1], missing=f"what follows line {self.cut}, which breaks off")
        runs, copies = self._once()
        return Log(format=format, runs=tuple(runs), not_understood=not_understood, remarks=(*self.remarks(), *copies))

    def _last_run_reaches(self, cut: int) -> bool:
        """Return whether no other line separates the last run from this line."""
        return self.unknown.isdisjoint(range(self.runs[-1].lines[1] + 1, cut))

    def remarks(self) -> list[str]:
        """Return notes for the user about the log."""
        return []

    def _once(self) -> tuple[list[LogRun], list[str]]:
        """Return runs without copies. A run with the same readings is a copy even if its options differ."""
        unique, remarks = drop_copies(self.runs)
        runs: list[LogRun] = []
        first_with: dict[tuple[tuple[str, str, float], ...], LogRun] = {}
        for run in unique:
            values = tuple((reading.metric, reading.subject, reading.value) for reading in run.readings)
            first = first_with.setdefault(values, run)
            if first is run or len(values) < _MANY:
                runs.append(run)
            else:
                copy, original = (f"lines {start} to {end}" for start, end in (run.lines, first.lines))
                remarks.append(f"{copy} report the same numbers as {original}")
        return runs, remarks
