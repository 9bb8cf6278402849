"""Findings in published tables and logs, each reviewed manually, and errors planted in them."""

import csv
import random
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
from published import scaled

from paribus.parsers import formats
from paribus.plausibility import Claimed, StatedCell, StatedFigure, of_cell, of_set

FIELD = Path(__file__).parent.parent.parent.parent / "examples" / "field"
TABLES = sorted(FIELD.glob("*/tables/*.csv"))
LOGS = sorted(FIELD.glob("*/logs/*.log"))
_MIB, _MS = 2.0**20, 1e-3
_METRICS = {  # as the tables call them: ours, and the base units of theirs
    "throughput": ("bytes_per_s", _MIB),
    "iops": ("throughput_per_s", 1.0),
    "tps": ("throughput_per_s", 1.0),
    "qps": ("queries_per_s", 1.0),
    "load": ("load_average", 1.0),
    "iowait": ("iowait_share", 0.01),
    "read": ("read_bytes_per_s", 1e6),
    "written": ("written_bytes_per_s", 1e6),
    "read+written": ("bytes_per_s", 1e6),
    "normalised_throughput": ("normalised", 1.0),
    "iops_peak": ("throughput_per_s", 1.0),
    "throughput_peak": ("bytes_per_s", 1e6),
    "reads": ("reads_per_s", 1.0),
    "writes": ("writes_per_s", 1.0),
    "fsyncs": ("fsyncs_per_s", 1.0),
    "read_throughput": ("read_bytes_per_s", _MIB),
    "write_throughput": ("written_bytes_per_s", _MIB),
    "total_time": ("duration_s", 1.0),
    "events": ("operations", 1.0),
    "latency_min": ("response_min_s", _MS),
    "latency_avg": ("response_mean_s", _MS),
    "latency_p95": ("response_p95_s", _MS),
    "latency_max": ("response_max_s", _MS),
    "latency_sum": ("response_sum_s", _MS),
    "event_execution_time_sum": ("response_sum_s", 1.0),
    "queries_read": ("queries_read", 1.0),
    "queries_write": ("queries_write", 1.0),
    "queries_other": ("queries_other", 1.0),
    "queries_total": ("queries", 1.0),
}
_BLOCK = re.compile(r"\b(\d+)(?:K| KiB)\b")


@cache
def _cells(article: str) -> tuple[StatedCell, ...]:
    figures_by_cell: dict[tuple[str, ...], dict[str, StatedFigure]] = defaultdict(dict)
    for path in (path for path in TABLES if path.name.startswith(article)):
        with path.open(encoding="utf-8") as lines:
            for row in csv.DictReader(lines):
                key = tuple(row[name] for name in ("table", "factor", "level", "workload", "threads", "sample"))
                figures = figures_by_cell[key]
                if row["metric"] in _METRICS:
                    metric, unit = _METRICS[row["metric"]]
                    figures[metric] = StatedFigure(float(row["value"]) * unit, row["value"])
    return tuple(_stated(key, figures) for key, figures in figures_by_cell.items() if figures)


def _stated(key: tuple[str, ...], figures: dict[str, StatedFigure]) -> StatedCell:
    table, factor, level, workload, threads, sample = key
    blocks = {int(n) * 1024 for n in _BLOCK.findall(workload)}
    return StatedCell(
        figures=figures,
        table=table,
        workload=workload,
        levels={factor: level},
        load=float(threads) if threads else None,
        sample=int(sample) if sample else None,
        closed="sysbench" in workload,
        block_bytes=float(blocks.pop()) if len(blocks) == 1 else None,
    )


