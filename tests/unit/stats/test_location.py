"""Location of a few values: signed ranks, t, and intervals that are joined."""

import math

import numpy as np
import pytest

from paribus.stats.location import Located, locate, mean_of, widened


def test_interval_of_six_values_and_more_is_that_of_signed_ranks() -> None:
    values = [0.30, 0.31, 0.33, 0.35, 0.36, 0.38]
    assert locate(values) == pytest.approx((0.34, 0.30, 0.38))
    # Critical value 8 of ten pairs: the ninth smallest and the ninth largest mean of two of 0..9.
    assert locate(range(10)) == pytest.approx((4.5, 2.0, 7.0))


def test_outlier_moves_only_its_own_side() -> None:
    plain, far = locate([0.30, 0.31, 0.33, 0.35, 0.36, 0.38]), locate([0.30, 0.31, 0.33, 0.35, 0.36, 1.9])
    assert far.low == plain.low
    assert far.high == 1.9
    assert far.estimate < 0.36


def test_fewer_values_have_the_interval_of_t() -> None:
    assert locate([1.0, 3.0]) == pytest.approx((2.0, 2.0 - 12.7062047, 2.0 + 12.7062047))
    assert locate([1.0]) == (1.0, -math.inf, math.inf)


@pytest.mark.parametrize("count", [4, 6, 9, 45])
def test_intervals_hold_the_middle_of_normal_values(count: int) -> None:
    generator = np.random.default_rng(5)
    located = [locate(generator.normal(0, 1, count)) for _ in range(1000)]
    assert 0.93 <= np.mean([each.low <= 0 <= each.high for each in located]) <= 0.98


def test_independent_errors_add_as_squares() -> None:
    assert widened(Located(0.0, -0.3, 0.3), 0.4 / 1.959964) == pytest.approx((0.0, -0.5, 0.5))
    assert mean_of([Located(1.0, 0.7, 1.3), Located(3.0, 2.6, 3.4)]) == pytest.approx((2.0, 1.75, 2.25))
