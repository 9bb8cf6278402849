"""Against the published boundaries of Jennison and Turnbull (2000), tables 2.1 and 2.3, and of Lan and DeMets."""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from paribus.stats.sequential import boundaries, t_beyond, t_boundaries, t_tail

FIFTHS = [0.2, 0.4, 0.6, 0.8, 1.0]


def test_spending_like_o_brien_and_fleming() -> None:
    spent = [4 - 4 * float(ndtr(ndtri(1 - 0.05 / 4) / np.sqrt(t))) for t in FIFTHS]
    assert boundaries(FIFTHS, spent, 2) == pytest.approx([4.877, 3.357, 2.680, 2.290, 2.031], abs=0.002)


def test_spending_like_pocock() -> None:
    spent = [0.05 * float(np.log(1 + (np.e - 1) * t)) for t in FIFTHS]
    assert boundaries(FIFTHS, spent, 2) == pytest.approx([2.438, 2.427, 2.410, 2.397, 2.386], abs=0.002)


def test_the_boundaries_of_the_procedure() -> None:
    times = np.arange(2, 11) / 10
    difference = [2.576, 2.643, 2.599, 2.550, 2.504, 2.461, 2.421, 2.384, 2.350]
    equivalence = [2.614, 2.541, 2.424, 2.318, 2.224, 2.138, 2.059, 1.986, 1.917]
    assert boundaries(times, 0.05 * times, 2) == pytest.approx(difference, abs=0.002)
    assert boundaries(times, 0.05 * times**1.5, 1) == pytest.approx(equivalence, abs=0.002)


def test_one_look_is_an_ordinary_test() -> None:
    assert boundaries([1.0], [0.05], 2) == pytest.approx([1.959964], abs=1e-6)
    assert boundaries([1.0], [0.05], 1) == pytest.approx([1.644854], abs=1e-6)


def test_only_the_proportion_of_information_counts() -> None:
    assert boundaries([16, 24, 80], [0.01, 0.015, 0.05], 2) == pytest.approx(
        boundaries([0.2, 0.3, 1.0], [0.01, 0.015, 0.05], 2), abs=1e-9
    )


@pytest.mark.parametrize("sides", [1, 2])
def test_one_look_at_few_units_is_a_t_test(sides: int) -> None:
    (critical,) = t_boundaries([5], [0.05], sides)
    assert t_tail(critical, 4) * sides == pytest.approx(0.05, abs=0.001)
    assert t_beyond(0.05 / sides, 4) == pytest.approx(critical, rel=0.01)


def test_t_boundaries_keep_the_declared_error_rate() -> None:
    units = range(4, 21)
    critical = t_boundaries(units, [0.05 * n / 20 for n in units], 2)
    drawn = np.random.default_rng(7).normal(size=(40_000, 20))
    crossed = np.zeros(len(drawn), dtype=bool)
    for n, bound in zip(units, critical, strict=True):
        some = drawn[:, :n]
        crossed |= np.abs(some.mean(1)) / (some.std(1, ddof=1) / np.sqrt(n)) > bound
    assert crossed.mean() == pytest.approx(0.05, abs=0.004)


@pytest.mark.parametrize(
    ("times", "spent"),
    [([1, 1], [0.01, 0.02]), ([2, 1], [0.01, 0.02]), ([1, 2], [0.02, 0.02]), ([1, 2], [0.02]), ([0], [0.05])],
)
def test_looks_and_spending_must_rise(times: list[float], spent: list[float]) -> None:
    with pytest.raises(ValueError):
        boundaries(times, spent, 2)
