"""Windows of several engines as one: equal to the window of one engine that did all of it."""

import base64

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from window_samples import QUANTILES, SLOWEST_NS, interval_of, result_of, times_of

from paribus.engine.merging import merged_interval, merged_result, merged_times
from paribus.engine.protocol import Cpu, Pacing, Statements
from paribus.errors import EngineError
from paribus.histogram import HdrHistogram

_OPERATIONS = st.lists(st.lists(st.integers(1, SLOWEST_NS), max_size=40), min_size=1, max_size=4)


@given(_OPERATIONS)
def test_merged_times_are_those_of_all_operations(of_engines: list[list[int]]) -> None:
    merged = merged_times([times_of(each) for each in of_engines])
    whole = times_of([time for each in of_engines for time in each])
    assert (merged.count, merged.min_s, merged.max_s) == (whole.count, whole.min_s, whole.max_s)
    assert merged.sum_s == pytest.approx(whole.sum_s)
    for name, _ in QUANTILES:
        expected = getattr(whole, name)
        assert getattr(merged, name) == (pytest.approx(expected, rel=1.1e-3) if expected else None)


def test_a_merged_result_adds_work_and_keeps_the_time() -> None:
    first, second = result_of([10**6] * 90), result_of([10**8] * 10, start_s=77.0)
    merged = merged_result([first, second], [4, 4])
    assert (merged.operations, merged.start_s, merged.duration_s, merged.errors) == (100, 5.0, 2.0, {"io-error": 2})
    assert merged.throughput_per_s == 50
    assert merged.statements == Statements(read_queries=100, reconnects=2)
    assert merged.response.p50_s == pytest.approx(1e-3, rel=1.1e-3)
    assert merged.response.p95_s == pytest.approx(0.1, rel=1.1e-3)
    assert merged.service == merged.response
    assert (merged.cpu, merged.cores_usable, merged.workers) == (Cpu(user_s=2.0, system_s=1.0), 4, 2)
    kind = (merged.kinds or {})["payment"]
    assert (kind.count, kind.per_s, kind.max_s) == (100, 50, 0.1)
    assert kind.p90_s == pytest.approx(1e-3, rel=1.1e-3)
    assert kind.p95_s == pytest.approx(0.1, rel=1.1e-3)


def test_the_service_times_of_an_open_loop_are_merged_by_themselves() -> None:
    late = result_of([10**8] * 5, service=times_of([10**6] * 5), pacing=_pacing(5, 0.0, 0.0))
    idle = result_of([], pacing=_pacing(0, 0.0, 0.0))
    for results in ([late, late], [idle, late]):
        merged = merged_result(results, [1, 1])
        assert (merged.response.p50_s, merged.service.p50_s, merged.fairness) == (0.1, 0.001, None)


@pytest.mark.parametrize(
    ("counts", "others"), [([9, 9], [9, 9]), ([10, 0], [10, 0]), ([0, 0], [4, 2]), ([6, 2], [1, 3]), ([5], [7, 1])]
)
def test_fairness_is_that_of_all_connections(counts: list[int], others: list[int]) -> None:
    def index(of: list[int]) -> float | None:
        return sum(of) ** 2 / (len(of) * sum(count**2 for count in of)) if len(of) > 1 and any(of) else None

    results = [result_of([10**6] * sum(each), fairness=index(each)) for each in (counts, others)]
    assert merged_result(results, [len(counts), len(others)]).fairness == pytest.approx(index(counts + others))


def _pacing(started: int, lag_s: float, late_s: float) -> Pacing:
    return Pacing(
        offered=started, started=started, backlog_at_start=1, backlog_at_end=2, lag_s=lag_s, late_mean_s=late_s,
        late_max_s=late_s,
    )  # fmt: skip


def test_schedules_are_added_and_the_worst_lag_counts() -> None:
    results = [result_of([1], pacing=_pacing(30, 0.5, 1e-3)), result_of([1], pacing=_pacing(10, 2.0, 5e-3))]
    merged = merged_result(results, [1, 1]).pacing
    assert merged == Pacing(
        offered=40, started=40, backlog_at_start=2, backlog_at_end=4, lag_s=2.0, late_mean_s=2e-3, late_max_s=5e-3
    )


def test_a_merged_interval_has_the_percentiles_of_all_operations() -> None:
    merged = merged_interval([[interval_of([10**6] * 90)], [interval_of([10**8] * 10)]])
    assert (merged.operations, merged.duration_s, merged.max_s) == (100, 1.0, 0.1)
    assert merged.mean_s == pytest.approx(0.0109)
    assert merged.p95_s == pytest.approx(0.1, rel=1.1e-3)
    assert merged.offered is None


def test_an_engine_that_missed_an_end_has_its_two_seconds_beside_those_of_the_other() -> None:
    first = [interval_of([10**6] * 3), interval_of([10**6] * 4, backlog=2, offered=5)]
    merged = merged_interval([first, [interval_of([10**6] * 5, duration_s=2.0, backlog=1, offered=7)]])
    assert (merged.operations, merged.duration_s, merged.offered, merged.backlog) == (12, 2.0, 12, 3)


def test_a_rest_of_a_window_that_one_engine_has_alone_is_its_own_time() -> None:
    merged = merged_interval([[], [interval_of([10**6] * 2, duration_s=0.05, backlog=1)]])
    assert (merged.operations, merged.duration_s, merged.backlog) == (2, 0.05, 1)


def test_an_interval_without_an_operation_has_no_times() -> None:
    merged = merged_interval([[interval_of([])], [interval_of([])]])
    assert (merged.operations, merged.mean_s, merged.p99_s, merged.max_s) == (0, None, None, None)


@pytest.mark.parametrize("text", ["nonsense", base64.b64encode(b"\0" * 60).decode()])
def test_an_invalid_histogram_is_refused(text: str) -> None:
    with pytest.raises(EngineError, match="the engine sent an invalid histogram"):
        merged_times([times_of([1]).model_copy(update={"histogram": text})])


def test_histograms_of_different_precision_are_refused() -> None:
    coarse = HdrHistogram.of(np.array([5]), np.array([1]), 100, digits=2)
    other = times_of([1]).model_copy(update={"histogram": base64.b64encode(coarse.encode()).decode()})
    with pytest.raises(EngineError, match="do not fit together"):
        merged_times([times_of([1]), other])
