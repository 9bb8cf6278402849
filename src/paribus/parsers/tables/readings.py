"""Readings of wide tables, in base units."""

import re

from paribus.parsers.log import LogReading
from paribus.parsers.tables.cells import Style, TableCell, cell_of, empty
from paribus.parsers.tables.column_names import ColumnMetric, Unit, metric_of, unit_of
from paribus.parsers.tables.heads import Head

_SCALED = re.compile("([kKM]?) ?(.*)")


def reading_of(text: str, head: Head, titled: Head, style: Style, line: int) -> LogReading | None:
    """Return the number in a cell below a head in a titled table; None if it is ambiguous."""
    cell = cell_of(text, style)
    if cell is None:
        return None
    if cell.kind:
        return LogReading(metric=cell.kind, value=cell.value, unit="1", line=line, stated=text.strip())
    metric = _side(head.metric, titled.metric) or titled.metric
    if metric is None and cell.unit and (timed := unit_of(cell.unit)) and timed.base == "s":
        metric = metric_of(f"latency {head.qualifier}")
    if metric is None and (named := _SCALED.fullmatch(cell.unit)):
        metric = metric_of(named[2])
    unknown_unit = head.unknown_unit or (titled.unknown_unit if not head.unit else "")
    implied = None if unknown_unit else metric.implied if metric else None
    unit = head.unit or (titled.unit if head.metric is None or titled.metric == head.metric else None) or implied
    if cell.unit:
        unit = unit_of(cell.unit) or _thousands(cell, metric)
        if unit is None:
            return None
    return _reading(cell, metric, unit, unknown_unit, line, text.strip(), head)


def change_of(text: str, head: str, metric: str, style: Style, line: int) -> LogReading | None:
    """Return a stated change between two levels as a share; None if it is ambiguous."""
    cell = None if empty(text) else cell_of(text, style)
    if cell is None:
        return None
    share = cell.value - 1 if cell.kind == "ratio" else cell.value
    if not cell.kind:
        if cell.unit != "%" and (cell.unit or "%" not in head):
            return None
        share = cell.value / 100
    return LogReading(metric=f"{metric}:change", value=share, unit="1", line=line, stated=text.strip())


def _reading(
    cell: TableCell, metric: ColumnMetric | None, unit: Unit | None, unknown_unit: str, line: int, text: str, head: Head
) -> LogReading:
    """Return a number in base units if its unit fits the metric; else as written, under the table's own name."""
    name = metric.spelling if metric else head.qualifier.lower().replace(" ", "_") or "value"
    if unit is not None and metric is not None and unit.base == "1/min":
        return LogReading(metric=metric.name, value=cell.value / 60, unit="1/s", line=line, stated=f"{text} /min")
    if unit is not None and metric is not None and unit.base == metric.expects:
        beside = f" {unit.decimal}/s" if unit.decimal and not cell.unit and unit.base == "B/s" else ""
        return LogReading(
            metric=metric.name, value=unit.of(cell.value), unit=unit.base, line=line, stated=f"{text}{beside}"
        )
    if unit is not None and metric is not None and metric.spelling == "throughput" and unit.base == "1/s":
        return LogReading(metric="throughput_per_s", value=cell.value, unit="1/s", line=line, stated=text)
    if unit is not None and unit.base != "1/min":
        return LogReading(metric=name, value=unit.of(cell.value), unit=unit.base, line=line, stated=text)
    return LogReading(metric=name, value=cell.value, unit=unknown_unit, line=line, stated=text)


def _side(head: ColumnMetric | None, titled: ColumnMetric | None) -> ColumnMetric | None:
    """Return the metric of reads or writes in a table whose title names throughput or rates."""
    sides = {"read": "read", "reads": "read", "write": "write", "writes": "write", "written": "write"}
    if (
        head is None
        or titled is None
        or head.spelling not in sides
        or titled.name not in ("throughput_per_s", "bytes_per_s")
    ):
        return head
    return metric_of(f"{sides[head.spelling]}_{'iops' if titled.expects == '1/s' else 'throughput'}")


def _thousands(cell: TableCell, metric: ColumnMetric | None) -> Unit | None:
    """Return the unit of a scaled rate such as 24.2k."""
    match = _SCALED.fullmatch(cell.unit)
    if not match or metric is None or metric.expects != "1/s" or (match[2] and unit_of(match[2]) != Unit("1/s")):
        return None
    return Unit("1/s", times={"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6}[match[1]])
