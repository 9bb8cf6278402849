"""Tables with one number in each line: its factor and level, workload, threads, metric and unit beside it."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from paribus.parsers.log import LogReading, LogRun, LogSeries
from paribus.parsers.tables.cells import LEFT_OUT, Style, cell_of, empty, style_of
from paribus.parsers.tables.column_names import Unit, metric_of, unit_of

_READ = ("sample", "metric", "unit", "value")
_OURS = ("factor", "level", "workload", "threads", "sample", "metric", "unit", "value")
Row = tuple[int, list[str]]


def is_long(header: Sequence[str]) -> bool:
    """Whether the heads are those of such a table."""
    names = {name.strip().lower() for name in header}
    return {"metric", "value"} < names  # with these two alone, its title says what it is of


@dataclass(slots=True)
class _Found:
    """A run of which lines were read."""

    labels: dict[str, str]
    options: dict[str, str]
    workload: str
    load: int | None
    lines: list[int] = field(default_factory=list)
    readings: list[LogReading] = field(default_factory=list)
    samples: dict[tuple[str, str], list[tuple[float, float]]] = field(default_factory=dict)


@dataclass(slots=True)
class _Table:
    """The columns of a table, and the runs that were found: of each cell the first, the second, and so on."""

    names: list[str]
    style: Style
    found: dict[tuple[str, ...], list[_Found]] = field(default_factory=dict)
    times: dict[tuple[str, ...], int] = field(default_factory=lambda: defaultdict(int))
    sampled: bool = False

    def put(self, line: int, row: Sequence[str]) -> bool:
        """Read a line; False where it is not understood."""
        told = dict(zip(self.names, row, strict=True))
        load, metric = told.get("threads", ""), told["metric"]
        if load and not _whole(load):
            return False
        if empty(told["value"]):
            return True
        reading = _reading(told["value"], metric, told.get("unit", ""), line, self.style)
        if reading is None:
            return False
        key = tuple([told[name] for name in self.names if name not in _READ])
        sample = told.get("sample", "")
        if _whole(sample):
            self.sampled = True
            run = self._run(key, 0, told)
            run.samples.setdefault((reading.metric, reading.unit), []).append((float(sample), reading.value))
        else:
            before = self.times[*key, metric]
            self.times[*key, metric] += 1
            run = self._run(key, before, told)
            if any(one.metric == reading.metric for one in run.readings):
                reading = replace(reading, metric=metric)  # which two of its names stand for
            run.readings.append(reading)
        run.lines.append(line)
        return True

    def _run(self, key: tuple[str, ...], number: int, told: Mapping[str, str]) -> _Found:
        runs = self.found.get(key)
        if runs is None:
            runs = self.found[key] = []
        while len(runs) <= number:
            factor, load = told.get("factor", ""), told.get("threads", "")
            runs.append(
                _Found(
                    labels={factor: told.get("level", "")} if factor else {},
                    options={name: told[name] for name in self.names if name not in _OURS and told[name]},
                    workload=told.get("workload", ""),
                    load=int(load) if load else None,
                )
            )
        return runs[number]


def runs(header: Sequence[str], rows: Sequence[Row], separator: str) -> tuple[list[LogRun], list[int], list[str]]:
    """The runs, the lines that were not read, and what is to be told."""
    names = [name.strip().lower() for name in header]
    at = names.index("value")
    cells = [row[at] for _line, row in rows if len(row) > at]
    style = style_of(cells, semicolons=separator == ";", thousands=separator == ",")
    found = _Table(names, style)
    wrong = [line for line, row in rows if len(row) != len(names) or not found.put(line, row)]
    remarks = ["samples are numbered, without their times: courses count them"] if found.sampled else []
    if style is Style.UNSURE:
        remarks.append(LEFT_OUT)
    return list(_made(found.found)), wrong, remarks


def _whole(word: str) -> bool:
    return word.isascii() and word.isdecimal() and len(word) < 10


def _reading(text: str, metric: str, words: str, line: int, style: Style) -> LogReading | None:
    """The number of a line in its base unit; under the table's own name where none of ours fits name and unit."""
    cell = cell_of(text, style)
    if cell is None or cell.kind:
        return None
    name, unit = _named(metric, cell.unit or words)
    if unit is None and (cell.unit or words):
        return None
    stated = f"{text} {words}" if words else text
    if unit is None:
        return LogReading(metric=metric, value=cell.value, unit="", line=line, stated=stated)
    per_minute = unit.base == "1/min"
    value = cell.value / 60 if per_minute else unit.of(cell.value)
    return LogReading(metric=name, value=value, unit="1/s" if per_minute else unit.base, line=line, stated=stated)


def _named(metric: str, words: str) -> tuple[str, Unit | None]:
    """What a number is of, and its unit; None where that is not known."""
    unit, known = unit_of(words), metric_of(metric)
    if known is not None and (unit is None or unit.base == known.expects):
        return known.name, unit or (None if words else known.implied)
    return metric, unit


def _made(found: Mapping[tuple[str, ...], Sequence[_Found]]) -> Iterator[LogRun]:
    for one in chain.from_iterable(found.values()):
        courses = tuple(
            LogSeries(
                metric=metric,
                unit=unit,
                at_s=tuple(at for at, _value in points),
                values=tuple(value for _at, value in points),
            )
            for (metric, unit), points in one.samples.items()
        )
        yield LogRun(
            tool="table",
            workload=one.workload,
            load=one.load,
            options=one.options,
            labels=one.labels,
            readings=tuple(one.readings),
            courses=courses,
            lines=(min(one.lines), max(one.lines)),
        )
