"""Numbers of wide tables with what they are of, in base units."""

import re

from paribus.parsers.log import LogReading
from paribus.parsers.tables.cells import Style, TableCell, cell_of, empty
from paribus.parsers.tables.column_names import ColumnMetric, Unit, metric_of, unit_of
from paribus.parsers.tables.heads import Head

_SCALED = re.compile("([kKM]?) ?(.*)")


def reading_of(text: str, head: Head, titled: Head, style: Style, line: int) -> LogReading | None:
    """The number in a cell under a head, in a table with a title; None where it is not certain."""
    cell = cell_of(text, style)
    if cell is None:
        return None
    if cell.kind:
        return LogReading(metric=cell.kind, value=cell.value, unit="1", line=line, stated=text.strip())
    metric = _side(head.metric, titled.metric) or titled.metric
    if metric is None and cell.unit and (timed := unit_of(cell.unit)) and timed.base == "s":
        metric = metric_of(f"latency {head.rest}")
    if metric is None and (named := _SCALED.fullmatch(cell.unit)):
        metric = metric_of(named[2])
    strange = head.strange or (titled.strange if not head.unit else "")
    implied = None if strange else metric.implied if metric else None
    unit = head.unit or (titled.unit if head.metric is None or titled.metric == head.metric else None) or implied
    if cell.unit:
        unit = unit_of(cell.unit) or _thousands(cell, metric)
        if unit is None:
            return None
    return _stated(cell, metric, unit, strange, line, text.strip(), head)


def change_of(text: str, head: str, metric: str, style: Style, line: int) -> LogReading | None:
    """How a level's measure is said to differ from another's, as a share; None where that is not certain."""
    cell = None if empty(text) else cell_of(text, style)
    if cell is None:
        return None
    share = cell.value - 1 if cell.kind == "ratio" else cell.value
    if not cell.kind:
        if cell.unit != "%" and (cell.unit or "%" not in head):
            return None
        share = cell.value / 100
    return LogReading(metric=f"{metric}:change", value=share, unit="1", line=line, stated=text.strip())


def _stated(
    cell: TableCell, metric: ColumnMetric | None, unit: Unit | None, strange: str, line: int, text: str, head: Head
) -> LogReading:
    """A number in base units where its unit is known and fits; else as it stands, under the table's own name."""
    said = metric.said if metric else head.rest.lower().replace(" ", "_") or "value"
    if unit is not None and metric is not None and unit.base == "1/min":
        return LogReading(metric=metric.name, value=cell.value / 60, unit="1/s", line=line, stated=f"{text} /min")
    if unit is not None and metric is not None and unit.base == metric.expects:
        beside = f" {unit.decimal}/s" if unit.decimal and not cell.unit and unit.base == "B/s" else ""
        return LogReading(
            metric=metric.name, value=unit.of(cell.value), unit=unit.base, line=line, stated=f"{text}{beside}"
        )
    if unit is not None and metric is not None and metric.said == "throughput" and unit.base == "1/s":
        return LogReading(metric="throughput_per_s", value=cell.value, unit="1/s", line=line, stated=text)
    if unit is not None and unit.base != "1/min":
        return LogReading(metric=said, value=unit.of(cell.value), unit=unit.base, line=line, stated=text)
    return LogReading(metric=said, value=cell.value, unit=strange, line=line, stated=text)


def _side(head: ColumnMetric | None, titled: ColumnMetric | None) -> ColumnMetric | None:
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


def _thousands(cell: TableCell, metric: ColumnMetric | None) -> Unit | None:
    """24.2k of a rate."""
    match = _SCALED.fullmatch(cell.unit)
    if not match or metric is None or metric.expects != "1/s" or (match[2] and unit_of(match[2]) != Unit("1/s")):
        return None
    return Unit("1/s", times={"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6}[match[1]])
