import numpy as np
import pytest
from scipy.signal import lfilter

from paribus.stats.within import effective_size


def _seconds(rng: np.random.Generator, seconds: int) -> np.ndarray:
    shocks = rng.normal(0, 0.6, seconds)
    shocks[0] /= 0.6
    return lfilter([1.0], [1.0, -0.8], shocks)


def test_the_effective_size_is_that_of_independent_values() -> None:
    rng = np.random.default_rng(3)
    assert effective_size(rng.normal(size=10_000)) == pytest.approx(10_000, rel=0.05)
    assert effective_size(_seconds(rng, 10_000)) == pytest.approx(10_000 / 9, rel=0.2)
    assert effective_size(np.ones(10)) == 10
