"""Tables with one number in each line: its factor and level, workload, threads, metric and unit beside it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ceteris.parsers.log import Course, Reading, Run
from ceteris.parsers.table_cells import LEFT_OUT, Style, cell_of, empty, style_of
from ceteris.parsers.table_names import metric_of, unit_of

_OURS = ("factor", "level", "workload", "threads", "sample", "metric", "unit", "value")
Row = tuple[int, list[str]]


def is_long(header: Sequence[str]) -> bool:
    """Whether the heads are those of such a table."""
    names = {name.strip().lower() for name in header}
    return {"metric", "value"} <= names


@dataclass(slots=True)
class _Found:
    """A run of which lines were read."""

    labels: dict[str, str]
    options: dict[str, str]
    workload: str
    load: int | None
    lines: list[int] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)
    samples: dict[tuple[str, str], list[tuple[float, float]]] = field(default_factory=dict)


def runs(header: Sequence[str], rows: Sequence[Row], separator: str) -> tuple[list[Run], list[int], list[str]]:
    """The runs, the lines that were not read, and what is to be told."""
    names = [name.strip().lower() for name in header]
    at = names.index("value")
    cells = [row[at] for _line, row in rows if len(row) > at]
    style = style_of(cells, semicolons=separator == ";", thousands=separator == ",")
    found: dict[tuple[str, ...], _Found] = {}
    wrong: list[int] = []
    sampled = False
    for line, row in rows:
        if len(row) != len(names):
            wrong.append(line)
            continue
        told = dict(zip(names, (cell.strip() for cell in row), strict=True))
        load = told.get("threads", "")
        if empty(told["value"]) or (load and not _whole(load)):
            wrong += [] if not load or _whole(load) else [line]
            continue
        reading = _reading(told, line, style)
        if reading is None:
            wrong.append(line)
            continue
        extra = {name: told[name] for name in names if name not in _OURS and told[name]}
        key = (told.get("factor", ""), told.get("level", ""), told.get("workload", ""), load, *extra.values())
        run = found.setdefault(key, _new(told, extra, load))
        run.lines.append(line)
        sample = told.get("sample", "")
        if _whole(sample):
            sampled = True
            run.samples.setdefault((reading.metric, reading.unit), []).append((float(sample), reading.value))
        elif any(one.metric == reading.metric for one in run.readings):
            _second(run, reading, told["metric"])
        else:
            run.readings.append(reading)
    remarks = ["samples are numbered, without their times: courses count them"] if sampled else []
    if style is Style.UNSURE:
        remarks.append(LEFT_OUT)
    return list(_made(found)), wrong, remarks


def _whole(word: str) -> bool:
    return word.isascii() and word.isdecimal() and len(word) < 10


def _new(told: dict[str, str], extra: dict[str, str], load: str) -> _Found:
    labels = {told["factor"]: told.get("level", "")} if told.get("factor") else {}
    return _Found(labels=labels, options=extra, workload=told.get("workload", ""), load=int(load) if load else None)


def _second(run: _Found, reading: Reading, name: str) -> None:
    """Another number of what the run has a number of already: under the table's own name, or a repetition of it."""
    own = Reading(
        metric=name,
        value=reading.value,
        unit=reading.unit,
        line=reading.line,
        stated=reading.stated,
        subject=reading.subject,
    )
    run.readings.append(own if all(one.metric != name for one in run.readings) else reading)


def _reading(told: dict[str, str], line: int, style: Style) -> Reading | None:
    """The number of a line in its base unit; under the table's own name where none of ours fits name and unit."""
    cell = cell_of(told["value"], style)
    if cell is None or cell.kind:
        return None
    words = told.get("unit", "")
    unit = unit_of(cell.unit or words)
    if (cell.unit or words) and unit is None:
        return None
    metric = metric_of(told["metric"])
    if metric is not None and (unit is None or unit.base == metric.expects):
        name, unit = metric.name, unit or metric.implied
    else:
        name = told["metric"]
    stated = f"{told['value']} {words}".strip()
    if unit is None:
        return Reading(metric=told["metric"], value=cell.value, unit="", line=line, stated=stated)
    per_minute = unit.base == "1/min"
    value = cell.value / 60 if per_minute else unit.of(cell.value)
    return Reading(metric=name, value=value, unit="1/s" if per_minute else unit.base, line=line, stated=stated)


def _made(found: dict[tuple[str, ...], _Found]) -> Iterator[Run]:
    for one in found.values():
        courses = tuple(
            Course(
                metric=metric,
                unit=unit,
                at_s=tuple(at for at, _value in points),
                values=tuple(value for _at, value in points),
            )
            for (metric, unit), points in one.samples.items()
        )
        yield Run(
            tool="table",
            workload=one.workload,
            load=one.load,
            options=one.options,
            labels=one.labels,
            readings=tuple(one.readings),
            courses=courses,
            lines=(min(one.lines), max(one.lines)),
        )
