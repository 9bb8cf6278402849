"""Counters that moved, from pairs with known changes."""

import math
from collections.abc import Mapping

import numpy as np
import pytest
import trial_samples as samples

from paribus.analysis.diagnostics.counter_contrast import contrast
from paribus.analysis.paired.effects import Pair, PairSeries
from paribus.analysis.paired.unusable import Faults
from paribus.model import Measurement, Purpose
from paribus.units import LoadLevel

Summaries = dict[int, dict[str, Measurement]]


def _measured(metric: str, value: float, source: str = "sample") -> Measurement:
    return samples.measured(value, metric, source=source)


def _experiment(
    moved: Mapping[str, float], pairs: int = 12, *, seed: int = 1, split: bool = False, trials_per_block: int = 1
) -> tuple[PairSeries, Summaries]:
    """Return a comparison in which each counter of the arm is a multiple of the baseline's; rates follow throughput."""
    rng = np.random.default_rng(seed)
    counted_pairs, summaries = [], {}
    for number in range(pairs):
        values = []
        for arm in (0, 1):
            order = 2 * number + arm
            rate = 1000 * (1.3 if arm else 1.0) * math.exp(rng.normal(0, 0.02))
            values.append(rate)
            summaries[order] = {"throughput_per_s": _measured("throughput_per_s", rate, "engine")}
            for name, times in moved.items():
                value = times**arm * math.exp(rng.normal(0, 0.02)) * (rate if name.endswith("_per_s") else 0.4)
                summaries[order][name] = _measured(name, value)
        block = number // trials_per_block
        counted_pairs.append(
            Pair(
                block,
                LoadLevel(8),
                *values,
                later=1 - 2 * (number % 2),
                sides=((2 * number,), (2 * number + 1,)),
                count=9,
            )
        )
    series = PairSeries(
        Purpose.COMPARE,
        "k",
        "w",
        "throughput_per_s",
        "a",
        "b",
        pairs,
        tuple(counted_pairs),
        faults=Faults(),
        split=split,
    )
    return series, summaries


def test_moved_counters_are_reported_per_operation_with_intervals() -> None:
    series, summaries = _experiment({"device_reads_per_s": 1.5, "device_writes_per_s": 1.0, "cpu_iowait_share": 0.5})
    result = contrast(series, summaries, 0.95)
    assert result is not None
    assert result.examined == 3
    reads, iowait = sorted(result.moved, key=lambda moved: moved.metric, reverse=True)
    assert (reads.metric, reads.per_operation, reads.is_ratio) == ("device_reads_per_s", True, True)
    assert reads.low < math.log(1.5) < reads.high
    assert reads.baseline == pytest.approx(1.0, rel=0.05)
    assert (iowait.metric, iowait.per_operation, iowait.is_ratio) == ("cpu_iowait_share", False, False)
    assert iowait.low < -0.2 < iowait.high < 0


def test_processor_time_per_operation_is_reported() -> None:
    series, summaries = _experiment({"cpu_user_share": 1.3, "cpu_system_share": 1.3})
    result = contrast(series, summaries, 0.95)
    assert result is not None
    assert {moved.metric for moved in result.moved} == {"cpu_user_share", "cpu_system_share"}  # per operation: the same
    series, summaries = _experiment({"cpu_user_share": 1.0, "cpu_system_share": 1.0})
    result = contrast(series, summaries, 0.95)
    assert result is not None
    assert [(moved.metric, moved.per_operation) for moved in result.moved] == [("cpu_busy_share", True)]
    assert result.moved[0].estimate == pytest.approx(-math.log(1.3), abs=0.05)


def test_constant_or_incomplete_counters_are_not_reported() -> None:
    series, summaries = _experiment({"device_queue": 1.0})
    for order, measured in summaries.items():
        measured["cpu_throttled"] = _measured("cpu_throttled", 0.0)
        if order:
            measured["device_errors"] = _measured("device_errors", order)
    result = contrast(series, summaries, 0.95)
    assert result is not None
    assert result.examined == 1
    assert result.moved == ()


def test_a_counter_that_starts_at_zero_is_reported_as_a_difference() -> None:
    series, summaries = _experiment({"server_log_waits_per_s": 1.0})
    for pair in series.pairs:
        summaries[pair.trials[0]]["server_log_waits_per_s"] = _measured("server_log_waits_per_s", 0.0, "server")
    result = contrast(series, summaries, 0.95)
    assert result is not None
    (waits,) = result.moved
    assert not waits.is_ratio
    assert waits.low < 1.0 < waits.high


@pytest.mark.parametrize(("pairs", "more", "split"), [(3, 1, False), (12, 6, True)])
def test_too_few_units_give_no_contrast(pairs: int, more: int, split: bool) -> None:
    assert contrast(*_experiment({"device_queue": 2.0}, pairs, trials_per_block=more, split=split), 0.95) is None


def test_applications_are_the_units_where_a_setting_is_applied_for_several_trials() -> None:
    series, summaries = _experiment({"device_queue": 2.0}, 24, trials_per_block=4, split=True)
    result = contrast(series, summaries, 0.95)
    assert result is not None
    assert result.moved[0].low < math.log(2) < result.moved[0].high


def test_false_discoveries_keep_the_declared_rate() -> None:
    """With twenty constant counters, at most one comparison in twenty reports any."""
    counters = {f"counter_{number}": 1.0 for number in range(20)}
    false_reports = 0
    for seed in range(300):
        result = contrast(*_experiment(counters, seed=seed), 0.95)
        assert result is not None
        false_reports += bool(result.moved)
    assert false_reports <= 26  # 300 x 0.05, and three standard deviations
