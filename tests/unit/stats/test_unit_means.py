"""Means over few units: exact for normal ones, and held in simulations of unequal errors."""

import numpy as np
import pytest

from paribus.stats.unit_means import deviation, mean_interval, next_interval, standing_apart


def test_intervals_are_those_of_students_t() -> None:
    values, half_widths = [0.02, 0.03, 0.05, 0.06], [0.001] * 4
    half, wider = 3.1824 * 0.0091287, 3.1824 * 0.020412
    assert deviation(values) == pytest.approx(0.018257, abs=1e-6)
    assert mean_interval(values, half_widths, 0.95) == pytest.approx((0.04 - half, 0.04 + half), abs=1e-5)
    assert next_interval(values, half_widths, 0.95) == pytest.approx((0.04 - wider, 0.04 + wider), abs=1e-5)


def test_units_that_are_equal_by_chance_keep_the_uncertainty_of_their_own_intervals() -> None:
    assert mean_interval([0.03] * 4, [0.02] * 4, 0.95) == pytest.approx((0.02, 0.04))
    assert next_interval([0.03] * 4, [0.02] * 4, 0.95) == pytest.approx((0.01, 0.05))


def test_a_unit_far_from_the_others_stands_apart_where_there_are_five() -> None:
    assert standing_apart([0.03, 0.04, 0.035, 0.03, 0.038, -0.2], [0.01] * 6, 0.05) == [5]
    assert standing_apart([0.03, 0.04, 0.035, 0.03, 0.038, -0.2], [0.3] * 6, 0.05) == []
    assert standing_apart([0.03, 0.04, 0.035, 0.03, 0.038, 0.02], [0.01] * 6, 0.05) == []
    assert standing_apart([0.03, 0.04, 0.035, -0.9], [0.01] * 4, 0.05) == []


@pytest.mark.parametrize("ratio", [1, 4, 10])
@pytest.mark.parametrize("spread", [0.0, 0.01, 0.04])
@pytest.mark.parametrize("count", [3, 5, 10])
def test_intervals_hold_the_mean_and_the_next_unit(count: int, spread: float, ratio: int) -> None:
    """One unit is measured more precisely than the others by a ratio."""
    rng = np.random.default_rng([count, round(1000 * spread), ratio])
    errors = np.array([0.01 / ratio] + [0.01] * (count - 1))
    half_widths = list(2 * errors)
    draws, held, expected, apart = 800, 0, 0, 0
    for _ in range(draws):
        values = list(0.03 + rng.normal(0, spread, count) + rng.normal(0, errors))
        low, high = mean_interval(values, half_widths, 0.95)
        held += low <= 0.03 <= high
        low, high = next_interval(values, half_widths, 0.95)
        expected += low <= 0.03 + rng.normal(0, spread) <= high
        apart += bool(standing_apart(values, half_widths, 0.05))
    assert held / draws >= 0.93
    assert expected / draws >= 0.93
    assert apart / draws <= 0.08
