"""A text of lines being read into runs: what is common to all tools that print reports for people."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import cast

from paribus.parsers.log import Log, LogReading, LogRun, LogSeries
from paribus.parsers.plain import unnamed
from paribus.parsers.repeats import once
from paribus.parsers.shapes import (
    MOST_S,
    PERCENT,
    Field,
    Part,
    ends_whole,
    in_base_unit,
    is_cut,
    lines_of,
    percentile,
    without_prefix,
)

_MANY = 6
_DIGITS = tuple("0123456789")


@dataclass(slots=True)
class Draft:
    """A run while it is being read."""

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
    goes_on: bool = False  # from where an earlier report of the same run ended
    first: int = 0
    last: int = 0

    def touch(self, line: int) -> None:
        """The line belongs to the run."""
        self.first = self.first or line
        self.last = line

    def add(self, found: LogReading) -> None:
        """Keep a reading; the first of its name stands."""
        self.readings.setdefault((found.metric, found.subject), found)

    def courses(self, lost: set[int]) -> tuple[LogSeries, ...]:
        """The interval lines as courses; lines with a number that is not certain go to `lost`."""
        return tuple(course for lines in self.intervals.values() for course in lines.courses(lost))

    def run(self, courses: tuple[LogSeries, ...], missing: str) -> LogRun:
        """The run, as it is kept."""
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
        )


@dataclass(slots=True)
class Intervals:
    """Interval lines of one shape: the line, the time, and the parts of each."""

    known: Sequence[Part]
    rows: list[tuple[int, float, Sequence[str]]] = field(default_factory=list)

    def doubled(self) -> bool:
        """Whether times come twice so often that the lines are of several that wrote at once."""
        twice = sum(before[1] == row[1] for before, row in pairwise(self.rows))
        return 4 * twice >= len(self.rows) > 2

    def courses(self, lost: set[int]) -> Iterator[LogSeries]:
        """A course of each number, and of each percentile where these change."""
        place = next((2 * index + 1 for index, one in enumerate(self.known) if one is PERCENT), None)
        if place is None:
            yield from self._of("", self.rows, lost)
            return
        tokens = dict.fromkeys(row[2][place] for row in self.rows)
        for token in tokens:
            rows = self.rows if len(tokens) == 1 else [row for row in self.rows if row[2][place] == token]
            percent = percentile(token)
            if percent:
                yield from self._of(percent, rows, lost)
            else:
                lost.update(row[0] for row in rows)

    def _of(self, percent: str, rows: list[tuple[int, float, Sequence[str]]], lost: set[int]) -> Iterator[LogSeries]:
        columns = [(2 * index + 1, one) for index, one in enumerate(self.known) if isinstance(one, Field)]
        numbers = [_column(rows, place, one) for place, one in columns]
        gaps = [column for column in numbers if None in column]
        wrong = {index for column in gaps for index, number in enumerate(column) if number is None}
        lost.update(rows[index][0] for index in wrong)
        if len(wrong) == len(rows):
            return
        times = tuple(row[1] for index, row in enumerate(rows) if index not in wrong)
        for (_, one), column in zip(columns, numbers, strict=True):
            sure = column if not wrong else [number for at, number in enumerate(column) if at not in wrong]
            values = cast("tuple[float, ...]", tuple(sure))
            name = one.metric.format(percent) if percent else one.metric
            yield LogSeries(metric=name, unit=one.unit, at_s=times, values=values, subject=one.subject)


def _column(rows: Sequence[tuple[int, float, Sequence[str]]], place: int, known: Field) -> Sequence[float | None]:
    """The numbers of a column, fast where all are as the tool prints them."""
    tokens = [row[2][place] for row in rows]
    try:
        numbers = list(map(float, tokens))
    except ValueError:
        return [in_base_unit(token, known) for token in tokens]
    if max(numbers) > MOST_S or known.decimals is None or (known.decimals == 0 and any("." in one for one in tokens)):
        return [in_base_unit(token, known) for token in tokens]
    return numbers if known.per == 1 else [number / known.per for number in numbers]


class LogReader(ABC):
    """Goes over the lines once. A format says of each whether it understands it, and ends the last run."""

    tool = ""

    def __init__(self, text: str) -> None:
        self.lines = unnamed(lines_of(text))
        self.cut = len(self.lines) if is_cut(text) else 0  # the line that may lack its end
        self.runs: list[LogRun] = []
        self.unknown: set[int] = set()
        self.draft = Draft(tool=self.tool)
        self.prefixed = False  # whether what is asked about stood behind a quotation mark, a time or a name

    @abstractmethod
    def understands(self, number: int, line: str) -> bool:
        """Take what the line says; False where that, or some of it, is not certain."""

    @abstractmethod
    def end(self) -> None:
        """Finish the run that is being read, if there is one, and begin another."""

    def may_lack_its_beginning(self, number: int) -> bool:
        """Whether the line begins with what may be the rest of a number: cut off there, or by words of others."""
        first = self.lines[number - 1][:1]
        return first in _DIGITS and not self.prefixed and (number == 1 or number - 1 in self.unknown)

    def breaks_off(self, number: int, parts: Sequence[str], known: Sequence[Part] = ()) -> bool:
        """Whether the line's last number may go on elsewhere: the text ends there, or was wrapped."""
        whole = ends_whole(parts, known)
        if whole is not None:
            return not whole
        if number >= len(self.lines):
            return number == self.cut
        following = without_prefix(self.lines[number]) if self.prefixed else self.lines[number]
        return following[:1] in _DIGITS

    def log(self, format: str) -> Log:
        """All runs; what no run has understood, with its numbers."""
        for number, line in enumerate(self.lines, 1):
            if not line or line.isspace() or self.understands(number, line):
                continue
            bare = without_prefix(line).strip()
            self.prefixed = bare != line.strip()
            if bare and not (self.prefixed and self.understands(number, bare)):
                self.unknown.add(number)
            self.prefixed = False
        self.end()
        missed = tuple((number, self.lines[number - 1].rstrip("\r")) for number in sorted(self.unknown))
        if self.cut in self.unknown and self.runs and not self.runs[-1].missing and self._goes_on_to(self.cut):
            self.runs[-1] = replace(self.runs[-1], missing=f"what follows line {self.cut}, which breaks off")
        runs, copies = self._once()
        return Log(format=format, runs=tuple(runs), not_understood=missed, remarks=(*self.remarks(), *copies))

    def _goes_on_to(self, cut: int) -> bool:
        """Whether nothing else stands between the last run and the line, which is of that run then."""
        return self.unknown.isdisjoint(range(self.runs[-1].lines[1] + 1, cut))

    def remarks(self) -> list[str]:
        """What a reader of the log should know."""
        return []

    def _once(self) -> tuple[list[LogRun], list[str]]:
        """Copies apart, also those of a report alone, without what stood above it: so many numbers are no accident."""
        kept, remarks = once(self.runs)
        runs: list[LogRun] = []
        seen: dict[tuple[tuple[str, str, float], ...], LogRun] = {}
        for run in kept:
            told = tuple((one.metric, one.subject, one.value) for one in run.readings)
            before = seen.setdefault(told, run)
            if before is run or len(told) < _MANY:
                runs.append(run)
            else:
                at, of = run.lines, before.lines
                remarks.append(f"lines {at[0]} to {at[1]} report the same numbers as lines {of[0]} to {of[1]}")
        return runs, remarks