FOUND = {
    "000": [
        ("queries per transaction", "", "000-T15, over-provisioning 15%, 32 threads"),
        ("queries per transaction", "queries_per_s", "000-T15, over-provisioning 15%, 64 threads"),
        ("queries per transaction", "queries_per_s", "000-T15, over-provisioning 15%, 512 threads"),
        ("a jump in the curve", "throughput_per_s", "000-T08, RAID write policy WriteThrough, 512 threads"),
        ("physical ceiling", "", "000-T05, rotational 0; 000-T05, rotational 1; 000-T06, read_ahead_kb 128 and 3 more"),
        ("physical ceiling", "", "000-T13, RAID BGI 30%; 000-T13, RAID BGI disabled"),
        ("physical ceiling", "", "000-T14, over-provisioning none; 000-T14, over-provisioning 15%"),
        ("identical figures", "", "000-T01, NUMA off = 000-T21, RAID level raid10"),
        ("identical figures", "", "000-T03, IO scheduler noop = 000-T08, RAID write policy WriteBack"),
        ("identical figures", "", "000-T04, IO scheduler noop = 000-T09, RAID write policy WriteBack"),
        (
            "identical figures",
            "",
            "000-T14, over-provisioning none = 000-T21, RAID level raid0; "
            "000-T14, over-provisioning 15% = 000-T21, RAID level raid0-15%OP",
        ),
        (
            "identical figures",
            "",
            "000-T22, RAID level with one disk failed raid5, sample 15; "
            "000-T22, RAID level with one disk failed raid5, sample 17",
        ),
    ],
    "001": [],
    "002": [],
    "003": [
        (
            "missing or zero cells",
            "normalised",
            "003-T01, storage combination combo 3: SAS * 4 + SSD * 2, bare disks into LVM, XFS, 8 threads",
        ),
        (
            "missing or zero cells",
            "normalised",
            "003-T01, storage combination combo 1: SAS * 2, RAID 1, XFS, 8 threads",
        ),
    ],
    "004": [("IOPS x block size", "", "004-T01, IO pattern (Fusion-io ioDrive 320G MLC) 128K sequential read")],
}


@pytest.mark.parametrize("article", FOUND)
def test_findings_in_published_tables_are_the_reviewed_ones(article: str) -> None:
    breaches = [(breach.law, breach.metric, breach.where) for breach in of_set(_cells(article))]
    assert breaches == FOUND[article]


def test_a_mistyped_digit_in_a_published_table_is_corrected() -> None:
    implied = {b.where.rsplit(", ", 1)[1]: b.implied for b in of_set(_cells("000")) if b.metric == "queries_per_s"}
    assert implied == {"64 threads": pytest.approx(104411.25), "512 threads": pytest.approx(105677.31)}


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_published_logs_violate_no_law(path: Path) -> None:
    for run in formats.read(path.read_text(encoding="utf-8")).runs:
        figures: dict[str, StatedFigure] = {}
        for reading in run.readings:
            figures.setdefault(reading.metric, StatedFigure(reading.value, reading.stated))
        load = float(run.load) if run.load else None
        assert len(figures) > 5
        assert of_cell(StatedCell(figures=figures, source=path.name, load=load, closed=True, block_bytes=None)) == []


def test_published_prose_is_compared_with_its_table() -> None:
    """RAID 0 over RAID 1 "at most about 9 %" and LVM on arrays "at most 2.723 times" are what the table gives."""

    def claim_of(start: str, end: str, percent: str) -> Claimed:
        levels = {cell.levels["storage combination"] for cell in _cells("003")}
        named_levels = [next(level for level in levels if level.startswith(f"combo {n}:")) for n in (start, end)]
        return Claimed(
            where="003",
            factor="storage combination",
            start=named_levels[0],
            end=named_levels[1],
            percent=StatedFigure(float(percent), percent),
            extent="most",
            about=True,
        )

    def held(claim: Claimed) -> bool:
        return "percentages in prose" not in {breach.law for breach in of_set(_cells("003"), [claim])}

    assert held(claim_of("5", "2", "9"))
    assert held(claim_of("3", "4", "172.3"))
    assert not held(claim_of("5", "2", "19"))


@pytest.mark.parametrize("metric", ["throughput_per_s", "queries_per_s", "bytes_per_s"])
def test_an_error_planted_in_a_published_table_is_located(metric: str) -> None:
    cells = list(_cells("000"))
    laws = {"queries per transaction", "IOPS x block size"}
    ratios = {"throughput_per_s", "queries_per_s", "bytes_per_s"}
    reported = {breach.cells for breach in of_set(cells) if breach.law in laws}
    positions = [
        position
        for position, cell in enumerate(cells)
        if metric in cell.figures and len(cell.figures.keys() & ratios) > 1 and (position,) not in reported
    ]
    rng = random.Random(7)
    hits = singled = 0
    for position in (tried := rng.sample(positions, 30)):
        wrong = [
            *cells[:position],
            scaled(cells[position], metric, rng.choice((rng.uniform(1.1, 2), rng.uniform(0.5, 0.9)))),
            *cells[position + 1 :],
        ]
        breaches = [breach for breach in of_set(wrong) if breach.law in laws and breach.cells == (position,)]
        hits += bool(breaches)
        singled += any(breach.metric == metric for breach in breaches)
        assert all(breach.metric in (metric, "") for breach in breaches)
    assert hits == len(tried)
    assert singled >= 0.6 * len(tried)  # where the curve is rough it bears out neither
