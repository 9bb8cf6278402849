"""Work of a load while it settles, from the engine's intervals."""

import pytest

from paribus.engine.protocol import Interval
from paribus.trial.load.settle_phase import settling_throughput


def _interval(start_s: float, operations: int, duration_s: float = 1.0) -> Interval:
    return Interval(
        event="interval", window=None, start_s=start_s, duration_s=duration_s, operations=operations, reads=operations,
        writes=0, fsyncs=0, read_bytes=0, written_bytes=0, errors={}, mean_s=None, p50_s=None, p95_s=None, p99_s=None,
        max_s=None, offered=None, backlog=None,
    )  # fmt: skip


def test_only_the_part_that_all_trials_have_is_described() -> None:
    intervals = [_interval(90.0 + second, 100 + second) for second in range(10)]
    (measured,) = settling_throughput(intervals, measured_from_s=100.0, settle_s=8.0, first_s=4.0)
    assert (measured.phase, measured.metric, measured.n) == ("settle", "throughput_per_s", 4)
    assert measured.mean == pytest.approx((102 + 103 + 104 + 105) / 4)


@pytest.mark.parametrize("intervals", [[], [_interval(96.0, 0)], [_interval(99.0, 50)]])
def test_too_little_describes_nothing(intervals: list[Interval]) -> None:
    assert settling_throughput(intervals, measured_from_s=100.0, settle_s=4.0, first_s=4.0) == ()
