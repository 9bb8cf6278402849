import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats
from statsmodels.nonparametric.smoothers_lowess import lowess

from paribus.stats import diagnostics
from paribus.stats.huber import least_squares

RNG = np.random.default_rng


def test_a_coefficient_has_the_p_value_of_statsmodels() -> None:
    rng = RNG(1)
    x = np.column_stack([np.ones(30), np.tile([1.0, -1.0], 15)])
    y = 0.02 * x[:, 1] + rng.normal(0, 0.03, 30)
    ours, theirs = diagnostics.coefficient(least_squares(y, x), 1), sm.OLS(y, x).fit()
    assert (ours.estimate, ours.error, ours.p) == pytest.approx((theirs.params[1], theirs.bse[1], theirs.pvalues[1]))


def test_outliers_lie_beyond_bounds_that_they_do_not_move() -> None:
    d = RNG(2).normal(0, 0.01, 40)
    bulk = diagnostics.outlier_bounds(d)
    assert bulk[0] == pytest.approx(-0.035, abs=0.015) and bulk[1] == pytest.approx(0.035, abs=0.015)
    d[:13] = -0.5  # a third, which moves the median and its deviations
    low, high = diagnostics.outlier_bounds(d)
    assert (d < low).sum() == 13 and (d > high).sum() == 0
    assert diagnostics.outlier_bounds(d, resolution=1.0)[0] < -3


def test_residuals_that_are_mostly_equal_have_no_outliers_for_that() -> None:
    steps = np.array([0.0] * 24 + [0.01] * 5 + [-0.01] * 3)
    low, high = diagnostics.outlier_bounds(steps)
    assert low < -0.01 and high > 0.01


@pytest.mark.parametrize(
    ("first", "second", "unlike"),
    [(0, 0, False), (3, 3, False), (0, 4, False), (0, 5, True), (6, 0, True), (1, 7, True)],
)
def test_unequal_counts_have_a_small_p_value(first: int, second: int, unlike: bool) -> None:
    assert (diagnostics.equal_counts_p(first, second) < 0.05) is unlike


def test_carry_over_to_the_next_trial_is_estimated() -> None:
    rng = RNG(3)
    order = rng.choice([-1.0, 1.0], 200)
    before = rng.random(200) < 0.5  # whether the trial before the pair was of the compared arm
    compared_after = np.where(order > 0, False, before)
    baseline_after = np.where(order > 0, before, True)
    gain = 0.05
    d = gain * compared_after - gain * baseline_after + rng.normal(0, 0.02, 200)
    carry_over = diagnostics.carry_over(d, order, np.column_stack([compared_after, baseline_after]).astype(float))
    assert carry_over is not None
    assert carry_over.estimate == pytest.approx(gain, abs=3 * carry_over.error)
    assert carry_over.p < 1e-6
    assert diagnostics.carry_over(d, order, np.zeros((200, 2))) is None


def test_a_trend_in_trials_shows_in_their_first_and_last_thirds() -> None:
    seconds = np.linspace(0.9, 1.0, 60)
    rng = RNG(4)
    pairs = [(seconds + rng.normal(0, 0.01, 60), np.ones(60)) for _ in range(20)]
    trend = diagnostics.trend_in_trials(*diagnostics.end_log_ratios(pairs))
    assert trend is not None and trend.p < 1e-6
    assert trend.estimate == pytest.approx(np.log(0.983 / 0.917), abs=0.01)
    assert diagnostics.trend_in_trials(np.zeros(2), np.zeros(2)) is None


def test_a_random_walk_has_a_high_lag_one_correlation() -> None:
    assert diagnostics.lag_one(np.cumsum(RNG(5).normal(size=500))) > 0.9
    assert abs(diagnostics.lag_one(RNG(6).normal(size=500))) < 0.15
    assert diagnostics.lag_one(np.ones(5)) == 0


def test_a_drift_is_a_median_of_slopes() -> None:
    at = np.arange(50.0)
    slope, low, high = diagnostics.drift(at, 0.01 * at + RNG(7).normal(0, 0.05, 50))
    assert low < 0.01 < high
    assert slope == pytest.approx(0.01, abs=0.002)
    assert diagnostics.drift(np.zeros(5), np.arange(5.0)) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("digits", [6, 1], ids=["distinct", "with ties"])
@pytest.mark.parametrize("n", [3, 8, 57])
def test_a_drift_is_that_of_scipy(n: int, digits: int) -> None:
    at = np.round(np.sort(RNG(n).uniform(0, 3, n)), digits)
    y = np.round(RNG(n + 1).normal(0, 0.2, n), digits)
    theirs = stats.theilslopes(y, at)
    assert diagnostics.drift(at, y) == pytest.approx((theirs.slope, theirs.low_slope, theirs.high_slope))


def test_smoothing_equals_lowess_of_statsmodels() -> None:
    at = np.sort(RNG(8).uniform(0, 10, 60))
    y = np.sin(at) + RNG(9).normal(0, 0.2, 60)
    theirs = lowess(y, at, frac=0.4, it=0, return_sorted=False)
    assert diagnostics.smooth(at, y, 0.4) == pytest.approx(list(theirs), abs=1e-6)
