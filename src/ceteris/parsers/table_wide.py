"""Tables as people publish them: load levels down and factor levels across, or one line for each run."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ceteris.parsers.log import Reading, Run
from ceteris.parsers.table_cells import Cell, Metric, Style, Unit, cell_of, empty, metric_of, style_of, unit_of
from ceteris.parsers.table_heads import Head, factor_of, head_of, words_of

Row = tuple[int, list[str]]
_LOAD = re.compile(
    r"(?:number of |# ?(?:of )?|num[_ ])?(?:threads?|thds?|concurrency|connections?|conns?|clients?|users|sessions?|"
    r"io ?depth|queue ?depth|qd|depth|outstanding|线程数?|并发数?)(?: count|s)?",
    re.IGNORECASE,
)
_LEVEL_OF_LOAD = re.compile(
    r"(?P<n>[0-9]{1,7}) ?(?:threads?|thds?|thr|t|clients?|users|connections?|conns?|sessions?|线程|并发)?|"
    r"(?:qd|t|depth) ?=? ?(?P<d>[0-9]{1,7})",
    re.IGNORECASE,
)
_FOLLOWS = re.compile(r"diff(?:erence)?|change|delta|Δ|gain|improvement|speed-?up|提升|差异", re.IGNORECASE)
_CORNER = re.compile(r"(?P<down>[^\\/|]+?) ?[\\/|] ?(?P<across>[^\\/|]+)")


@dataclass(slots=True)
class _Column:
    """What a column holds: a load, a label, or a measure at a level."""

    index: int
    head: Head
    level: str = ""
    role: str = "value"


@dataclass(slots=True)
class Table:
    """One table with the line above it; and what was read of it."""

    title: str
    heads: list[Row]
    rows: list[Row]
    semicolons: bool = False
    aligned: bool = True  # whether a cell that is empty still has its place
    workload: str = ""
    runs: list[Run] = field(default_factory=list)
    wrong: set[int] = field(default_factory=set)
    remarks: list[str] = field(default_factory=list)

    def read(self) -> None:
        """Fill runs, wrong lines and remarks."""
        factor, titled, self.workload = factor_of(self.title)
        self._even()
        corner = self.heads[-1][1][0].strip() if self.heads else ""
        if found := _CORNER.fullmatch(corner):
            sides = [found["down"].strip(), found["across"].strip()]
            loads = [bool(_LOAD.fullmatch(one)) for one in sides]
            if any(loads) and not all(loads):
                factor = factor or sides[loads.index(False)]
                corner = sides[0]  # what stands down
        style = style_of((cell for _line, row in self.rows for cell in row[1:]), semicolons=self.semicolons)
        if style is Style.UNSURE:
            self.remarks.append(
                "numbers such as 1,234 are left out: the table does not show whether the comma is the decimal's"
            )
        if self._loads_across(corner):
            self._transposed(factor or corner, titled, style)
        else:
            self._upright(factor, titled, corner, style)

    def _even(self) -> None:
        """Leave out lines whose cells cannot be told to be under their heads."""
        width = max(len(row) for _line, row in self.heads)
        fits = [len(row) <= width if self.aligned else len(row) == width for _line, row in self.rows]
        self.wrong |= {line for (line, _row), fit in zip(self.rows, fits, strict=True) if not fit}
        self.rows = [row for row, fit in zip(self.rows, fits, strict=True) if fit]

    def _loads_across(self, first: str) -> bool:
        """Whether the heads are load levels, so that factor levels stand down."""
        if len(self.heads) != 1:
            return False
        cells = [cell.strip() for cell in self.heads[0][1][1:] if cell.strip()]
        down = [row[0].strip() for _line, row in self.rows if row]
        across = len(cells) > 1 and all(_load(cell) is not None for cell in cells)
        if not across or (first and not _LOAD.fullmatch(first)):
            return across  # the corner names what stands down
        return not all(_load(one) is not None for one in down)

    def _transposed(self, factor: str, titled: Head, style: Style) -> None:
        loads = [_load(cell) for cell in self.heads[0][1]]
        for line, row in self.rows:
            head = head_of(row[0])
            level = head.rest if head.metric else row[0].strip()
            for cell, load in zip(row[1:], loads[1:], strict=False):
                if load is None:
                    continue
                reading = self._reading(cell, head if head.metric else titled, titled, style, line)
                if reading is not None:
                    self._run({_named(factor): level} if level else {}, load, [reading], line)

    def _upright(self, factor: str, titled: Head, corner: str, style: Style) -> None:
        columns = self._columns()
        load = self._load_column(columns, corner)
        for line, row in self.rows:
            level_of_load = _load(row[load.index]) if load and load.index < len(row) else None
            if load and level_of_load is None and any(cell.strip() for cell in row):
                self.wrong.add(line)
                continue
            labels = {
                one.level or _named(""): row[one.index].strip()
                for one in columns
                if one.role == "label" and one.index < len(row)
            }
            found: dict[str, list[Reading]] = {}
            for one in columns:
                if one.role != "value" or one is load or one.index >= len(row):
                    continue
                reading = self._reading(row[one.index], one.head, titled, style, line)
                if reading is not None:
                    found.setdefault(one.level, []).append(reading)
            for level, readings in found.items():
                across = {_named(factor): level} if level else {}
                self._run({**labels, **across}, level_of_load, readings, line)

    def _columns(self) -> list[_Column]:
        """What each column is, from one line of heads or from two: levels above measures, or the other way round."""
        width = max(len(row) for _line, row in [*self.heads, *self.rows])
        lines = [[*row, *([""] * (width - len(row)))] for _line, row in self.heads]
        columns = []
        above = ""
        for index in range(width):
            bottom = lines[-1][index] if lines else ""
            if len(lines) > 1:
                above = lines[-2][index].strip() or (above if index else "")
            head, top = head_of(bottom), head_of(above if len(lines) > 1 and index else "")
            if head.metric is None and top.metric is not None:
                head, level = (
                    Head(top.metric, head.unit or top.unit, "", head.strange or top.strange),
                    words_of(f"{top.rest} {bottom.strip()}"),
                )
            else:
                level = words_of(
                    f"{top.rest} {head.rest}" if head.metric or head.unit else f"{top.rest} {bottom.strip()}"
                )
            one = _Column(index=index, head=head, level=level)
            if _FOLLOWS.fullmatch(bottom.strip().strip("*`")):
                one.role = "follows"
                self.remarks.append(f"the column {bottom.strip()} is not read: it follows from others")
                columns.append(one)
                continue
            cells = [row[index] for _line, row in self.rows if index < len(row) and not empty(row[index])]
            if _LOAD.fullmatch(bottom.strip()):
                one.role = "load"
            elif cells and (head.metric is None and not _numeric(cells)):
                one.role = "label"
            columns.append(one)
        return columns

    def _load_column(self, columns: list[_Column], corner: str) -> _Column | None:
        """The column of load levels: named so, or the first where it has no name and rises in whole numbers."""
        named = [one for one in columns if one.role == "load"]
        first = columns[0]
        if named:
            return named[0]
        if _LOAD.fullmatch(corner):
            first.role = "load"
            return first
        cells = [_load(row[0]) for _line, row in self.rows if row and row[0].strip()]
        rising = [one for one in cells if one is not None]
        words = any(re.search(r"[A-Za-z线并]", row[0]) for _line, row in self.rows)
        if cells and len(rising) == len(cells) > 1 and (words or (not corner and rising == sorted(set(rising)))):
            first.role = "load"
            self.remarks.append("the first column is taken for the number of threads, since it rises in whole numbers")
            return first
        if first.role == "value" and first.head.metric is None:
            first.role = "label"
        return None

    def _reading(self, text: str, head: Head, titled: Head, style: Style, line: int) -> Reading | None:
        if empty(text):
            return None
        cell = cell_of(text, style)
        if cell is None:
            self.wrong.add(line)
            return None
        if cell.kind:
            return Reading(metric=cell.kind, value=cell.value, unit="1", line=line, stated=text.strip())
        metric = _side(head.metric, titled.metric) or titled.metric
        strange = head.strange or (titled.strange if not head.unit else "")
        implied = None if strange else metric.implied if metric else None
        unit = unit_of(cell.unit) if cell.unit else head.unit or titled.unit or implied
        if cell.unit and unit is None:
            unit = _thousands(cell, metric)
            if unit is None:
                self.wrong.add(line)
                return None
        return _stated(cell, metric, unit, strange, line, text.strip(), head)

    def _run(self, labels: dict[str, str], load: int | None, readings: list[Reading], line: int) -> None:
        kept: list[Reading] = []
        for one in readings:
            if all((one.metric, one.subject) != (other.metric, other.subject) for other in kept):
                kept.append(one)
            else:
                self.wrong.add(line)
        self.runs.append(
            Run(
                tool="table", workload=self.workload, load=load, labels=labels, readings=tuple(kept), lines=(line, line)
            )
        )


def _stated(
    cell: Cell, metric: Metric | None, unit: Unit | None, strange: str, line: int, text: str, head: Head
) -> Reading:
    """A number in base units where its unit is known and fits; else as it stands, under the table's own name."""
    said = metric.said if metric else words_of(head.rest).lower().replace(" ", "_") or "value"
    if unit is not None and metric is not None and unit.base == "1/min":
        return Reading(metric=metric.name, value=cell.value / 60, unit="1/s", line=line, stated=f"{text} /min")
    if unit is not None and metric is not None and unit.base == metric.expects:
        beside = f" {unit.decimal}/s" if unit.decimal and not cell.unit and unit.base == "B/s" else ""
        return Reading(
            metric=metric.name, value=unit.of(cell.value), unit=unit.base, line=line, stated=f"{text}{beside}"
        )
    if unit is not None and metric is not None and metric.said == "throughput" and unit.base == "1/s":
        return Reading(metric="throughput_per_s", value=cell.value, unit="1/s", line=line, stated=text)
    if unit is not None and unit.base != "1/min":
        return Reading(
            metric=said if metric else "value", value=unit.of(cell.value), unit=unit.base, line=line, stated=text
        )
    return Reading(metric=said if metric else "value", value=cell.value, unit=strange, line=line, stated=text)


def _side(head: Metric | None, titled: Metric | None) -> Metric | None:
    """Reads or writes under a title that says of what they are."""
    sides = {"read": "read", "reads": "read", "write": "write", "writes": "write", "written": "write"}
    if (
        head is None
        or titled is None
        or head.said not in sides
        or titled.name not in ("throughput_per_s", "bytes_per_s")
    ):
        return head
    return metric_of(f"{sides[head.said]}_{'iops' if titled.expects == '1/s' else 'throughput'}")


def _thousands(cell: Cell, metric: Metric | None) -> Unit | None:
    """24.2k of a rate."""
    powers = {"k": 1e3, "K": 1e3, "M": 1e6}
    if metric is not None and metric.expects == "1/s" and cell.unit in powers:
        return Unit("1/s", times=powers[cell.unit])
    return None


def _load(text: str) -> int | None:
    found = _LEVEL_OF_LOAD.fullmatch(text.strip().strip("*`"))
    return int(found["n"] or found["d"]) if found else None


def _numeric(cells: Sequence[str]) -> bool:
    return any(cell_of(one, Style.POINT) is not None or cell_of(one, Style.COMMA) is not None for one in cells)


def _named(factor: str) -> str:
    return factor or "level"
