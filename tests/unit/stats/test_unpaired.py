"""Runs that nobody paired: Welch over repetitions, effective sizes of interval lines, the spread of single figures."""

import math

import numpy as np
import pytest
from scipy import stats

from paribus.stats.pairs import CannotJudge
from paribus.stats.unpaired import RUN_TO_RUN_SD, Place, compared, pooled, spread, unlike


def test_repetitions_are_compared_as_welch_does() -> None:
    rng = np.random.default_rng(1)
    a, b = np.exp(rng.normal(0, 0.1, 5)), np.exp(rng.normal(0.2, 0.3, 8))
    found = pooled([compared((list(a), list(b)), (None, None))])
    known = stats.ttest_ind(np.log(b), np.log(a), equal_var=False).confidence_interval(0.95)
    assert found.interval(0.95) == pytest.approx((known.low, known.high))


def test_places_are_pooled_with_their_own_errors() -> None:
    places = [Place(0.1, 0.01, 4.0, "repetitions"), Place(0.3, 0.04, 6.0, "repetitions")]
    found = pooled(places)
    assert found.estimate == pytest.approx(0.2)
    assert found.error == pytest.approx(math.sqrt(0.05) / 2)
    assert found.freedom == pytest.approx(0.05**2 / (0.01**2 / 4 + 0.04**2 / 6))


def test_single_runs_with_lines_are_no_surer_than_runs_are_alike() -> None:
    rng = np.random.default_rng(2)
    lines = (rng.normal(100, 1, 600), rng.normal(110, 1, 600))
    places = [compared(([100.0], [110.0]), lines) for _ in range(8)]
    assert {place.known for place in places} == {"lines"}
    assert pooled(places).error >= math.sqrt(2) * RUN_TO_RUN_SD


@pytest.mark.parametrize("lines", [np.full(10, 5.0), np.array([5.0] * 300 + [500.0] * 300), np.full(600, np.nan)])
def test_too_few_lines_or_a_jump_tell_nothing_of_a_mean(lines: np.ndarray) -> None:
    found = compared(([5.0], [6.0]), (lines, lines))
    assert found.known == "nothing"
    assert pooled([found]).interval(0.95) == (-math.inf, math.inf)


def test_figures_that_are_equal_to_the_digit_are_no_repetitions() -> None:
    assert compared(([5.0, 5.0], [6.0, 6.0]), (None, None)).known == "nothing"


def test_the_spread_of_one_place_is_unknown() -> None:
    place = compared(([5.0], [6.0]), (None, None))
    assert spread([place]).interval(0.95) == (-math.inf, math.inf)
    assert spread([place, place]).estimate == pytest.approx(math.log(1.2))


def test_what_is_no_positive_number_is_not_compared() -> None:
    for value in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(CannotJudge):
            compared(([value], [1.0]), (None, None))


def test_places_that_are_unlike_are_told_from_those_that_are_not() -> None:
    rng = np.random.default_rng(3)

    def places(shifts: tuple[float, ...]) -> list[Place]:
        sides = [(np.exp(rng.normal(0, 0.02, 5)), np.exp(rng.normal(shift, 0.02, 5))) for shift in shifts]
        return [compared((list(a), list(b)), (None, None)) for a, b in sides]

    alike = [unlike(places((0.1, 0.1, 0.1, 0.1))) < 0.05 for _ in range(400)]
    assert sum(alike) <= 60  # variances of five runs are known roughly: a bit more than 5 %
    assert unlike(places((0.2, -0.2, 0.2, -0.2))) < 1e-6
    assert unlike(places((0.1,))) == 1.0
