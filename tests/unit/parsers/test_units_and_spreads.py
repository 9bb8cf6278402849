"""Units written out in heads, and spreads after means."""

import pytest

from paribus.parsers import formats
from paribus.parsers.log import Log, LogRun


def _read(heads: str, *rows: str) -> Log:
    return formats.read("\n".join([heads, *rows]) + "\n")


def _figures(run: LogRun) -> dict[str, float]:
    return {reading.metric: reading.value for reading in run.readings}


@pytest.mark.parametrize(
    ("head", "metric", "value"),
    [
        ("Average Latency (microseconds)", "response_mean_s", 500e-6),
        ("95th Percentile Latency (millisecond)", "response_p95_s", 0.5),
        ("Throughput (requests/second)", "throughput_per_s", 500.0),
        ("Throughput (transactions per second)", "throughput_per_s", 500.0),
        ("Throughput (operations / sec)", "throughput_per_s", 500.0),
        ("Throughput (megabytes/second)", "bytes_per_s", 500e6),
        ("Duration (minutes)", "duration_s", 30000.0),
    ],
)
def test_units_written_out_are_units(head: str, metric: str, value: float) -> None:
    runs = _read(f"threads,TPS,{head}", "8,100.5,500.0", "16,90.5,500.0").runs
    assert [dict(run.labels) for run in runs] == [{}, {}]
    assert metric == "throughput_per_s" or _figures(runs[0])[metric] == pytest.approx(value)
    assert len(runs) == 2


def test_an_unknown_rate_is_no_level() -> None:
    runs = _read("threads,Bandwidth (megabits per second)", "8,100.5", "16,90.5").runs
    assert [dict(run.labels) for run in runs] == [{}, {}]


@pytest.mark.parametrize("mark", ["±", "+/-", "+-"])
def test_a_mean_is_read_without_its_spread(mark: str) -> None:
    log = _read(
        "| Command | Mean [ms] | Min [ms] | p95 | Relative |",
        "|:---|---:|---:|---:|---:|",
        f"| `a` | 7.2 {mark} 2.2 | 3.5 | 9.5{mark}0.5 ms | 1.67 {mark} 0.63 |",
        f"| `b` | 4.3 {mark} 1.0 | 2.4 | 5.5 ms {mark} 3 % | 1.00 |",
    )
    assert [(run.labels, _figures(run)) for run in log.runs] == [
        ({"Command": "a"}, {"response_mean_s": 0.0072, "response_min_s": 0.0035, "response_p95_s": 0.0095}),
        ({"Command": "b"}, {"response_mean_s": 0.0043, "response_min_s": 0.0024, "response_p95_s": 0.0055}),
    ]
    assert log.remarks == ("the column Relative is not read: it follows from others",)
