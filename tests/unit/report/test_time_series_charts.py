"""Trials over time: what is drawn of more than a page holds, and that no extreme is lost."""

import pytest

from paribus.model import Measurement
from paribus.report.sections import curves


def _course(points: list[float]) -> Measurement:
    return Measurement(
        phase="measure",
        metric="throughput_per_s",
        unit="1/s",
        source="engine",
        n=len(points),
        mean=1.0,
        low=min(points),
        high=max(points),
        total=1.0,
        start_s=0.0,
        step_s=1.0,
        points=tuple(points),
    )


def test_few_trials_are_drawn_whole_and_of_many_each_nth_by_one_metric() -> None:
    few = curves.choose(range(1, 61))
    assert (few.metrics, few.trials) == (tuple(curves.TIMED), tuple(range(1, 61)))
    many = curves.choose(range(1, 10_001))
    assert (many.metrics, many.trials[:2], len(many.trials)) == (("throughput_per_s",), (1, 11), 1000)
    assert curves.choose(()).metrics == ()


@pytest.mark.parametrize("trials", [1, 60, 166, 167, 1000, 1001, 10_000])
def test_a_page_never_holds_more_than_its_share(trials: int) -> None:
    chosen = curves.choose(range(trials))
    assert chosen.points >= 60
    assert chosen.points * len(chosen.trials) * len(chosen.metrics) <= 60_000


def test_thinned_points_keep_every_extreme_in_its_place() -> None:
    points = [100.0] * 600
    points[77], points[401] = 3.0, 900.0
    found = curves.thinned(_course(points), 60)
    assert len(found.points) <= 60
    assert (min(found.points), max(found.points)) == (3.0, 900.0)
    assert found.step_s == 10.0
    assert abs(found.points.index(3.0) * 10.0 - 77) <= 20
    assert abs(found.points.index(900.0) * 10.0 - 401) <= 20
    assert curves.thinned(_course(points), 600).points == tuple(points)


def test_omitted_trials_and_points_are_stated() -> None:
    whole = {"throughput_per_s": {1: _course([1.0, 2.0]), 2: _course([1.0, 2.0])}}
    shown = curves.time_series(whole, 2)
    assert shown is not None and shown.note == ""
    thin = {"throughput_per_s": {1: curves.thinned(_course([1.0] * 600), 60)}}
    shown = curves.time_series(thin, 4)
    assert shown is not None
    assert shown.note == (
        "1 of 4 trials are listed: the export has all; each interval shows its lowest and its highest point"
    )
    assert curves.time_series({}, 0) is None
