"""Cells with several figures: named by the head, by the first cell of a row, or by the title."""

import pytest

from paribus.parsers import formats


def _figures(*lines: str) -> dict[tuple[object, ...], dict[str, float]]:
    runs = formats.read("\n".join(lines) + "\n").runs
    return {
        (*run.labels.values(), run.load): {reading.metric: round(reading.value, 9) for reading in run.readings}
        for run in runs
    }


def _table(*rows: str) -> list[str]:
    return [f"| {rows[0]} |", "|" + "---|" * (rows[0].count("|") + 1), *(f"| {row} |" for row in rows[1:])]


EXPECTED = {
    ("noop", 8): {"throughput_per_s": 1234.5, "response_p95_s": 0.0052},
    ("noop", 16): {"throughput_per_s": 2000, "response_p95_s": 0.011},
    ("deadline", 8): {"throughput_per_s": 1300, "response_p95_s": 0.0049},
    ("deadline", 16): {"throughput_per_s": 2100, "response_p95_s": 0.012},
}


def test_heads_name_the_figures_of_their_column() -> None:
    rows = ["noop | 8 | 1,234.5 / 5.2", "noop | 16 | 2,000/11"]
    rows += ["deadline | 8 | 1,300 / 4.9", "deadline | 16 | 2,100 / 12"]
    assert _figures(*_table("scheduler | threads | TPS / p95 (ms)", *rows)) == EXPECTED


def test_titles_name_the_figures_of_all_columns() -> None:
    rows = ["8 | 1,234.5 / 5.2 | 1,300 / 4.9", "16 | 2,000 / 11 | 2,100 / 12"]
    lines = ["### TPS / p95 (ms) by scheduler", "", *_table("threads | noop | deadline", *rows)]
    assert _figures(*lines) == EXPECTED


def test_rows_name_their_figures() -> None:
    rows = ["TPS / p95 (ms) at 8 threads | 1234.5 / 5.2 | 1300 / 4.9"]
    figures = _figures(*_table("scheduler | noop | deadline", *rows, "QPS | 5 | 6"))
    assert figures["noop", 8] == EXPECTED["noop", 8]
    assert figures["deadline", 8] == EXPECTED["deadline", 8]


def test_the_last_measure_lends_its_words_to_the_others() -> None:
    figures = _figures(*_table("scheduler | min / avg / max latency (ms)", "noop | 1 / 2.5 / 30", "cfq | 2 / 3.5 / -"))
    assert figures["cfq", None] == {"response_min_s": 0.002, "response_mean_s": 0.0035}
    assert figures["noop", None] == {"response_min_s": 0.001, "response_mean_s": 0.0025, "response_max_s": 0.03}


@pytest.mark.parametrize(
    ("head", "cells"),
    [
        ("bandwidth MB/s", ("120", "130")),  # a unit
        ("TPS", ("10 / 20", "20 / 30")),  # one name for two figures
        ("TPS / p95 (ms) / p99 (ms)", ("10 / 20", "20 / 30")),
        ("TPS / p95 (ms)", ("10 / 20", "20 / 30 / 40")),
        ("TPS / remark", ("10 / 20", "20 / 30")),
    ],
)
def test_figures_without_names_are_not_divided(head: str, cells: tuple[str, str]) -> None:
    figures = _figures(*_table(f"scheduler | {head}", f"noop | {cells[0]}", f"cfq | {cells[1]}"))
    assert all(set(figure) == {"bytes_per_s"} for figure in figures.values()) or not figures


def test_heads_with_slashes_stay_heads() -> None:
    lines = _table("threads | 70/30 | 50/50", "8 | 100 | 110", "16 | 190 | 200")
    figures = _figures("TPS by mix", "", *lines)
    assert figures["70/30", 8] == {"throughput_per_s": 100}
    assert figures["50/50", 16] == {"throughput_per_s": 200}


def test_heads_with_slashes_under_a_measure_stay_heads() -> None:
    lines = _table("threads | TPS | TPS", " | 70/30 | 50/50", "8 | 100 | 110", "16 | 190 | 200")
    assert list(_figures(*lines)) == [("70/30", 8), ("50/50", 8), ("70/30", 16), ("50/50", 16)]


@pytest.mark.parametrize(
    ("title", "heads", "row"),
    [
        ("Throughput (TPS) / latency (ms)", "Threads | read/write mix | TPS | latency (ms)", "8 | 70/30 | 100 | 5"),
        ("TPS / QPS", "scheduler | cores/threads | remark", "noop | 4/8 | none"),
        ("TPS / latency (ms)", "scheduler | date | TPS", "noop | 01/15 | 100"),
        ("Results", "scheduler | read/write | TPS", "noop | 70/30 | 100"),
        ("Results", "scheduler | random read / write IOPS", "noop | 100 / 50"),
    ],
)
def test_mixes_dates_and_cores_are_no_figures(title: str, heads: str, row: str) -> None:
    figures = _figures(f"# {title}", "", *_table(heads, row, row.replace("noop", "cfq").replace("8 |", "16 |", 1)))
    read = [figure for figure in figures.values() if figure]
    assert all(figure.get("throughput_per_s", 100) == 100 for figure in read)
    assert all(figure.get("response_mean_s", 0.005) == 0.005 for figure in read)
    assert not any({"reads_per_s", "writes_per_s", "read", "write", "queries_per_s"} & set(figure) for figure in read)


@pytest.mark.parametrize(
    ("head", "cell", "expected"),
    [
        ("p95 / p99 (ms)", "5.2 / 9.1", {"response_p95_s": 0.0052, "response_p99_s": 0.0091}),
        ("read / write IOPS", "70 / 30", {"reads_per_s": 70, "writes_per_s": 30}),
        ("latency avg / p95 (us)", "100 / 200", {"response_mean_s": 0.0001, "response_p95_s": 0.0002}),
    ],
)
def test_the_last_measure_lends_its_unit(head: str, cell: str, expected: dict[str, float]) -> None:
    figures = _figures(*_table(f"scheduler | {head}", f"noop | {cell}", f"cfq | {cell}"))
    assert figures["noop", None] == expected
