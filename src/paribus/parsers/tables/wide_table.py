"""Tables as people publish them: load levels down and factor levels across, or one line for each run."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import prod

from paribus.parsers.log import LogReading, LogRun
from paribus.parsers.numbers import printed
from paribus.parsers.tables.cells import LEFT_OUT, THOUSANDS, Style, empty, style_of, unsure_points
from paribus.parsers.tables.columns import (
    Role,
    TableColumn,
    apart_of,
    changes_of,
    columns_of,
    is_load,
    is_summary,
    load_of,
    loads_of,
)
from paribus.parsers.tables.heads import Head, head_of
from paribus.parsers.tables.readings import change_of, reading_of
from paribus.parsers.tables.table_runs import Setting, TableRuns
from paribus.parsers.tables.titles import titles_of

Row = tuple[int, list[str]]
_CORNER = re.compile(r"(?P<down>[^\\/|]+?) ?[\\/|] ?(?P<across>[^\\/|]+)")
_SETTINGS = re.compile(
    r"(?:parameter|option|setting|variable|flag|key|item|property|component)s?|参数|配置项", re.IGNORECASE
)
_MEASURE = re.compile(r"metrics?|measures?|指标", re.IGNORECASE)
_COUNTED = ("1/s", "count", "B/s")
_MOST_MEASURES = 0.6  # of the first cells of lines that are each a measure


@dataclass(slots=True)
class WideTable:
    """One table with the line above it and the heading that is `over` it; and what was read of it."""

    title: str
    over: str
    heads: list[Row]
    rows: list[Row]
    separator: str
    runs: list[LogRun] = field(default_factory=list)
    wrong: set[int] = field(default_factory=set)
    remarks: list[str] = field(default_factory=list)
    _factor: str = ""
    _titled: Head = field(default_factory=lambda: Head(None, None, ""))
    _style: Style = Style.POINT
    _changes: Sequence[tuple[TableColumn, str, list[TableColumn]]] = ()
    _made: dict[tuple[object, ...], TableRuns] = field(default_factory=dict)

    def read(self) -> None:
        """Fill runs, wrong lines and remarks."""
        self._even()
        self._leave_sums()
        corner, crossed = self._corner()
        if _SETTINGS.fullmatch(corner):
            return  # what was set, not what was measured
        columns = columns_of([row for _line, row in self.heads], [row for _line, row in self.rows])
        across = self._loads_across(corner)
        down = not across and self._measures_down(columns)
        alone = down and len(columns) == 2  # a measure and its value
        named = (corner and not is_load(corner)) if across else alone or not (down or any(map(_has_level, columns)))
        found = titles_of(self.title, self.over, needs_factor=not named)
        self._factor, self._titled = crossed or found.factor or (corner if across and named else ""), found.titled
        self._settle_style(columns, down=down)
        if across:
            self._across(found.workload)
        elif down:
            self._down(columns, found.workload, found.load)
        else:
            self._upright(columns, corner, found.workload, found.load)
        titled = {"title": found.title} if found.title else {}
        self.runs = [one.run(titled) for one in self._made.values()]

    def _corner(self) -> tuple[str, str]:
        """What stands down, as the corner says, and what stands across, where it says both."""
        corner = self.heads[-1][1][0].strip() if self.heads else ""
        if match := _CORNER.fullmatch(corner):
            down, across = match["down"].strip(), match["across"].strip()
            if is_load(down) is not is_load(across):
                return down, across if is_load(down) else down
        return corner, ""

    def _even(self) -> None:
        """Leave out lines whose cells cannot be told to be under their heads."""
        width = max(len(row) for _line, row in self.heads)
        aligned = self.separator != " "  # a cell that is empty still has its place
        fits = [len(row) <= width if aligned else len(row) == width for _line, row in self.rows]
        self.wrong |= {line for (line, _row), fit in zip(self.rows, fits, strict=True) if not fit}
        self.rows = [row for row, fit in zip(self.rows, fits, strict=True) if fit]

    def _leave_sums(self) -> None:
        sums = [(line, row) for line, row in self.rows if row and is_summary(row[0])]
        if sums and len(sums) < len(self.rows):
            self.rows = [one for one in self.rows if one not in sums]
            self.remarks += [f"line {line} is not read: {row[0].strip('*')} follows from others" for line, row in sums]

    def _settle_style(self, columns: Sequence[TableColumn], *, down: bool) -> None:
        """How numbers are written. Where all with commas are counts or rates, 1,234 is a thousand and more."""
        read = [one for one in columns if one.role in (Role.VALUE, Role.FOLLOWS, Role.LABEL)]
        cells = {one.index: [row[one.index] for _line, row in self.rows if one.index < len(row)] for one in read}
        with_commas = [one for one in read if any("," in cell for cell in cells[one.index])]
        thousands = self.separator == "," or (not down and all(map(self._counted, with_commas)))
        plain = style_of(chain(*cells.values()), semicolons=self.separator == ";")
        self._style = plain
        if plain is Style.UNSURE and thousands:
            self._style = style_of(chain(*cells.values()), semicolons=self.separator == ";", thousands=True)
        if plain is Style.POINT and any(map(unsure_points, cells.values())):
            self._style = Style.UNSURE
        if self._style is Style.UNSURE:
            self.remarks.append(LEFT_OUT)
        elif self._style is not plain:
            self.remarks.append(THOUSANDS)

    def _counted(self, one: TableColumn) -> bool:
        metric = one.head.metric or self._titled.metric
        return metric is not None and metric.expects in _COUNTED

    def _loads_across(self, first: str) -> bool:
        """Whether the heads are load levels, so that factor levels stand down."""
        if len(self.heads) != 1:
            return False
        cells = [cell.strip() for cell in self.heads[0][1][1:] if cell.strip()]
        down = [row[0].strip() for _line, row in self.rows if row]
        across = bool(cells) and all(load_of(cell) is not None for cell in cells)
        if not across or (first and not is_load(first)):
            return across  # the corner names what stands down
        return len(cells) > 1 and not all(load_of(one) is not None for one in down)

    def _measures_down(self, columns: Sequence[TableColumn]) -> bool:
        """Whether each line is a measure, and levels stand across."""
        if any(one.head.metric for one in columns[1:]) or any(one.role is Role.LOAD for one in columns):
            return False
        measures = [head_of(row[0]).metric is not None for _line, row in self.rows if row]
        named = bool(_MEASURE.fullmatch(columns[0].name)) or len(measures) > 1
        return named and sum(measures) >= max(1, _MOST_MEASURES * len(measures))

    def _across(self, workload: str) -> None:
        loads = [load_of(cell) for cell in self.heads[0][1]]
        for line, row in self.rows:
            head = head_of(row[0])
            level = head.rest if head.metric else row[0].strip()
            head = head if head.metric else replace(head, rest="")
            for cell, load in zip(row[1:], loads[1:], strict=False):
                if load is not None:
                    labels = {_named(self._factor): level} if level else {}
                    self._put(Setting(labels, workload, load), head, cell, line, 0 if head.metric else line)

    def _down(self, columns: Sequence[TableColumn], workload: str, load: int | None) -> None:
        for line, row in self.rows:
            head = head_of(row[0])
            if head.metric is None and any(not empty(cell) for cell in row[1:]):
                self.wrong.add(line)
                continue
            for one in columns[1:]:
                if one.index < len(row) and one.role is not Role.FOLLOWS:
                    level = {_named(self._factor): one.name} if len(columns) > 2 else {}
                    self._put(Setting(level, workload, load), head, row[one.index], line, 0)
        self._tell_of_what_follows(columns)

    def _upright(self, columns: Sequence[TableColumn], corner: str, workload: str, load: int | None) -> None:
        self._first_column(columns, corner)
        loads = loads_of(columns)
        apart = apart_of(loads, [row for _line, row in self.rows])
        self._changes = changes_of(columns, self._titled)
        before: dict[int, str] = {}
        for line, row in self.rows:
            cells = {one.index: row[one.index].strip() for one in columns if one.index < len(row)}
            if loads:
                parts = [load_of(cells.get(one.index, "")) for one in loads]
                if any(part is None for part in parts):
                    self.wrong |= {line} if any(cells.values()) else set()
                    continue
                load = prod(part or 0 for part in parts)
            for one in columns:  # a cell that spans several lines stands in the first
                if one.role in (Role.LABEL, Role.WORKLOAD):
                    said = re.sub("[*`]+", "", cells.get(one.index, ""))
                    before[one.index] = cells[one.index] = said or before.get(one.index, "")
            self._line(line, cells, columns, loads, load, workload, apart)
        self._tell_of_what_follows(columns)

    def _line(
        self,
        line: int,
        cells: Mapping[int, str],
        columns: Sequence[TableColumn],
        loads: Sequence[TableColumn],
        load: int | None,
        workload: str,
        apart: Sequence[TableColumn],
    ) -> None:
        """A line that is a run, or one for each level across, or a point in time of them."""
        labels = {
            one.level or one.name or "level": cells.get(one.index, "") for one in columns if one.role is Role.LABEL
        }
        labels |= {one.name: cells.get(one.index, "") for one in apart}
        kinds = [cells.get(one.index, "") for one in columns if one.role is Role.WORKLOAD]
        said = ", ".join(filter(None, [*dict.fromkeys(kinds), workload]))
        options = {
            one.name: cells.get(one.index, "")
            for one in columns
            if one.role is Role.REPETITION or (one.role is Role.LOAD and one not in loads)
        }
        times = [printed(cells.get(one.index, "").rstrip(" s")) for one in columns if one.role is Role.TIME]
        measured = any(one.head.metric for one in columns)
        for one in columns:
            if one.role is Role.VALUE and one.index in cells:
                level = one.level if one.head.metric or not measured else ""
                head = one.head if one.head.metric or not level else replace(one.head, rest="")
                across = {_named(self._factor): level} if level else {}
                own = {**options, "repetition": one.repetition} if one.repetition else options
                at_s = times[0] if times else None
                row = line if at_s is None else 0
                setting = Setting({**labels, **across}, said, load, own)
                self._put(setting, head, cells[one.index], line, row, at_s)
        for one, metric, pair in self._changes:
            reading = change_of(cells.get(one.index, ""), one.name, metric, self._style, line)
            if reading is not None and not any(empty(cells.get(two.index, "")) for two in pair):
                later = {_named(self._factor): pair[1].level}
                self._keep(Setting({**labels, **later}, said, load, options), reading, line, line)

    def _first_column(self, columns: Sequence[TableColumn], corner: str) -> None:
        """Load levels in a first column that has no name and rises in whole numbers; else it tells runs apart."""
        first = columns[0]
        if is_load(corner):
            first.role = Role.LOAD
        if first.role is not Role.VALUE or any(one.role is Role.LOAD for one in columns):
            return
        cells = [load_of(row[0]) for _line, row in self.rows if row and row[0].strip()]
        rising = [one for one in cells if one is not None]
        words = any(re.search(r"[A-Za-z线并]", row[0]) for _line, row in self.rows)
        if cells and len(rising) == len(cells) > 1 and (words or (not corner and rising == sorted(set(rising)))):
            first.role = Role.LOAD
            self.remarks.append("the first column is taken for the number of threads, since it rises in whole numbers")
        elif first.head.metric is None:
            first.role = Role.LABEL

    def _tell_of_what_follows(self, columns: Sequence[TableColumn]) -> None:
        held = [one for one, _metric, _pair in self._changes]
        rest = [one.name for one in columns if one.role is Role.FOLLOWS and one not in held]
        self.remarks += [f"the column {name} is not read: it follows from others" for name in rest]

    def _put(self, setting: Setting, head: Head, text: str, line: int, row: int, at_s: float | None = None) -> None:
        """Keep a cell's number with the others of its run: those of its row, or of its level where `row` is 0."""
        if empty(text):
            return
        reading = reading_of(text, head, self._titled, self._style, line)
        if reading is None:
            self.wrong.add(line)
            return
        self._keep(setting, reading, line, row, at_s)

    def _keep(self, setting: Setting, reading: LogReading, line: int, row: int, at_s: float | None = None) -> None:
        key = (*setting.key, row)
        run = self._made.setdefault(key, TableRuns(setting))
        if at_s is None and any(one.metric == reading.metric for one in run.readings):
            if row:
                self.wrong.add(line)  # what it is of has been told
                return
            run = self._made.setdefault((*key, line), TableRuns(setting))
        run.lines.append(line)
        run.readings.append(reading)
        if at_s is not None:
            run.at_s.append(at_s)


def _has_level(one: TableColumn) -> bool:
    return one.role is Role.VALUE and bool(one.level)


def _named(factor: str) -> str:
    return factor or "level"
