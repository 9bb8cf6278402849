"""Violations of plausibility laws by the figures of an imported set; cells are orders of trials."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from paribus.findings import Breach
from paribus.model import Claim, Measurement, Origin, Trial
from paribus.plausibility import Claimed, StatedCell, StatedFigure, of_set
from paribus.plausibility.quantity import SECOND_COUNT
from paribus.plausibility.text import wholes
from paribus.units import LoadUnit, parse_size

_BLOCKS = ("file-block-size", "bs", "block-size", "blocksize", "io-size", "memory-block-size")
_IN_WORDS = re.compile(r"(?<![\w.])([0-9]+)\s*(?:-byte|([KM])i?B?|B)\b(?: blocks)?", re.IGNORECASE)
_SIZED = re.compile(r"fileio|rnd|rand|seq|\b(?:read|write)s?\b|\bblocks?\b", re.IGNORECASE)
_CLOSED = ("sysbench", "pgbench", "fio", "tpcc", "orion")
_THINKING = ("tpcc", "fileio", "fio")
"""Tools whose threads also spend untimed time: thinking, waiting for an fsync, or below their allowed rate."""
_RATED = ("rate", "rate_iops", "thinktime")
_RESETTING = ("warmup-time", "report-checkpoints")
_LATE = "schedule_lag_mean_s"  # pgbench reports it for a requested rate
_WHOLE_RATES = {"throughput_per_s", "reads_per_s", "writes_per_s"}
_NONE = StatedFigure(0.0, ".")
_COUNTED_AGAIN = {"events": "operations", "transactions": "operations"}
"""Names of a count that a table repeats under a second name."""
_ALSO_CALLED = {"iops_peak": "throughput_per_s", "throughput_peak": "bytes_per_s"}
SAMPLED = ("throughput_per_s", "queries_per_s", "bytes_per_s", "read_bytes_per_s", "written_bytes_per_s")
"""Metrics of the points of a table's series."""

Courses = Mapping[str, Mapping[int, Measurement]]


def inconsistencies(
    trials: Sequence[Trial],
    origins: Mapping[int, Origin],
    paths: Mapping[int, str],
    courses: Courses,
    claims: Sequence[Claim] = (),
) -> list[Breach]:
    """Return the violations by the figures of the trials.

    Args:
        trials: Trials of the set.
        origins: Where each trial comes from, with its readings.
        paths: Paths of the sources, by number.
        courses: Time series of published tables' trials, by metric.
        claims: Claims whose percentages are compared with the tables.
    """
    cells = [(trial.order, _cell(trial, origins[trial.order], paths)) for trial in trials if trial.order in origins]
    points = [(order, point) for order, cell in cells if cell.table for point in _points(order, cell, courses)]
    orders, all_cells = [order for order, _ in cells + points], [cell for _, cell in cells + points]
    return [
        replace(breach, cells=tuple(dict.fromkeys(orders[index] for index in breach.cells)))
        for breach in of_set(all_cells, _percentages(claims))
    ] + list(wholes({claim.id: claim.statement for claim in claims}))


def is_published(origin: Origin) -> bool:
    """Return whether a trial is from a published table, whose points are tested too."""
    return bool(origin.said["tool"] == "table")


def _percentages(claims: Sequence[Claim]) -> list[Claimed]:
    return [
        Claimed(
            where=claim.id,
            factor=change.factor or claim.factor,
            start=change.start,
            end=change.end,
            percent=StatedFigure(float(change.percent), change.percent),
            extent=change.over,
            load=change.load,
            about=change.about,
        )
        for claim in claims
        for change in claim.changes
    ]


def _points(order: int, cell: StatedCell, courses: Courses) -> Iterator[StatedCell]:
    """Each point of a table's series, as a cell."""
    points_by_metric = {metric: courses[metric][order].points for metric in SAMPLED if order in courses.get(metric, {})}
    for number in range(max(map(len, points_by_metric.values()), default=0)):
        figures = {
            metric: StatedFigure(points[number]) for metric, points in points_by_metric.items() if number < len(points)
        }
        yield replace(cell, figures=figures, sample=number + 1)


