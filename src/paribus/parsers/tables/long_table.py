"""Tables with one number per line: factor and level, workload, threads, metric and unit in other columns."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from paribus.parsers.log import LogReading, LogRun, LogSeries
from paribus.parsers.tables.cells import LEFT_OUT, Style, cell_of, empty, style_of
from paribus.parsers.tables.column_names import Unit, metric_of, unit_of
from paribus.parsers.tables.columns import is_remark
from paribus.parsers.tables.time_columns import TimeRole, is_time_name, next_time, time_of, time_role

_READ = ("sample", "metric", "unit", "value")
_OURS = ("factor", "level", "workload", "threads", "sample", "metric", "unit", "value")
Row = tuple[int, list[str]]


def is_long(header: Sequence[str]) -> bool:
    """Return whether the heads are those of such a table."""
    names = {name.strip().lower() for name in header}
    return {"metric", "value"} < names  # with only these two, the title names the subject


@dataclass(slots=True)
class _LongRun:
    """A run being read."""

    labels: dict[str, str]
    options: dict[str, str]
    workload: str
    load: int | None
    lines: list[int] = field(default_factory=list)
    readings: list[LogReading] = field(default_factory=list)
    samples: dict[tuple[str, str], list[tuple[float, float]]] = field(default_factory=dict)


@dataclass(slots=True)
class _Table:
    """Columns of a table and its runs: for each cell the first repetition, the second, and so on."""

    names: list[str]
    style: Style
    sample: str = "sample"
    unread: frozenset[str] = frozenset()
    runs_by_key: dict[tuple[str, ...], list[_LongRun]] = field(default_factory=dict)
    times: dict[tuple[str, ...], int] = field(default_factory=lambda: defaultdict(int))
    sampled: bool = False

    def put(self, line: int, row: Sequence[str]) -> bool:
        """Read a line; False if it is not understood."""
        values = dict(zip(self.names, row, strict=True))
        load, metric = values.get("threads", ""), values["metric"]
        if load and not _whole(load):
            return False
        if empty(values["value"]):
            return True
        reading = _reading(values["value"], metric, values.get("unit", ""), line, self.style)
        if reading is None:
            return False
        not_key = {*_READ, self.sample, *self.unread}
        key = tuple([values[name] for name in self.names if name not in not_key])
        sample = values.get(self.sample, "")
        at_s = time_of(self.sample, sample) if sample else None
        if at_s is not None:
            self.sampled = True
            series = (reading.metric, reading.unit)
            run = self._run(key, self.times[*key, metric], values)
            following_s = next_time(at_s, run.samples[series][-1][0]) if series in run.samples else at_s
            if following_s is None:  # another run begins
                self.times[*key, metric] += 1
                run, following_s = self._run(key, self.times[*key, metric], values), at_s
            run.samples.setdefault(series, []).append((following_s, reading.value))
        else:
            number = self.times[*key, metric]
            self.times[*key, metric] += 1
            run = self._run(key, number, values)
            if any(other.metric == reading.metric for other in run.readings):
                reading = replace(reading, metric=metric)  # two names in the table map to this metric
            run.readings.append(reading)
        run.lines.append(line)
        return True

    def _run(self, key: tuple[str, ...], number: int, values: Mapping[str, str]) -> _LongRun:
        runs = self.runs_by_key.get(key)
        if runs is None:
            runs = self.runs_by_key[key] = []
        while len(runs) <= number:
            factor, load = values.get("factor", ""), values.get("threads", "")
            runs.append(
                _LongRun(
                    labels={factor: values.get("level", "")} if factor else {},
                    options={
                        name: values[name]
                        for name in self.names
                        if name not in (*_OURS, self.sample, *self.unread) and values[name]
                    },
                    workload=values.get("workload", ""),
                    load=int(load) if load else None,
                )
            )
        return runs[number]


def runs(header: Sequence[str], rows: Sequence[Row], separator: str) -> tuple[list[LogRun], list[int], list[str]]:
    """Return the runs, the lines that were not read, and remarks."""
    names = [name.strip().lower() for name in header]
    index = names.index("value")
    cells = [row[index] for _line, row in rows if len(row) > index]
    style = style_of(cells, semicolons=separator == ";", thousands=separator == ",")
    sample, unread = _settled(names, [row for _line, row in rows if len(row) == len(names)])
    table = _Table(names, style, sample, frozenset(unread))
    wrong = [line for line, row in rows if len(row) != len(names) or not table.put(line, row)]
    remarks = [f"the column {name} is not read: it holds notes or numbers of rows" for name in unread]
    if table.sampled and sample == "sample":
        remarks.append("samples are numbered, without their times: courses count them")
    if style is Style.UNSURE:
        remarks.append(LEFT_OUT)
    return list(_log_runs(table.runs_by_key)), wrong, remarks


def _settled(names: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[str, list[str]]:
    """Return the column that numbers or times the points of a run, and the columns that are no condition of a run."""
    cells = {name: [row[index].strip() for row in rows] for index, name in enumerate(names)}
    others = [name for name in names if name not in _OURS]
    unread = [name for name in others if is_remark(name, cells[name], labelled=True)]
    sample = "sample"
    conditions = [name for name in names if name not in _READ[2:] and name not in unread and not is_time_name(name)]
    settings = list(zip(*(cells[name] for name in conditions), strict=True))
    for name in others:
        role = time_role(name, cells[name], settings)
        if role is TimeRole.POINTS and not any(cells.get("sample", ())):
            sample = name
        elif role is not None and name not in unread:
            unread.append(name)
    return sample, unread


def _whole(word: str) -> bool:
    return word.isascii() and word.isdecimal() and len(word) < 10


def _reading(text: str, metric: str, unit_text: str, line: int, style: Style) -> LogReading | None:
    """Return the number of a line in its base unit; under the table's own name if the unit does not fit."""
    cell = cell_of(text, style)
    if cell is None or cell.kind:
        return None
    name, unit = _named(metric, cell.unit or unit_text)
    if unit is None and (cell.unit or unit_text):
        return None
    stated = f"{text} {unit_text}" if unit_text else text
    if unit is None:
        return LogReading(metric=metric, value=cell.value, unit="", line=line, stated=stated)
    per_minute = unit.base == "1/min"
    value = cell.value / 60 if per_minute else unit.of(cell.value)
    return LogReading(metric=name, value=value, unit="1/s" if per_minute else unit.base, line=line, stated=stated)


def _named(metric: str, unit_text: str) -> tuple[str, Unit | None]:
    """Return the metric and its unit; None for an unknown unit."""
    unit, column_metric = unit_of(unit_text), metric_of(metric)
    if column_metric is not None and (unit is None or unit.base == column_metric.expects):
        return column_metric.name, unit or (None if unit_text else column_metric.implied)
    return metric, unit


def _log_runs(runs_by_key: Mapping[tuple[str, ...], Sequence[_LongRun]]) -> Iterator[LogRun]:
    for run in chain.from_iterable(runs_by_key.values()):
        courses = tuple(
            LogSeries(
                metric=metric,
                unit=unit,
                at_s=tuple(at for at, _value in points),
                values=tuple(value for _at, value in points),
            )
            for (metric, unit), points in run.samples.items()
        )
        yield LogRun(
            tool="table",
            workload=run.workload,
            load=run.load,
            options=run.options,
            labels=run.labels,
            readings=tuple(run.readings),
            courses=courses,
            lines=(min(run.lines), max(run.lines)),
        )
