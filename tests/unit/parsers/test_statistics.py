"""Columns of statistics of one measure: the mean is read, and min is no unit of rates and response times."""

import pytest

from paribus.parsers import formats
from paribus.parsers.tables.heads import head_of


def _figures(text: str) -> list[tuple[dict[str, str], dict[str, float]]]:
    runs = formats.read(text).runs
    return [(dict(run.labels), {reading.metric: round(reading.value, 9) for reading in run.readings}) for run in runs]


@pytest.mark.parametrize(
    "heads", ["TPS min | TPS avg | TPS max", "min TPS | mean TPS | TPS stddev", "TPS (min) | TPS (avg) | TPS (max)"]
)
def test_the_mean_of_a_measure_is_read_and_no_level(heads: str) -> None:
    rows = "| noop | 100 | 110 | 120 | 5 |\n| cfq | 200 | 210 | 220 | 6 |\n"
    text = f"| scheduler | {heads} | p95 (ms) |\n|---|---|---|---|---|\n{rows}"
    assert _figures(text) == [
        ({"scheduler": "noop"}, {"throughput_per_s": 110, "response_p95_s": 0.005}),
        ({"scheduler": "cfq"}, {"throughput_per_s": 210, "response_p95_s": 0.006}),
    ]
    assert len(formats.read(text).remarks) == 2


def test_statistics_without_a_measure_are_no_levels() -> None:
    text = "query\tmin\tavg\tmax\tSTDDEV%\n1\t1.2664\t1.2926\t1.4884\t5.05\n2\t0.3204\t0.3266\t0.3410\t1.87\n"
    assert [figures for _labels, figures in _figures(text)] == [{"avg": 1.2926}, {"avg": 0.3266}]


def test_a_mean_alone_is_no_level() -> None:
    figures = _figures("query\tavg\n1\t1.2926\n2\t0.3266\n")
    assert figures == [({"query": "1"}, {"avg": 1.2926}), ({"query": "2"}, {"avg": 0.3266})]


def test_levels_that_are_no_statistics_stay_levels() -> None:
    text = "| threads | avg | max | noop |\n|---|---|---|---|\n| 8 | 100 | 110 | 120 |\n"
    assert len(_figures(text)) == 3


@pytest.mark.parametrize(
    ("head", "metric", "base"),
    [
        ("TPS min", "throughput_per_s", None),
        ("TPS (min)", "throughput_per_s", None),
        ("latency (min)", "response_min_s", None),
        ("latency (min, ms)", "response_min_s", "s"),
        ("latency min (ms)", "response_min_s", "s"),
        ("run time (min)", "duration_s", "s"),
        ("duration min", "duration_s", "s"),
        ("response time (min)", "response_min_s", None),
    ],
)
def test_min_is_minutes_of_a_duration_alone(head: str, metric: str, base: str | None) -> None:
    parts = head_of(head)
    assert parts.metric is not None
    assert parts.metric.name == metric
    assert (parts.unit.base if parts.unit else None) == base


@pytest.mark.parametrize("head", ["Recovery time at 8000 TPS (min)", "Rebuild time under 5000 IOPS (min)"])
def test_minutes_of_a_duration_are_no_rate(head: str) -> None:
    text = f"| Engine | {head} |\n|---|---|\n| a | 12 |\n| b | 15 |\n"
    assert not any("throughput_per_s" in figures for _labels, figures in _figures(text))