def _cell(trial: Trial, origin: Origin, paths: Mapping[int, str]) -> StatedCell:
    reading_record = origin.said
    figures: dict[str, StatedFigure] = {}
    for metric, value, _unit, _line, stated, subject in reading_record["readings"]:
        if not subject:
            figures.setdefault(_ALSO_CALLED.get(metric, metric), StatedFigure(value, stated))
    for name, metric in _COUNTED_AGAIN.items():
        if name in figures:
            figures[f"{metric}{SECOND_COUNT}"] = figures.pop(name)
    if reading_record["tool"] == "fio":  # its percentiles cover the completion only, unlike its mean and extremes
        figures = {metric: figure for metric, figure in figures.items() if not metric.startswith("response_p")}
        for metric in _WHOLE_RATES & figures.keys():  # fio truncates whole rates instead of rounding them
            parts = figures[metric].stated.split(" + ")
            cut_off = float(sum(part.isdecimal() for part in parts))
            figures[metric] = replace(figures[metric], cut_off=cut_off)
    if reading_record["tool"] == "pgbench":  # it reports the requested duration, not the actual one
        figures.pop("duration_s", None)
    workload = str(reading_record.get("workload") or trial.workload)
    return StatedCell(
        figures=figures,
        table=_table(reading_record, paths.get(origin.source, "")) if is_published(origin) else "",
        source=paths.get(origin.source, ""),
        line=origin.lines[0],
        workload=trial.workload,
        levels={key: str(level) for key, level in trial.settings.items()},
        load=float(trial.load.n) if trial.load.unit is LoadUnit.OUTSTANDING else None,
        closed=any(tool in f"{reading_record['tool']} {workload}".casefold() for tool in _CLOSED)
        and _LATE not in figures
        and not any(reading_record["options"].get(name) for name in _RATED),
        think=any(tool in f"{reading_record['tool']} {workload}".casefold() for tool in _THINKING),
        block_bytes=_block_bytes(
            {**trial.settings, **reading_record["options"]}, [workload, *map(str, trial.settings.values())]
        ),
        was_reset=any(reading_record["options"].get(name) for name in _RESETTING),
        queries_each=None if is_published(origin) else _queries_each(figures),
    )


def _queries_each(figures: Mapping[str, StatedFigure]) -> float | None:
    """The queries per transaction that a log counts, which are those of its own test."""
    queries, transactions = figures.get("queries", _NONE).value, figures.get("operations", _NONE).value
    return queries / transactions if queries and transactions else None


def _table(reading_record: Mapping[str, Any], path: str) -> str:
    """The name of a published table: from its column, else from its file and title."""
    options = reading_record["options"]
    return str(options.get("table") or ": ".join(filter(None, (PurePath(path).stem, options.get("title", "")))))


def _block_bytes(options: Mapping[str, Any], texts: Sequence[str]) -> float | None:
    """The size of an operation, where an option, the workload or a level states it unambiguously."""
    for name, value in options.items():
        if name.casefold().replace("_", "-").replace(" ", "-").strip("()") in _BLOCKS:
            try:
                return float(parse_size(_size(str(value))))
            except ValueError:
                continue
    for text in texts:
        sizes = {
            float(number) * {"": 1, "K": 2**10, "M": 2**20}[unit.upper()] for number, unit in _IN_WORDS.findall(text)
        }
        if len(sizes) == 1 and _SIZED.search(text):
            return sizes.pop()
    return None


def _size(text: str) -> str:
    """`16k` and `16Kb` as `16K`."""
    match = re.fullmatch(r"\s*([0-9.]+)\s*([kmgtKMGT]?)(?:i?[bB])?\s*", text)
    return f"{match[1]}{match[2].upper()}" if match else text
