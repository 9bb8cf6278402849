import numpy as np
import pytest
from scipy.signal import lfilter

from paribus.stats.pairs import CannotJudge
from paribus.stats.settle import mser5, settle_s, time_constant


def _run(seed: int, tau_s: float, seconds: int = 600) -> np.ndarray:
    rng = np.random.default_rng(seed)
    noise = lfilter([1.0], [1.0, -0.8], rng.normal(0, 0.06 * 0.6, seconds))
    at = np.arange(seconds) + 0.5
    return noise - (0.3 * np.exp(-at / tau_s) if tau_s else 0.0)


@pytest.mark.parametrize(("tau_s", "expected_s"), [(10, 32), (30, 130), (60, 300)])
def test_the_settle_time_limits_the_bias_to_a_tenth_of_the_margin(tau_s: float, expected_s: float) -> None:
    assert settle_s(tau_s, 0.3, 60, 0.02) == pytest.approx(expected_s, abs=1)


def test_steady_load_needs_no_settle_time() -> None:
    assert settle_s(0, 0, 60, 0.02) == settle_s(1, 0.0001, 60, 0.02) == 0


@pytest.mark.parametrize("tau_s", [30, 60])
def test_the_time_constant_is_found(tau_s: float) -> None:
    fits = [time_constant(_run(seed, tau_s), 1.0) for seed in range(20)]
    assert np.median([tau for tau, _ in fits]) == pytest.approx(tau_s, rel=0.2)
    assert np.median([depth for _, depth in fits]) == pytest.approx(0.3, rel=0.2)


def test_a_stationary_series_has_no_time_constant() -> None:
    assert sum(time_constant(_run(seed, 0), 1.0)[0] > 0 for seed in range(60)) <= 4


def test_a_perfect_curve_is_found_exactly() -> None:
    at = np.arange(100) + 0.5
    tau_s, depth = time_constant(1.0 - 0.2 * np.exp(-at / 7.0), 1.0)
    assert (tau_s, depth) == pytest.approx((7.0, 0.2), rel=1e-3)


def test_mser5_cuts_the_warm_up() -> None:
    rng = np.random.default_rng(1)
    series = np.concatenate([np.linspace(0, 10, 50), 10 + rng.normal(0, 0.1, 450)])
    assert 40 <= mser5(series) <= 60
    assert mser5(10 + rng.normal(0, 0.1, 500)) <= 100


@pytest.mark.parametrize("look", [mser5, lambda series: time_constant(series, 1.0)])
def test_a_short_run_shows_no_beginning(look) -> None:
    with pytest.raises(CannotJudge):
        look(np.ones(10))
