"""Tables with metrics down and levels across: load levels and tests that the names of rows hold."""

import pytest

from paribus.parsers import formats
from paribus.parsers.log import LogRun


def _runs(*rows: str) -> list[LogRun]:
    heads = ["| scheduler | noop | deadline |", "|---|---|---|"]
    return list(formats.read("\n".join([*heads, *(f"| {row} |" for row in rows)]) + "\n").runs)


def _figures(run: LogRun) -> dict[str, float]:
    return {reading.metric: round(reading.value, 6) for reading in run.readings}


@pytest.mark.parametrize(
    "name", ["{metric} at {load} threads", "{metric} ({load} threads)", "{metric}, {load} threads"]
)
def test_rows_of_several_load_levels_are_runs_at_these(name: str) -> None:
    rows = [
        f"{name.format(metric='TPS', load=8)} | 402.1 | 411.0",
        f"{name.format(metric='TPS', load=32)} | 803.0 | 822.1",
        f"{name.format(metric='p95 ms', load=32)} | 12.1 | 11.9",
    ]
    runs = _runs(*rows)
    assert [(run.load, *run.labels.values()) for run in runs] == [
        (load, level) for load in (8, 32) for level in ("noop", "deadline")
    ]
    assert [len(run.readings) for run in runs if run.load == 32] == [2, 2]


def test_rows_of_several_tests_are_workloads() -> None:
    runs = _runs("TPS read-only | 402.1 | 411.0", "TPS read-write | 103.0 | 122.1", "p95 read-only (ms) | 12.1 | 11.9")
    assert {run.workload for run in runs} == {"read-only", "read-write"}
    assert [_figures(run) for run in runs if run.workload == "read-only"] == [
        {"throughput_per_s": 402.1, "response_p95_s": 0.0121},
        {"throughput_per_s": 411.0, "response_p95_s": 0.0119},
    ]


def test_words_beside_the_only_row_of_a_metric_are_no_test() -> None:
    runs = _runs("TPS (higher is better) | 402.1 | 411.0", "p95 latency (ms) | 12.1 | 11.9")
    assert {run.workload for run in runs} == {""}
    assert [len(run.readings) for run in runs] == [2, 2]


@pytest.mark.parametrize(
    ("corner", "factor"),
    [
        ("scheduler", "scheduler"),
        ("Metric", "level"),
        ("Test case", "level"),
        ("KPI", "level"),
        ("oltp_read_only", "level"),
        ("innodb_io_capacity", "innodb_io_capacity"),
        ("", "level"),
    ],
)
def test_the_corner_names_the_levels_unless_it_is_of_the_measures(corner: str, factor: str) -> None:
    text = f"| {corner} | noop | deadline |\n|---|---|---|\n| TPS | 402.1 | 411.0 |\n| p95 (ms) | 12.1 | 11.9 |\n"
    assert [dict(run.labels) for run in formats.read(text).runs] == [{factor: "noop"}, {factor: "deadline"}]
