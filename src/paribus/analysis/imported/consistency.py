"""What a set states that cannot be: its trials put before the laws.

In: trials of a set and where each comes from. Out: breaches, whose cells are orders of trials.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from paribus.findings import Breach
from paribus.model import Claim, Measurement, Origin, Trial
from paribus.plausibility import Claimed, Figure, Stated, of_set
from paribus.plausibility.quantity import TOLD_AGAIN
from paribus.units import LoadUnit, parse_size

_BLOCKS = ("file-block-size", "bs", "block-size", "blocksize", "io-size", "memory-block-size")
_IN_WORDS = re.compile(r"(?<![\w.])([0-9]+)\s*(?:-byte|([KM])i?B?|B)\b(?: blocks)?", re.IGNORECASE)
_SIZED = re.compile(r"fileio|rnd|rand|seq|\b(?:read|write)s?\b|\bblocks?\b", re.IGNORECASE)
_CLOSED = ("sysbench", "pgbench", "fio", "tpcc", "orion")
_THINKING = ("tpcc", "fileio", "fio")
"""Whose threads do more than is timed: they think, or wait for an fsync, or ask for less than they may."""
_RATED = ("rate", "rate_iops", "thinktime")
_LATE = "schedule_lag_mean_s"  # which pgbench tells of a rate that it was to keep
_NONE = Figure(0.0, ".")
_COUNTED_AGAIN = {"events": "operations", "transactions": "operations"}
"""What a table calls a count that it has under another name too."""
_ALSO_CALLED = {"iops_peak": "throughput_per_s", "throughput_peak": "bytes_per_s"}
SAMPLED = ("throughput_per_s", "queries_per_s", "bytes_per_s", "read_bytes_per_s", "written_bytes_per_s")
"""What the points of a table's series are read for."""

Courses = Mapping[str, Mapping[int, Measurement]]


def unfit(
    trials: Sequence[Trial],
    origins: Mapping[int, Origin],
    paths: Mapping[int, str],
    courses: Courses,
    claims: Sequence[Claim] = (),
) -> list[Breach]:
    """Every breach of a law in what the trials state; `paths` are those of the sources, by number.

    `courses` are what trials of published tables state over time, by metric. Percentages of `claims` are held against
    the tables.
    """
    cells = [(t.order, _stated(t, origins[t.order], paths)) for t in trials if t.order in origins]
    points = [(order, point) for order, cell in cells if cell.table for point in _points(order, cell, courses)]
    known, stated = [order for order, _ in cells + points], [cell for _, cell in cells + points]
    return [
        replace(one, cells=tuple(dict.fromkeys(known[at] for at in one.cells)))
        for one in of_set(stated, _claimed(claims))
    ]


def is_published(origin: Origin) -> bool:
    """Whether it is of a published table, whose points are tested too."""
    return bool(origin.said["tool"] == "table")


def _claimed(claims: Sequence[Claim]) -> list[Claimed]:
    return [
        Claimed(
            where=claim.id,
            factor=one.factor or claim.factor,
            start=one.start,
            end=one.end,
            percent=Figure(float(one.percent), one.percent),
            extent=one.over,
            load=one.load,
            about=one.about,
        )
        for claim in claims
        for one in claim.changes
    ]


def _points(order: int, cell: Stated, courses: Courses) -> Iterator[Stated]:
    """Each point of a table's series, as a cell."""
    mine = {metric: courses[metric][order].points for metric in SAMPLED if order in courses.get(metric, {})}
    for number in range(max(map(len, mine.values()), default=0)):
        figures = {metric: Figure(points[number]) for metric, points in mine.items() if number < len(points)}
        yield replace(cell, figures=figures, sample=number + 1)


def _stated(trial: Trial, origin: Origin, paths: Mapping[int, str]) -> Stated:
    said = origin.said
    figures: dict[str, Figure] = {}
    for metric, value, _unit, _line, stated, subject in said["readings"]:
        if not subject:
            figures.setdefault(_ALSO_CALLED.get(metric, metric), Figure(value, stated))
    for name, metric in _COUNTED_AGAIN.items():
        if name in figures:
            figures[f"{metric}{TOLD_AGAIN}"] = figures.pop(name)
    if said["tool"] == "fio":  # whose percentiles are of the completion alone, unlike its mean and its extremes
        figures = {metric: one for metric, one in figures.items() if not metric.startswith("response_p")}
        if "." not in figures.get("throughput_per_s", _NONE).stated:
            figures.pop("operations", None)  # a whole rate is not rounded, but cut off
    if said["tool"] == "pgbench":  # which tells how long it was to take, not how long it took
        figures.pop("duration_s", None)
    workload = str(said.get("workload") or trial.workload)
    return Stated(
        figures=figures,
        table=_table(said, paths.get(origin.source, "")) if is_published(origin) else "",
        source=paths.get(origin.source, ""),
        line=origin.lines[0],
        workload=trial.workload,
        levels={key: str(level) for key, level in trial.settings.items()},
        load=float(trial.load.n) if trial.load.unit is LoadUnit.OUTSTANDING else None,
        closed=any(tool in f"{said['tool']} {workload}".casefold() for tool in _CLOSED)
        and _LATE not in figures
        and not any(said["options"].get(name) for name in _RATED),
        think=any(tool in f"{said['tool']} {workload}".casefold() for tool in _THINKING),
        block_bytes=_block_bytes({**trial.settings, **said["options"]}, [workload, *map(str, trial.settings.values())]),
    )


def _table(said: Mapping[str, Any], path: str) -> str:
    """What a published table is called: as a column of it says, else by its file and its title."""
    options = said["options"]
    return str(options.get("table") or ": ".join(filter(None, (PurePath(path).stem, options.get("title", "")))))


def _block_bytes(options: Mapping[str, Any], words: Sequence[str]) -> float | None:
    """How large an operation is, where the tool was told, or the workload or a level says it once."""
    for name, value in options.items():
        if name.casefold().replace("_", "-").replace(" ", "-").strip("()") in _BLOCKS:
            try:
                return float(parse_size(_size(str(value))))
            except ValueError:
                continue
    for said in words:
        sizes = {float(n) * {"": 1, "K": 2**10, "M": 2**20}[unit.upper()] for n, unit in _IN_WORDS.findall(said)}
        if len(sizes) == 1 and _SIZED.search(said):
            return sizes.pop()
    return None


def _size(text: str) -> str:
    """`16k`, `16Kb` as `16K`."""
    found = re.fullmatch(r"\s*([0-9.]+)\s*([kmgtKMGT]?)(?:i?[bB])?\s*", text)
    return f"{found[1]}{found[2].upper()}" if found else text
