"""Columns of wide tables: the role of each, from its head and its cells."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from math import prod

from paribus.parsers.tables.cells import Style, cell_of, empty
from paribus.parsers.tables.column_names import in_english
from paribus.parsers.tables.heads import Head, head_of, words_of
from paribus.parsers.tables.quotients import quotients
from paribus.parsers.tables.time_columns import TimeRole, is_time_name, time_role

_LOAD = re.compile(
    r"(?:number of |# ?(?:of )?|num[_ ]?|total |concurrent )?"
    r"(?:threads?|thds?|concurrency|connections?|conns?|clients?|(?:virtual )?users|vus?|sessions?|io ?depth|"
    r"queue ?depth|qd|depth|outstanding|jobs|workers|terminals|(?:thread|client) ?count)s?"
    r"(?:(?: ?[x×*] ?| )(?:io ?depth|queue ?depth|qd|depth))?",
    re.IGNORECASE,
)
_DEPTH = re.compile(r"(?:io ?|queue ?)?depth|qd", re.IGNORECASE)
_PEOPLE = re.compile(r"clients?|connections?|conns?|concurrency|users|sessions?|terminals", re.IGNORECASE)
_LEVEL_OF_LOAD = re.compile(
    r"(?P<n>[0-9]{1,7}) ?(?:[x×*] ?(?P<times>[0-9]{1,5}))? ?"
    r"(?:threads?|thds?|thr|t|clients?|users|connections?|conns?|sessions?|jobs?|线程|并发)?|"
    r"(?:qd|t|depth) ?=? ?(?P<d>[0-9]{1,7})",
    re.IGNORECASE,
)
_FOLLOWS = re.compile(
    r"diff(?:erence)?|\bratio\b|efficiency|change|delta|Δ|gain|improvement|speed-?up|relative|overhead|regression|提升|差异|对比|改善|"
    r"\bvs\.? |^(?:%|x)$",
    re.IGNORECASE,
)
_WORKLOAD = re.compile(
    r"(?:sysbench |fio )?(?:workload|scenario|test(?: ?case| ?name| ?type)?|benchmark|(?:access |io )?pattern|rw|"
    r"operation|script|transaction type|测试项?|测试类型|场景|负载)",
    re.IGNORECASE,
)
_KIND = re.compile(
    r"\b(?:oltp|tpc-?c|(?:rand(?:om)?|seq(?:uential)?|rnd) ?-?(?:read|write|rw|rd|wr)s?|(?:read|write)[ -]only|"
    r"point select|(?:update|insert|select|delete)(?: (?:non )?-?index)?|read[ -]?write)\b|随机|顺序|只读|只写|读写",
    re.IGNORECASE,
)
_KNOB = re.compile(r"policy|cache|scheduler|method|level|size|storage|engine|version", re.IGNORECASE)
_REPETITION = re.compile(
    r"(?:run|no\.?|#|nr\.?|iteration|iter|rep(?:etition|eat|licate)?|round|trial|次数|序号|轮次)"
    r"(?: ?(?:#|no\.?|number|id))?",
    re.IGNORECASE,
)
_ONE_OF = re.compile(
    r"(?:run|iteration|iter|rep(?:etition|eat)?|round|trial|第) ?#?([0-9]{1,3}) ?[次轮]?", re.IGNORECASE
)
_REMARK = re.compile(r"(?:foot)?notes?|remarks?|comments?|urls?|links?|备注|说明|注释", re.IGNORECASE)
_PLACE = re.compile(  # places in a source
    r"(?:source|file|page|ref(?:erence)?)(?: ?(?:line|no\.?|number|id|index|#))?s?",
    re.IGNORECASE,
)
_LINE = re.compile(
    r"(?:(?:lines?|l|rows?|pp?\.?|pages?|no\.?|#) ?)?[0-9]+(?: ?[-–] ?[0-9]+)?|\S+:[0-9]+", re.IGNORECASE
)
_LONG_CELL = 5  # words; a level is shorter
_NEARLY = re.compile(r"[~≈<>≤≥±] ?[0-9]|[0-9][0-9.,]* ?(?:%|x\b|×|/|ms\b|µs\b)")
_SUMMARY = re.compile(
    r"(?:total|sum|average|avg\.?|mean|geo(?:metric )?mean|median|overall|all|合计|总计|平均|均值)", re.IGNORECASE
)


_MEAN = re.compile(r"(?:arithmetic )?(?:mean|average|avg\.?|平均|均值)", re.IGNORECASE)
_SPREAD = re.compile(
    r"min(?:imum)?|max(?:imum)?|median|(?:std|standard)\.?[ _-]?(?:dev|deviation|err|error)?\.?|sd|cv|rsd"
    r"|var(?:iance)?|range|(?:最小|最大|中位)值?|标准差",
    re.IGNORECASE,
)


class Role(Enum):
    """Role of a column."""

    VALUE = auto()
    LABEL = auto()
    LOAD = auto()
    WORKLOAD = auto()
    REPETITION = auto()
    TIME = auto()
    REMARK = auto()
    FOLLOWS = auto()


@dataclass(slots=True)
class TableColumn:
    """A column: its metric, if any, its factor level and its repetition."""

    index: int
    name: str
    head: Head
    level: str = ""
    role: Role = Role.VALUE
    repetition: str = ""


def is_load(text: str) -> bool:
    """Return whether a head names load levels."""
    return bool(_LOAD.fullmatch(in_english(text.strip().strip("*`"))))


def load_of(text: str) -> int | None:
    """Return the number of outstanding operations: 8, 8 threads, 4 x 32; None if it is none."""
    match = _LEVEL_OF_LOAD.fullmatch(text.strip().strip("*`").replace("_", " "))
    return int(match["n"] or match["d"]) * int(match["times"] or 1) if match else None


def is_repetition(text: str) -> bool:
    """Return whether a head numbers repetitions."""
    return bool(_REPETITION.fullmatch(in_english(text)))


def is_summary(text: str) -> bool:
    """Return whether a row or column summarises others."""
    return bool(_SUMMARY.fullmatch(text.strip().strip("*`_:").strip()))


def columns_of(lines: Sequence[Sequence[str]], rows: Sequence[Sequence[str]]) -> list[TableColumn]:
    """Return the columns from one line of heads or from two: levels above metrics, or the reverse."""
    width = max(len(row) for row in [*lines, *rows])
    heads = [[*row, *([""] * (width - len(row)))] for row in lines]
    columns = []
    above = ""
    for index in range(width):
        bottom = heads[-1][index].strip() if heads else ""
        if len(heads) > 1:
            above = heads[-2][index].strip() or (above if index else "")
        cells = [row[index] for row in rows if index < len(row) and not empty(row[index])]
        columns.append(_column(index, bottom, above if len(heads) > 1 and index else "", cells))
    _settle(columns, rows)
    _settle_statistics(columns)
    _settle_quotients(columns, rows)
    return columns


def _column(index: int, bottom: str, over: str, cells: Sequence[str]) -> TableColumn:
    head, top = head_of(bottom), head_of(over)
    name = bottom.strip("*`").strip()
    if head.metric is None and top.metric is not None:
        level = words_of(f"{top.qualifier} {bottom}")
        head = Head(top.metric, head.unit or top.unit, "", head.unknown_unit or top.unknown_unit)
    else:
        level = words_of(f"{top.qualifier} {head.qualifier if head.metric or head.unit else bottom}")
    column = TableColumn(index, name, head, level)
    plain = in_english(name)
    if _FOLLOWS.search(plain) and _measured(cells[:-1] or cells):  # the last cell may be cut
        column.role = Role.FOLLOWS
    elif is_load(plain) and all(load_of(cell) is not None for cell in cells):
        column.role = Role.LOAD
    elif is_repetition(plain) and all(cell.strip().isdecimal() for cell in cells):
        column.role = Role.REPETITION
    elif (_WORKLOAD.fullmatch(plain) and not _numeric(cells)) or (_of_kinds(cells) and not _KNOB.search(plain)):
        column.role = Role.WORKLOAD
    elif cells and head.metric is None and not _measured(cells):
        column.role = Role.LABEL
    elif match := _ONE_OF.fullmatch(level):
        column.level, column.repetition, column.head = "", match[1], replace(head, qualifier="")
    return column


def _of_kinds(cells: Sequence[str]) -> bool:
    """Return whether most cells name workloads: oltp_read_only, 4K random read, seq write."""
    kinds = sum(bool(_KIND.search(cell.replace("_", " "))) for cell in cells)
    return kinds * 2 > len(cells)


def _settle(columns: Sequence[TableColumn], rows: Sequence[Sequence[str]]) -> None:
    """Set the roles that depend on other columns: means of repetitions, times, numeric factor levels."""
    _settle_remarks(columns, rows)
    values = [column for column in columns if column.role is Role.VALUE]
    if sum(bool(column.repetition) for column in columns) > 1:
        for column in values:
            if not column.repetition and is_summary(column.level or column.name):
                column.role = Role.FOLLOWS
    levels = {column.level for column in values if column.head.metric and column.level}
    for column in values:  # `noop events`: noop is a level of other columns
        level = next(
            (level for level in levels if column.head.metric is None and column.name.startswith(f"{level} ")), ""
        )
        if level and (rest_head := head_of(column.name.removeprefix(f"{level} "))).metric and not rest_head.qualifier:
            column.head, column.level = rest_head, level
    measured = any(column.head.metric for column in values)
    for column in values:
        cells = [row[column.index].strip() for row in rows if column.index < len(row)]
        if measured and column.head.metric is None and column.role is Role.VALUE:
            whole = all(re.fullmatch(r"[0-9]+ ?[A-Za-z]*", cell) for cell in cells)
            repeats = (
                whole and 1 < len(set(cells)) * 2 <= len(cells) + 1 and len(set(cells)) > 1 and not column.head.unit
            )
            sized = _sized(column) and not any("%" in cell for cell in cells)
            column.role = Role.LABEL if column.index == 0 or repeats or sized else Role.VALUE


def _settle_statistics(columns: Sequence[TableColumn]) -> None:
    """Keep the mean of columns that are statistics of one measure, such as min, avg, max and STDDEV%."""
    by_metric: dict[str, list[TableColumn]] = defaultdict(list)
    for column in columns:
        if column.role is Role.VALUE and column.index:
            by_metric[column.head.metric.name if column.head.metric else ""].append(column)
    for group in by_metric.values():
        texts = [(column.level or column.name).strip("%*` ()") for column in group]
        means = [column for column, text in zip(group, texts, strict=True) if _MEAN.fullmatch(text)]
        spreads = [column for column, text in zip(group, texts, strict=True) if _SPREAD.fullmatch(text)]
        if len(means) == 1 and len(means) + len(spreads) == len(group):
            means[0].level = ""
            for column in spreads:
                column.role = Role.FOLLOWS


def _settle_quotients(columns: Sequence[TableColumn], rows: Sequence[Sequence[str]]) -> None:
    """Set the role of columns without a measure that are quotients of others: a by b of the levels a and b."""
    full_rows = [row for row in rows if len(row) == len(columns)]
    values = [column.index for column in columns if column.role is Role.VALUE and column.index]
    for index in quotients({index: [row[index].strip() for row in full_rows] for index in values}):
        if columns[index].head.metric is None:
            columns[index].role = Role.FOLLOWS


def _sized(column: TableColumn) -> bool:
    """Return whether the column is a configured size, of blocks or memory."""
    return bool(
        re.search(r"\b(?:bs|block|size|memory|ram|pool|cache|buffer|cores|cpus?|vcpus?)\b", column.name, re.IGNORECASE)
    )


def _settle_remarks(columns: Sequence[TableColumn], rows: Sequence[Sequence[str]]) -> None:
    """Set the roles of columns that are no condition of a run: notes, row numbers, and times of points."""
    full_rows = [row for row in rows if len(row) == len(columns)]
    cells = {column.index: [row[column.index].strip() for row in full_rows] for column in columns}
    for column in columns:
        labelled = any(_is_condition(other) for other in columns if other is not column)
        prose = labelled and column.role is Role.LABEL and column.index > 0 and _is_prose(cells[column.index])
        if prose or is_remark(column.name, cells[column.index], labelled=labelled):
            column.role = Role.REMARK
    for column in columns:
        others = [other for other in columns if other is not column]
        conditions = [other.index for other in others if _is_condition(other) and not is_time_name(other.name)]
        settings = [tuple(row[index].strip() for index in conditions) for row in full_rows]
        measured = any(other.role is Role.VALUE for other in others)
        if column.role in (Role.VALUE, Role.LABEL) and measured:
            role = time_role(column.name, cells[column.index], settings)
            column.role = {TimeRole.POINTS: Role.TIME, TimeRole.REMARK: Role.REMARK, None: column.role}[role]
        elif column.role is Role.REPETITION and len(set(settings)) == len(settings) > 2:
            column.role = Role.REMARK  # it numbers the rows


def _is_condition(column: TableColumn) -> bool:
    return column.role in (Role.LABEL, Role.WORKLOAD, Role.LOAD)


def is_remark(name: str, cells: Sequence[str], *, labelled: bool) -> bool:
    """Return whether a column holds notes, or numbers of rows or lines; `labelled` if others have conditions."""
    plain = name.replace("_", " ").strip("*` ")
    filled = [cell for cell in cells if not empty(cell)]
    places = all(map(_LINE.fullmatch, filled)) and 0 < len(filled) < 2 * len(set(filled))
    return bool(_REMARK.fullmatch(plain)) or (labelled and places and bool(_PLACE.fullmatch(plain)))


def _is_prose(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if not empty(cell)]
    return sum(len(cell.split()) >= _LONG_CELL for cell in filled) * 2 > len(filled)


def kind_in(title: str) -> bool:
    """Return whether a title names a workload: Point Select performance."""
    return bool(_KIND.search(title.replace("_", " ")))


def loads_of(columns: Sequence[TableColumn]) -> list[TableColumn]:
    """Return the columns whose product is the load: depth and jobs, else one load column."""
    loads = [column for column in columns if column.role is Role.LOAD]
    depths = [column for column in loads if _DEPTH.search(column.name)]
    jobs = [column for column in loads if column not in depths]
    if depths and jobs:
        return [depths[0], jobs[0]]
    people = [column for column in loads if _PEOPLE.search(column.name)]
    return (people or loads)[:1]


def apart_of(loads: Sequence[TableColumn], rows: Sequence[Sequence[str]]) -> Sequence[TableColumn]:
    """Return the job columns if equal products come from different factors; such runs are no repetitions."""
    splits: dict[int, set[tuple[int, ...]]] = defaultdict(set)
    for row in rows if len(loads) > 1 else []:
        parts = tuple(load_of(row[column.index]) or 0 for column in loads if column.index < len(row))
        splits[prod(parts)].add(parts)
    return loads[1:] if any(len(several) > 1 for several in splits.values()) else ()


def changes_of(columns: Sequence[TableColumn], titled: Head) -> list[tuple[TableColumn, str, list[TableColumn]]]:
    """Return the columns of changes between two levels, each with its metric and the columns of the two levels."""
    changes = []
    values = [value_column for value_column in columns if value_column.role is Role.VALUE and value_column.level]
    for column in columns:
        metrics = {value_column.head.metric or titled.metric for value_column in values}
        metric = column.head.metric or (metrics.pop() if len(metrics) == 1 else None)
        pair = [
            value_column
            for value_column in values
            if (value_column.head.metric or titled.metric) == metric and value_column.level != column.level
        ]
        if column.role is Role.FOLLOWS and metric is not None and len(pair) == 2:
            changes.append((column, metric.name, pair))
    return changes


def _numeric(cells: Sequence[str]) -> bool:
    return _numbers(cells) > 0


def _measured(cells: Sequence[str]) -> bool:
    """Return whether more than half of the cells are numbers, or numbers with an unknown mark such as ~200 %."""
    marked = (cell for cell in cells if _NEARLY.match(cell.strip("*` ")))
    return 2 * max(_numbers(cells), sum(1 for _ in marked)) > len(cells)


def _numbers(cells: Sequence[str]) -> int:
    return sum(cell_of(cell, Style.POINT) is not None or cell_of(cell, Style.COMMA) is not None for cell in cells)
