"""Fits and intervals, against statsmodels and against simulation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceteris.stats import pairs


def _normal(seed: int, n: int, effect: float = 0.0, sd: float = 0.02) -> tuple[list[float], list[float]]:
    rng = np.random.default_rng(seed)
    orders = [1.0, -1.0] * (n // 2)
    return list(effect + 0.01 * np.array(orders) + sd * rng.standard_normal(n)), orders


@pytest.mark.parametrize("seed", range(20))
def test_the_fit_is_that_of_statsmodels(seed: int) -> None:
    import statsmodels.api as sm

    d, orders = _normal(seed, 24, effect=0.03)
    fitted = pairs.fit(d, orders)
    oracle = sm.OLS(d, sm.add_constant(np.array(orders))).fit()
    assert fitted.estimate == pytest.approx(oracle.params[0], rel=1e-9)
    assert fitted.order_effect == pytest.approx(oracle.params[1], rel=1e-9)
    assert fitted.standard_error == pytest.approx(oracle.bse[0], rel=1e-9)
    assert pairs.interval(fitted, 0.95) == pytest.approx(tuple(oracle.conf_int(0.05)[0]), rel=1e-9)


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    covered = 0
    for seed in range(2000):
        low, high = pairs.interval(pairs.fit(*_normal(seed, 16, effect=0.02)), 0.95)
        covered += low <= 0.02 <= high
    assert 0.935 <= covered / 2000 <= 0.965  # three standard errors of 2000 draws


@pytest.mark.parametrize("differences", [[0.01] * 16, [0.0] * 16, [0.1, 0.2], []])
def test_what_cannot_be_judged_is_refused(differences: list[float]) -> None:
    with pytest.raises(pairs.CannotJudge):
        pairs.fit(differences, [1.0, -1.0] * (len(differences) // 2))


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_only_positive_numbers_have_a_log_ratio(bad: float) -> None:
    with pytest.raises(pairs.CannotJudge):
        pairs.log_ratios([1.0, bad], [1.0, 1.0])


@given(st.lists(st.floats(0.5, 2e6), min_size=4, max_size=40), st.floats(1e-6, 1e6))
def test_a_change_of_unit_changes_nothing(values: list[float], scale: float) -> None:
    base = [v * 1.1 for v in values]
    plain = pairs.log_ratios(values, base)
    scaled = pairs.log_ratios([v * scale for v in values], [v * scale for v in base])
    assert plain == pytest.approx(scaled, abs=1e-9)


def test_swapping_the_arms_mirrors_the_effect() -> None:
    d, orders = _normal(1, 24)
    one = pairs.fit(d, orders)
    other = pairs.fit([-x for x in d], [-x for x in orders])
    assert (other.estimate, other.standard_error) == pytest.approx((-one.estimate, one.standard_error), rel=1e-9)


def test_load_levels_that_differ_are_found_and_noise_is_not() -> None:
    rng = np.random.default_rng(3)
    noise = [list(0.02 * rng.standard_normal(8)) for _ in range(3)]
    apart = [[x + (0.1 if n == 2 else -0.1) for x in group] for n, group in enumerate(noise)]
    assert pairs.differ_between(noise) > 0.05
    assert pairs.differ_between(apart) < 0.001
    assert pairs.differ_between([[0.1, 0.2]]) == 1.0
    assert pairs.differ_between([[0.1, 0.1], [0.1, 0.1]]) == 1.0


def test_a_mean_of_one_has_no_interval() -> None:
    assert pairs.mean_interval([3.0], 0.95) == (3.0, None, None)
    mean, low, high = pairs.mean_interval([1.0, 2.0, 3.0], 0.95)
    assert low is not None and high is not None
    assert low < mean < high
