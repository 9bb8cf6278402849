"""Results of the engine as measurements."""

import pytest

from paribus.engine.protocol import Cpu, Interval, Pacing, Result, Times
from paribus.workloads.measurements import operation_measurements


def _times(scale: float) -> Times:
    return Times(
        count=100,
        mean_s=scale,
        min_s=scale,
        p50_s=scale,
        p95_s=2 * scale,
        p99_s=3 * scale,
        p999_s=4 * scale,
        max_s=5 * scale,
        sum_s=100 * scale,
        histogram="",
    )


def _result(pacing: Pacing | None) -> Result:
    return Result(
        event="result",
        window="timed",
        start_s=100.0,
        start_unix_s=0.0,
        duration_s=10.0,
        operations=100,
        reads=60,
        writes=40,
        fsyncs=0,
        read_bytes=600,
        written_bytes=400,
        errors={},
        throughput_per_s=10.0,
        bytes_per_s=100.0,
        response=_times(0.5),
        service=_times(0.1),
        fairness=0.5,
        cpu=Cpu(user_s=0.1, system_s=1.0),
        cores_usable=2,
        workers=1,
        pacing=pacing,
        parts=None,
        registered_buffers=False,
    )


def _values(pacing: Pacing | None) -> dict[str, float]:
    return {measurement.metric: measurement.mean for measurement in operation_measurements(_result(pacing), [])}


def test_response_time_and_service_time_are_told_apart() -> None:
    found = _values(None)
    assert (found["response_p95_s"], found["service_p95_s"]) == (1.0, pytest.approx(0.2))
    assert "offered_per_s" not in found


def test_an_open_loop_tells_what_it_offered_and_what_it_still_owes() -> None:
    pacing = Pacing(
        offered=150, started=100, backlog_at_start=0, backlog_at_end=50, lag_s=3.5, late_mean_s=None, late_max_s=None
    )
    found = _values(pacing)
    assert (found["offered_per_s"], found["throughput_per_s"]) == (15.0, 10.0)
    assert (found["backlog_at_end"], found["lag_s"]) == (50, 3.5)
    assert "late_mean_s" not in found  # nothing started in a free slot: unknown, not zero


def _seconds(*operations: int) -> list[Interval]:
    return [
        Interval(
            event="interval", window="timed", start_s=100.0 + number, duration_s=1.0, operations=count, reads=count,
            writes=0, fsyncs=0, read_bytes=0, written_bytes=0, errors={}, mean_s=None, p50_s=None, p95_s=None,
            p99_s=None, max_s=None, offered=None, backlog=None,
        )
        for number, count in enumerate(operations)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("operations", "slow", "below_half"),
    [
        ([100] * 60, 100.0, 1.0),  # no second counts as one
        ([100] * 57 + [7, 6, 5], 7.0, 3.0),  # a twentieth of 60 is three
        ([100] * 57 + [0, 0, 0], 1.0, 3.0),  # no operation counts as one
        ([100] * 50 + [49] * 5 + [50] * 5, 49.0, 5.0),
        ([100] * 18, None, None),
    ],
)
def test_seconds_of_a_trial_give_slowest_and_below_half(
    operations: list[int], slow: float | None, below_half: float | None
) -> None:
    measured = operation_measurements(_result(None), _seconds(*operations))
    values = {measurement.metric: measurement.mean for measurement in measured}
    assert values.get("throughput_p05_per_s") == slow
    assert values.get("seconds_below_half") == below_half
