"""Heat maps of response times: shares by trial, and the paths that draw them."""

import base64

import pytest
import trial_samples as samples
from hdrh.histogram import HdrHistogram

from paribus.analysis.diagnostics.distribution import response_maps
from paribus.model import Trial
from paribus.report.charts.heat_map import shade_paths
from paribus.report.sections.heat_maps import heat_map, most_columns
from paribus.report.view.heat_map_models import HeatLane


def _trials(blocks: int, load: int = 8) -> list[Trial]:
    return [
        samples.trial(2 * block + place, arm, load, block=block, position=place)
        for block in range(1, blocks + 1)
        for place, arm in ((1, "slow"), (2, "fast"))
    ]


def _histogram(*times_ms: float) -> bytes:
    histogram = HdrHistogram(1, 2**40, 3)
    for time in times_ms:
        histogram.record_value(int(time * 1e6))
    return base64.b64decode(histogram.encode())


def test_shares_of_a_trial_add_up_and_lie_in_their_rows() -> None:
    trials = _trials(2)
    histograms = {trial.order: _histogram(*[1.0] * 99, 100.0) for trial in trials}
    [found] = response_maps(trials, histograms)
    assert [column.arm for column in found.columns] == ["slow", "slow", "fast", "fast"]
    for column in found.columns:
        assert sum(column.shares) == pytest.approx(1.0)
        assert (column.shares[0], column.shares[-1]) == (0.99, 0.01)
    assert found.edges_s[0] == pytest.approx(0.001, rel=0.01)
    assert found.edges_s[-1] == pytest.approx(0.1, rel=0.01)


def test_equal_times_have_an_axis_too() -> None:
    trials = _trials(2)
    [found] = response_maps(trials, {trial.order: _histogram(5.0) for trial in trials})
    assert found.edges_s[0] < 0.005 < found.edges_s[-1]
    assert all(sum(column.shares) == 1.0 for column in found.columns)
    shown = heat_map(found, ["slow", "fast"], 60)
    assert shown is not None
    assert shown.ticks == ((pytest.approx(0.5, abs=0.01), "5 ms"),)


def test_many_trials_are_thinned_and_few_have_no_map() -> None:
    trials = _trials(150)
    histograms = {trial.order: _histogram(1.0, 9.0) for trial in trials}
    [found] = response_maps(trials, histograms)
    assert len(found.columns) == 2 * 50
    shown = heat_map(found, ["slow", "fast"], 10)
    assert shown is not None
    assert [(lane.trials, len(lane.columns)) for lane in shown.lanes] == [("10 of 150 trials", 10)] * 2
    assert most_columns([found] * 100) == 10
    assert response_maps(_trials(1), histograms) == ()
    assert response_maps(trials, {}) == ()


def test_highest_load_level_is_drawn() -> None:
    trials = _trials(2) + [
        samples.trial(10 + 2 * block + place, arm, 64, block=block + 2, position=place)
        for block in (1, 2)
        for place, arm in ((1, "slow"), (2, "fast"))
    ]
    [found] = response_maps(trials, {trial.order: _histogram(1.0, 9.0) for trial in trials})
    assert str(found.load) == "64 threads"
    assert {column.trial for column in found.columns} == {13, 14, 15, 16}


def test_cells_of_one_shade_that_touch_are_one_rectangle() -> None:
    lane = HeatLane(arm="a", trials="2 trials", columns=((0, 2, 2, 1), (2, 0, 0, 0)))
    assert shade_paths(lane) == [(1, "M0 1h1v-1h-1z"), (2, "M0 3h1v-2h-1zM1 4h1v-1h-1z")]


def test_rare_operations_have_the_lightest_shade_and_ticks_are_powers_of_ten() -> None:
    trials = _trials(2)
    [found] = response_maps(trials, {trial.order: _histogram(*[1.0] * 5000, 150.0) for trial in trials})
    shown = heat_map(found, ["slow", "fast"], 60)
    assert shown is not None
    assert shown.title == "response time of each trial at 8 threads"
    assert [lane.trials for lane in shown.lanes] == ["2 trials", "2 trials"]
    assert shown.lanes[0].columns[0][0] == 6
    assert shown.lanes[0].columns[0][-1] == 1
    assert [text for _, text in shown.ticks] == ["10 ms", "100 ms"]
    assert heat_map(None, ["slow"], 60) is None
