"""Columns of wide tables: what each of them holds, by its head and by its cells."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import pairwise
from math import prod

from paribus.parsers.numbers import number
from paribus.parsers.tables.cells import Style, cell_of, empty
from paribus.parsers.tables.column_names import in_english
from paribus.parsers.tables.heads import Head, head_of, words_of

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
_TIME = re.compile(
    r"(?:time|elapsed|seconds?|secs?|timestamp|t|interval|sample|时间)(?:[ _]?\(?\[?s(?:ec)?\]?\)?)?", re.IGNORECASE
)
_NEARLY = re.compile(r"[~≈<>≤≥±] ?[0-9]|[0-9][0-9.,]* ?(?:%|x\b|×|/|ms\b|µs\b)")
_SUMMARY = re.compile(
    r"(?:total|sum|average|avg\.?|mean|geo(?:metric )?mean|median|overall|all|合计|总计|平均|均值)", re.IGNORECASE
)


class Role(Enum):
    """What a column is for."""

    VALUE = auto()
    LABEL = auto()
    LOAD = auto()
    WORKLOAD = auto()
    REPETITION = auto()
    TIME = auto()
    FOLLOWS = auto()


@dataclass(slots=True)
class TableColumn:
    """A column: of what it is where it holds a measure, and at which level and in which repetition."""

    index: int
    name: str
    head: Head
    level: str = ""
    role: Role = Role.VALUE
    repetition: str = ""


def is_load(text: str) -> bool:
    """Whether a head is one of load levels."""
    return bool(_LOAD.fullmatch(in_english(text.strip().strip("*`"))))


def load_of(text: str) -> int | None:
    """How much is outstanding: 8, 8 threads, 4 x 32."""
    match = _LEVEL_OF_LOAD.fullmatch(text.strip().strip("*`").replace("_", " "))
    return int(match["n"] or match["d"]) * int(match["times"] or 1) if match else None


def is_summary(text: str) -> bool:
    """Whether a line or a column is made from others."""
    return bool(_SUMMARY.fullmatch(text.strip().strip("*`_:").strip()))


def columns_of(lines: Sequence[Sequence[str]], rows: Sequence[Sequence[str]]) -> list[TableColumn]:
    """What each column is, from one line of heads or from two: levels above measures, or the other way round."""
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
    return columns


def _column(index: int, bottom: str, over: str, cells: Sequence[str]) -> TableColumn:
    head, top = head_of(bottom), head_of(over)
    name = bottom.strip("*`").strip()
    if head.metric is None and top.metric is not None:
        level = words_of(f"{top.rest} {bottom}")
        head = Head(top.metric, head.unit or top.unit, "", head.strange or top.strange)
    else:
        level = words_of(f"{top.rest} {head.rest if head.metric or head.unit else bottom}")
    one = TableColumn(index, name, head, level)
    plain = in_english(name)
    if _FOLLOWS.search(plain) and _measured(cells[:-1] or cells):  # the last may be cut off
        one.role = Role.FOLLOWS
    elif is_load(plain) and all(load_of(cell) is not None for cell in cells):
        one.role = Role.LOAD
    elif _REPETITION.fullmatch(plain) and all(cell.strip().isdecimal() for cell in cells):
        one.role = Role.REPETITION
    elif (_WORKLOAD.fullmatch(plain) and not _numeric(cells)) or (_of_kinds(cells) and not _KNOB.search(plain)):
        one.role = Role.WORKLOAD
    elif cells and head.metric is None and not _measured(cells):
        one.role = Role.LABEL
    elif match := _ONE_OF.fullmatch(level):
        one.level, one.repetition, one.head = "", match[1], replace(head, rest="")
    return one


def _of_kinds(cells: Sequence[str]) -> bool:
    """Whether cells name kinds of load: oltp_read_only, 4K random read, seq write."""
    kinds = sum(bool(_KIND.search(cell.replace("_", " "))) for cell in cells)
    return kinds * 2 > len(cells)


def _settle(columns: Sequence[TableColumn], rows: Sequence[Sequence[str]]) -> None:
    """What only the other columns tell: means of repetitions, points in time, numbers that are levels of a factor."""
    values = [one for one in columns if one.role is Role.VALUE]
    if sum(bool(one.repetition) for one in columns) > 1:
        for one in values:
            if not one.repetition and is_summary(one.level or one.name):
                one.role = Role.FOLLOWS
    levels = {one.level for one in values if one.head.metric and one.level}
    for one in values:  # noop events: of everyday words, where noop is a level of other columns
        level = next((level for level in levels if one.head.metric is None and one.name.startswith(f"{level} ")), "")
        if level and (rest := head_of(one.name.removeprefix(f"{level} "))).metric and not rest.rest:
            one.head, one.level = rest, level
    measured = any(one.head.metric for one in values)
    for one in values:
        cells = [row[one.index].strip() for row in rows if one.index < len(row)]
        if _TIME.fullmatch(one.name) and _in_steps(cells):
            one.role = Role.TIME
        elif measured and one.head.metric is None and one.role is Role.VALUE:
            whole = all(re.fullmatch(r"[0-9]+ ?[A-Za-z]*", cell) for cell in cells)
            again = whole and 1 < len(set(cells)) * 2 <= len(cells) + 1 and len(set(cells)) > 1 and not one.head.unit
            sized = _sized(one) and not any("%" in cell for cell in cells)
            one.role = Role.LABEL if one.index == 0 or again or sized else Role.VALUE


def _sized(one: TableColumn) -> bool:
    """Whether it is a size that was set: of blocks, of memory."""
    return bool(
        re.search(r"\b(?:bs|block|size|memory|ram|pool|cache|buffer|cores|cpus?|vcpus?)\b", one.name, re.IGNORECASE)
    )


def _in_steps(cells: Sequence[str]) -> bool:
    """Whether numbers rise by the same step again and again, as those of interval lines do."""
    values = [number(re.sub(r" ?s$", "", cell)) for cell in cells]
    known = [one for one in values if one is not None]
    if len(known) < 4 or len(known) < len(values):
        return False
    steps = [round(b - a, 6) for a, b in pairwise(known)]
    up = [one for one in steps if one > 0]
    return len(up) * 2 > len(steps) and len(set(up)) == 1


def kind_in(title: str) -> bool:
    """Whether a title names a kind of load: Point Select performance."""
    return bool(_KIND.search(title.replace("_", " ")))


def loads_of(columns: Sequence[TableColumn]) -> list[TableColumn]:
    """The columns whose product is the load: depth times jobs, else one; others of that sort say other things."""
    loads = [one for one in columns if one.role is Role.LOAD]
    depths = [one for one in loads if _DEPTH.search(one.name)]
    jobs = [one for one in loads if one not in depths]
    if depths and jobs:
        return [depths[0], jobs[0]]
    people = [one for one in loads if _PEOPLE.search(one.name)]
    return (people or loads)[:1]


def apart_of(loads: Sequence[TableColumn], rows: Sequence[Sequence[str]]) -> Sequence[TableColumn]:
    """Jobs, where as much is outstanding with other numbers of them: one run is then no repetition of the other."""
    known: dict[int, set[tuple[int, ...]]] = defaultdict(set)
    for row in rows if len(loads) > 1 else []:
        parts = tuple(load_of(row[one.index]) or 0 for one in loads if one.index < len(row))
        known[prod(parts)].add(parts)
    return loads[1:] if any(len(several) > 1 for several in known.values()) else ()


def changes_of(columns: Sequence[TableColumn], titled: Head) -> list[tuple[TableColumn, str, list[TableColumn]]]:
    """Columns that say how one of two levels differs from the other, with the measure and the columns of the two."""
    found = []
    values = [one for one in columns if one.role is Role.VALUE and one.level]
    for column in columns:
        metrics = {one.head.metric or titled.metric for one in values}
        metric = column.head.metric or (metrics.pop() if len(metrics) == 1 else None)
        pair = [one for one in values if (one.head.metric or titled.metric) == metric and one.level != column.level]
        if column.role is Role.FOLLOWS and metric is not None and len(pair) == 2:
            found.append((column, metric.name, pair))
    return found


def _numeric(cells: Sequence[str]) -> bool:
    return _numbers(cells) > 0


def _measured(cells: Sequence[str]) -> bool:
    """Whether more than half of the cells are numbers, or would be but for a mark that nobody understands: ~200 %."""
    alike = (cell for cell in cells if _NEARLY.match(cell.strip("*` ")))
    return 2 * max(_numbers(cells), sum(1 for _ in alike)) > len(cells)


def _numbers(cells: Sequence[str]) -> int:
    return sum(cell_of(one, Style.POINT) is not None or cell_of(one, Style.COMMA) is not None for one in cells)
