import pytest

from paribus.stats.planner import (
    pairs_for,
    pairs_planned,
    pairs_that_show_stalls,
    smallest_effect,
    smallest_margin,
    sub_trials,
)


def test_four_times_the_noise_needs_sixteen_times_the_pairs() -> None:
    assert pairs_for(0.02, 0.04) == pytest.approx(16 * pairs_for(0.02, 0.01), rel=0.2)


def test_planned_are_32_to_128_pairs() -> None:
    assert pairs_planned(0.02, 0.001) == 32
    assert pairs_planned(0.02, 1.0) == 128
    assert pairs_planned(0.02, 0.045) == 83
    assert pairs_planned(0.01, 0.001) == pairs_that_show_stalls(0.01) == 59


@pytest.mark.parametrize("margin", [0.005, 0.01, 0.02, 0.05, 0.2, 1.0])
def test_an_arm_that_loses_more_than_the_margin_by_stalls_rarely_shows_none(margin: float) -> None:
    share = min(1.5 * margin / 0.3, 0.95)
    assert (1 - share) ** pairs_that_show_stalls(margin) <= 0.05


def test_so_many_pairs_show_the_margin_that_they_were_counted_for() -> None:
    assert smallest_margin(0.04, pairs_for(0.02, 0.04)) == pytest.approx(0.02, rel=0.02)
    assert smallest_effect(0.04, 80) == pytest.approx(0.01610, rel=1e-3)


@pytest.mark.parametrize(
    ("apply_s", "between_sd", "best"), [(90, 0.01, 2), (300, 0.01, 4), (1800, 0.01, 9), (14400, 0.01, 25)]
)
def test_the_costlier_an_application_the_more_trials_it_holds(apply_s: float, between_sd: float, best: int) -> None:
    assert sub_trials(apply_s, 60, 15, between_sd, 0.0187) == pytest.approx(best, abs=1)
