import numpy as np
import pytest
from scipy.signal import lfilter

from paribus.stats.pairs import CannotJudge
from paribus.stats.within import batch_means, effective_size, mean_of_series


def _seconds(rng: np.random.Generator, seconds: int) -> np.ndarray:
    shocks = rng.normal(0, 0.6, seconds)
    shocks[0] /= 0.6
    return lfilter([1.0], [1.0, -0.8], shocks)


@pytest.mark.parametrize(("seconds", "least"), [(60, 0.88), (300, 0.91), (3600, 0.92)])
def test_the_interval_of_a_mean_covers_it_despite_autocorrelation(seconds: int, least: float) -> None:
    rng = np.random.default_rng(seconds)
    covered = [low <= 0 <= high for _, low, high in (mean_of_series(_seconds(rng, seconds), 0.95) for _ in range(400))]
    assert least <= np.mean(covered) <= 0.99


def test_long_batches_are_independent() -> None:
    rng = np.random.default_rng(2)
    covered = [low <= 0 <= high for _, low, high in (batch_means(_seconds(rng, 3600), 30, 0.95) for _ in range(400))]
    assert 0.91 <= np.mean(covered) <= 0.98


def test_the_effective_size_is_that_of_independent_values() -> None:
    rng = np.random.default_rng(3)
    assert effective_size(rng.normal(size=10_000)) == pytest.approx(10_000, rel=0.05)
    assert effective_size(_seconds(rng, 10_000)) == pytest.approx(10_000 / 9, rel=0.2)
    assert effective_size(np.ones(10)) == 10


def test_too_short_a_series_is_refused() -> None:
    with pytest.raises(CannotJudge):
        mean_of_series(np.ones(2), 0.95)
    with pytest.raises(CannotJudge):
        batch_means(np.ones(5), 10, 0.95)
