"""Published tables with load levels down and factor levels across, or with one line per run."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import prod

from paribus.parsers.log import LogReading, LogRun
from paribus.parsers.tables.cells import LEFT_OUT, THOUSANDS, Style, empty, style_of, unsure_points
from paribus.parsers.tables.columns import (
    Role,
    TableColumn,
    apart_of,
    changes_of,
    columns_of,
    is_load,
    is_summary,
    kind_in,
    load_of,
    loads_of,
)
from paribus.parsers.tables.descriptions import is_status
from paribus.parsers.tables.heads import Head, head_of
from paribus.parsers.tables.readings import change_of, reading_of
from paribus.parsers.tables.table_runs import Setting, TableRuns
from paribus.parsers.tables.time_columns import next_time, time_of
from paribus.parsers.tables.titles import titles_of

Row = tuple[int, list[str]]
_CORNER = re.compile(r"(?P<down>[^\\/|]+?) ?[\\/|] ?(?P<across>[^\\/|]+)")
_SETTINGS = re.compile(
    r"(?:parameter|option|setting|variable|flag|key|item|property|component)s?|参数|配置项", re.IGNORECASE
)
_MEASURE = re.compile(r"metrics?|measures?|指标", re.IGNORECASE)
_OF_SETTING = re.compile(
    r"(?:\w+[ -])?(?:schedulers?|elevator|file[ -]?systems?|raid|kernel|numa|cache|engine|policy|method|version|layout)"
    r"(?: (?:mode|policy|level|type))?|调度器|文件系统",
    re.IGNORECASE,
)
_VARIABLE = re.compile(r"[a-z][a-z0-9]*(?:[_.][a-z0-9]+)+")
_AT = re.compile(r"^(?:at|with|under|for|@|of|[(\[]) ?", re.IGNORECASE)
_COUNTED = ("1/s", "count", "B/s")
_MOST_MEASURES = 0.6  # share of rows whose first cell names a metric


@dataclass(slots=True)
class WideTable:
    """One table with its title and heading (`over`), and its results."""

    title: str
    over: str
    heads: list[Row]
    rows: list[Row]
    separator: str
    runs: list[LogRun] = field(default_factory=list)
    wrong: set[int] = field(default_factory=set)
    remarks: list[str] = field(default_factory=list)
    around: str = ""  # a part of the heading that is neither factor nor workload
    _factor: str = ""
    _titled: Head = field(default_factory=lambda: Head(None, None, ""))
    _style: Style = Style.POINT
    _changes: Sequence[tuple[TableColumn, str, list[TableColumn]]] = ()
    _read_changes: set[int] = field(default_factory=set)  # positions of columns
    _runs_by_key: dict[tuple[object, ...], TableRuns] = field(default_factory=dict)

    def read(self) -> None:
        """Fill `runs`, `wrong` lines and `remarks`."""
        self._even()
        self._leave_sums()
        corner, crossed = self._corner()
        measures = any(head_of(cell).metric for _line, row in self.heads for cell in row[1:])
        if _SETTINGS.fullmatch(corner) and not measures:
            return  # a table of settings, not of measurements
        columns = columns_of([row for _line, row in self.heads], [row for _line, row in self.rows])
        across = self._loads_across(corner)
        down = not across and self._measures_down(columns)
        alone = down and len(columns) == 2  # only metrics and their values
        named = (corner and not is_load(corner)) if across else alone or not (down or any(map(_has_level, columns)))
        titles = titles_of(self.title, self.over, needs_factor=not named)
        self.around = titles.around
        names_levels = named if across else down and not alone and _names_factor(corner)
        self._factor, self._titled = crossed or titles.factor or (corner if names_levels else ""), titles.titled
        self._settle_style(columns, down=down)
        if across:
            self._across(titles.workload)
        elif down:
            self._down(columns, titles.workload, titles.load)
        else:
            self._upright(columns, corner, titles.workload, titles.load)
        titled = {"title": titles.title} if titles.title else {}
        self.runs = [run.run(titled) for run in self._runs_by_key.values()]

    def _corner(self) -> tuple[str, str]:
        """Return the names of the row and column dimensions that the corner gives; the second may be empty."""
        corner = self.heads[-1][1][0].strip() if self.heads else ""
        if match := _CORNER.fullmatch(corner):
            down, across = match["down"].strip(), match["across"].strip()
            if is_load(down) is not is_load(across):
                return down, across if is_load(down) else down
        return corner, ""

    def _even(self) -> None:
        """Drop rows whose cells cannot be matched to heads."""
        width = max(len(row) for _line, row in self.heads)
        aligned = self.separator != " "  # an empty cell keeps its position
        fits = [len(row) <= width if aligned else len(row) == width for _line, row in self.rows]
        self.wrong |= {line for (line, _row), fit in zip(self.rows, fits, strict=True) if not fit}
        self.rows = [row for row, fit in zip(self.rows, fits, strict=True) if fit]

    def _leave_sums(self) -> None:
        sums = [(line, row) for line, row in self.rows if row and is_summary(row[0])]
        if sums and len(sums) < len(self.rows):
            self.rows = [row for row in self.rows if row not in sums]
            self.remarks += [f"line {line} is not read: {row[0].strip('*')} follows from others" for line, row in sums]

    def _settle_style(self, columns: Sequence[TableColumn], *, down: bool) -> None:
        """Set the number notation. If all columns with commas are counts or rates, commas separate thousands."""
        value_columns = [column for column in columns if column.role in (Role.VALUE, Role.FOLLOWS, Role.LABEL)]
        cells = {
            column.index: [row[column.index] for _line, row in self.rows if column.index < len(row)]
            for column in value_columns
        }
        with_commas = [column for column in value_columns if any("," in cell for cell in cells[column.index])]
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

    def _counted(self, column: TableColumn) -> bool:
        metric = column.head.metric or self._titled.metric
        return metric is not None and metric.expects in _COUNTED

    def _loads_across(self, first: str) -> bool:
        """Return whether the heads are load levels, so that factor levels are rows."""
        if len(self.heads) != 1:
            return False
        cells = [cell.strip() for cell in self.heads[0][1][1:] if cell.strip()]
        down = [row[0].strip() for _line, row in self.rows if row]
        across = bool(cells) and all(load_of(cell) is not None for cell in cells)
        if not across or (first and not is_load(first)):
            return across  # the corner names the rows
        return len(cells) > 1 and not all(load_of(cell) is not None for cell in down)

    def _measures_down(self, columns: Sequence[TableColumn]) -> bool:
        """Return whether each row is a metric and levels are columns."""
        if any(column.head.metric for column in columns[1:]) or any(column.role is Role.LOAD for column in columns):
            return False
        measures = [head_of(row[0]).metric is not None for _line, row in self.rows if row]
        named = bool(_MEASURE.fullmatch(columns[0].name)) or len(measures) > 1
        return named and sum(measures) >= max(1, _MOST_MEASURES * len(measures))

    def _across(self, workload: str) -> None:
        loads = [load_of(cell) for cell in self.heads[0][1]]
        for line, row in self.rows:
            head = head_of(row[0])
            level = head.qualifier if head.metric else row[0].strip()
            head = head if head.metric else replace(head, qualifier="")
            for cell, load in zip(row[1:], loads[1:], strict=False):
                if load is not None:
                    labels = {_named(self._factor): level} if level else {}
                    self._put(Setting(labels, workload, load), head, cell, line, 0 if head.metric else line)

    def _down(self, columns: Sequence[TableColumn], workload: str, load: int | None) -> None:
        tests = _tests_named([row[0] for _line, row in self.rows])
        for line, row in self.rows:
            head = head_of(row[0])
            if head.metric is None and any(not empty(cell) for cell in row[1:]):
                self.wrong.add(line)
                continue
            row_load = load_of(_AT.sub("", head.qualifier))
            of_test = head.qualifier if head.qualifier in tests and row_load is None else ""
            under = " ".join(filter(None, (workload, of_test)))
            for column in columns[1:]:
                if column.index < len(row) and column.role is not Role.FOLLOWS:
                    level = {_named(self._factor): column.name} if len(columns) > 2 else {}
                    self._put(Setting(level, under, row_load or load), head, row[column.index], line, 0)
        self._remark_derived_columns(columns)

    def _upright(self, columns: Sequence[TableColumn], corner: str, workload: str, load: int | None) -> None:
        self._first_column(columns, corner)
        if counter := self._counter_over_time(columns):
            self.remarks.append(f"the column {counter} is not read: it is no measure that is known")
            return
        loads = loads_of(columns)
        apart = apart_of(loads, [row for _line, row in self.rows])
        self._changes = changes_of(columns, self._titled)
        spanning: dict[int, str] = {}
        for line, row in self.rows:
            cells = {column.index: row[column.index].strip() for column in columns if column.index < len(row)}
            if loads:
                parts = [load_of(cells.get(column.index, "")) for column in loads]
                if any(part is None for part in parts):
                    self.wrong |= {line} if any(cells.values()) else set()
                    continue
                load = prod(part or 0 for part in parts)
            for column in columns:  # a cell that spans several rows is in the first
                if column.role in (Role.LABEL, Role.WORKLOAD):
                    text = re.sub("[*`]+", "", cells.get(column.index, ""))
                    spanning[column.index] = cells[column.index] = text or spanning.get(column.index, "")
            self._line(line, cells, columns, loads, load, workload, apart)
        self._remark_derived_columns(columns)

    def _counter_over_time(self, columns: Sequence[TableColumn]) -> str:
        """Return the name of a counter that is all that a table of times has; empty for other tables."""
        values = [column for column in columns if column.role is Role.VALUE]
        if {column.role for column in columns} != {Role.TIME, Role.VALUE} or len(values) > 1:
            return ""
        measured = values[0].head.metric or self._titled.metric
        return "" if measured or not is_status(values[0].name) else values[0].name

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
        """Read a row: a run, or one run per level across, or one point of their time series."""
        labels = {
            column.level or column.name or "level": cells.get(column.index, "")
            for column in columns
            if column.role is Role.LABEL
        }
        labels |= {column.name: cells.get(column.index, "") for column in apart}
        kinds = [cells.get(column.index, "") for column in columns if column.role is Role.WORKLOAD]
        full_workload = ", ".join(filter(None, [*dict.fromkeys(kinds), workload]))
        options = {
            column.name: cells.get(column.index, "")
            for column in columns
            if column.role is Role.REPETITION or (column.role is Role.LOAD and column not in loads)
        }
        times = [time_of(column.name, cells.get(column.index, "")) for column in columns if column.role is Role.TIME]
        measured = any(column.head.metric for column in columns)
        for column in columns:
            if column.role is Role.VALUE and column.index in cells:
                level = column.level if column.head.metric or not measured else ""
                head = column.head if column.head.metric or not level else replace(column.head, qualifier="")
                across = {_named(self._factor): level} if level else {}
                column_options = {**options, "repetition": column.repetition} if column.repetition else options
                at_s = times[0] if times else None
                row = line if at_s is None else 0
                setting = Setting({**labels, **across}, full_workload, load, column_options)
                self._put(setting, head, cells[column.index], line, row, at_s)
        for column, metric, pair in self._changes:
            reading = change_of(cells.get(column.index, ""), column.name, metric, self._style, line)
            if reading is not None and not any(empty(cells.get(operand.index, "")) for operand in pair):
                changed = {_named(self._factor): pair[1].level}
                self._read_changes.add(column.index)
                self._store(Setting({**labels, **changed}, full_workload, load, options), reading, line, line)

    def _first_column(self, columns: Sequence[TableColumn], corner: str) -> None:
        """Treat an unnamed first column of rising whole numbers as load levels, else as a label."""
        first = columns[0]
        if is_load(corner):
            first.role = Role.LOAD
        if first.role is not Role.VALUE or any(column.role is Role.LOAD for column in columns):
            return
        cells = [load_of(row[0]) for _line, row in self.rows if row and row[0].strip()]
        rising = [load for load in cells if load is not None]
        words = any(re.search(r"[A-Za-z线并]", row[0]) for _line, row in self.rows)
        if cells and len(rising) == len(cells) > 1 and (words or (not corner and rising == sorted(set(rising)))):
            first.role = Role.LOAD
            self.remarks.append("the first column is taken for the number of threads, since it rises in whole numbers")
        elif first.head.metric is None:
            first.role = Role.LABEL

    def _remark_derived_columns(self, columns: Sequence[TableColumn]) -> None:
        derived = [column for column in columns if column.role is Role.FOLLOWS]
        unread = [column.name for column in derived if column.index not in self._read_changes]
        notes = [column.name for column in columns if column.role is Role.REMARK]
        self.remarks += [f"the column {name} is not read: it holds notes or numbers of rows" for name in notes]
        self.remarks += [f"the column {name} is not read: it follows from others" for name in unread]

    def _put(self, setting: Setting, head: Head, text: str, line: int, row: int, at_s: float | None = None) -> None:
        """Store a cell's number in its run: that of its row, or of its level if `row` is 0."""
        if empty(text):
            return
        reading = reading_of(text, head, self._titled, self._style, line)
        if reading is None:
            self.wrong.add(line)
            return
        self._store(setting, reading, line, row, at_s)

    def _store(self, setting: Setting, reading: LogReading, line: int, row: int, at_s: float | None = None) -> None:
        key = (*setting.key, row)
        run = self._runs_by_key.setdefault(key, TableRuns(setting))
        if at_s is not None and run.at_s:
            following_s = next_time(at_s, run.at_s[-1])
            if following_s is None:
                self._runs_by_key[*key, run.lines[0]] = run
                run = self._runs_by_key[key] = TableRuns(setting)
            else:
                at_s = following_s
        if at_s is None and any(other.metric == reading.metric for other in run.readings):
            if row:
                self.wrong.add(line)  # the metric was already read
                return
            run = self._runs_by_key.setdefault((*key, line), TableRuns(setting))
        run.lines.append(line)
        run.readings.append(reading)
        if at_s is not None:
            run.at_s.append(at_s)


def _has_level(column: TableColumn) -> bool:
    return column.role is Role.VALUE and bool(column.level)


def _tests_named(heads: Sequence[str]) -> set[str]:
    """Return what tells rows of one metric apart: different tests, as in `TPS read-only` and `TPS read-write`."""
    qualifiers: dict[str, set[str]] = defaultdict(set)
    for head in map(head_of, heads):
        if head.metric is not None:
            qualifiers[head.metric.name].add(head.qualifier)
    return {qualifier for several in qualifiers.values() if len(several) > 1 for qualifier in several}


def _names_factor(corner: str) -> bool:
    """Return whether the corner of a table with measures down names a setting, whose levels are across.

    Only words for settings and names of variables, such as innodb_io_capacity, count; most corners name the measures.
    """
    is_setting = bool(_OF_SETTING.fullmatch(corner) or _VARIABLE.fullmatch(corner))
    return is_setting and not (is_load(corner) or kind_in(corner) or head_of(corner).metric)


def _named(factor: str) -> str:
    return factor or "level"
