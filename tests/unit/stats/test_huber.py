import numpy as np
import pytest
import statsmodels.api as sm

from paribus.stats.huber import huber, least_squares


def _disturbed(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    n = int(rng.integers(16, 81))
    order = rng.permutation(np.arange(n) % 2 * 2.0 - 1)
    y = 0.01 + rng.normal(0, 0.03, n) - (rng.random(n) < 0.05) * rng.uniform(0.05, 0.3, n)
    return y, np.column_stack([np.ones(n), order])


@pytest.mark.parametrize("seed", range(200))
def test_fit_equals_that_of_statsmodels(seed: int) -> None:
    y, x = _disturbed(np.random.default_rng(seed))
    ours = huber(y, x)
    theirs = sm.RLM(y, x, M=sm.robust.norms.HuberT(2.25)).fit(cov="H1", tol=1e-12, maxiter=500)
    assert ours.coefficients == pytest.approx(theirs.params, rel=1e-6)
    assert np.sqrt(np.diag(ours.covariance)) == pytest.approx(theirs.bse, rel=1e-6)
    assert ours.scale == pytest.approx(theirs.scale, rel=1e-6)


def test_without_noise_in_most_it_is_least_squares() -> None:
    y = np.zeros(20)
    y[0] = 1.0
    x = np.ones((20, 1))
    assert huber(y, x).estimate == least_squares(y, x).estimate == pytest.approx(0.05)


def test_a_single_value_has_no_error() -> None:
    with pytest.raises(ValueError, match="do not determine"):
        huber(np.ones(1), np.ones((1, 1)))
