"""Steady state of a series of rounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paribus.stats.steady import steadiness


@pytest.mark.parametrize(
    ("values", "steady"),
    [
        ([100, 100, 100, 100, 100], True),
        ([900, 500, 200, 100, 98, 103, 101, 99], True),  # only the last five count
        ([100, 109, 95, 104, 100], True),  # range 14 %, no drift
        ([100, 121, 100, 100, 100], False),  # range over 20 %
        ([106, 103, 100, 97, 94], False),  # range 12 %, but falling by 12 %
        ([94, 97, 100, 103, 106], False),  # rising
        ([104, 102, 100, 98, 96], True),  # falling by 8 %
        ([180, 160, 140, 120, 100], False),
        ([0, 0, 0, 0, 0], False),
    ],
)
def test_range_and_rise_over_the_window_decide(values: list[float], steady: bool) -> None:
    last_rounds = steadiness(values, 5, 0.20, 0.10)
    assert last_rounds is not None
    assert last_rounds.steady is steady


def test_too_few_rounds_are_not_judged() -> None:
    assert steadiness([100] * 4, 5, 0.20, 0.10) is None


def test_the_figures_are_shares_of_the_average() -> None:
    last_rounds = steadiness([106, 103, 100, 97, 94], 5, 0.20, 0.10)
    assert last_rounds is not None
    assert (last_rounds.average, last_rounds.spread, last_rounds.drift) == pytest.approx((100, 0.12, -0.12))


@given(st.lists(st.floats(1, 1e6), min_size=5, max_size=9), st.floats(1e-3, 1e3))
def test_the_unit_does_not_matter(values: list[float], factor: float) -> None:
    original = steadiness(values, 5, 0.2, 0.1)
    scaled = steadiness([value * factor for value in values], 5, 0.2, 0.1)
    assert original is not None
    assert scaled is not None
    assert (original.spread, original.drift) == pytest.approx((scaled.spread, scaled.drift), abs=1e-9)


def test_noise_of_a_real_device_is_steady_and_the_fall_of_a_fresh_one_is_not() -> None:
    rng = np.random.default_rng(1)
    noise = [float(value) for value in 1000 * np.exp(0.02 * rng.standard_normal(40))]
    fresh = [4000 * 0.8**n + 1000 for n in range(40)]
    assert all(s is not None and s.steady for s in (steadiness(noise[:n], 5, 0.2, 0.1) for n in range(5, 41)))
    judged = [steadiness(fresh[:n], 5, 0.2, 0.1) for n in range(5, 41)]
    first = next(n for n, s in enumerate(judged, start=5) if s is not None and s.steady)
    assert fresh[first - 1] == pytest.approx(1000, rel=0.1)
