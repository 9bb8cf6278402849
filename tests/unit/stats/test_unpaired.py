"""Comparison of unpaired runs: Welch intervals, interval lines, and the spread of single figures."""

import math

import numpy as np
import pytest
from scipy import stats

from paribus.stats.pairs import CannotJudge
from paribus.stats.unpaired import RUN_TO_RUN_SD, LevelRatio, compare_level, equality_p, pool, pool_by_spread


def test_repetitions_are_compared_as_welch_does() -> None:
    rng = np.random.default_rng(1)
    a, b = np.exp(rng.normal(0, 0.1, 5)), np.exp(rng.normal(0.2, 0.3, 8))
    mean = pool([compare_level((list(a), list(b)), (None, None))])
    expected = stats.ttest_ind(np.log(b), np.log(a), equal_var=False).confidence_interval(0.95)
    assert mean.interval(0.95) == pytest.approx((expected.low, expected.high))


def test_repeated_levels_have_the_error_of_one_since_they_may_be_off_together() -> None:
    ratios = [LevelRatio(0.1, 0.01, 4.0, "repetitions"), LevelRatio(0.3, 0.04, 6.0, "repetitions")]
    mean = pool(ratios)
    assert mean.estimate == pytest.approx(0.2)
    assert mean.error == pytest.approx(0.15)
    assert mean.freedom == pytest.approx(5.0)


def test_the_error_of_single_runs_includes_the_run_to_run_noise() -> None:
    rng = np.random.default_rng(2)
    lines = (rng.normal(100, 1, 600), rng.normal(110, 1, 600))
    ratios = [compare_level(([100.0], [110.0]), lines) for _ in range(8)]
    assert {ratio.variance_source for ratio in ratios} == {"lines"}
    assert pool(ratios).error >= math.sqrt(2) * RUN_TO_RUN_SD


@pytest.mark.parametrize("lines", [np.full(10, 5.0), np.array([5.0] * 300 + [500.0] * 300), np.full(600, np.nan)])
def test_too_few_lines_or_a_jump_give_no_variance(lines: np.ndarray) -> None:
    ratio = compare_level(([5.0], [6.0]), (lines, lines))
    assert ratio.variance_source == "nothing"
    assert pool([ratio]).interval(0.95) == (-math.inf, math.inf)


def test_identical_figures_are_not_repetitions() -> None:
    assert compare_level(([5.0, 5.0], [6.0, 6.0]), (None, None)).variance_source == "nothing"


def test_the_spread_of_one_level_is_unknown() -> None:
    ratio = compare_level(([5.0], [6.0]), (None, None))
    assert pool_by_spread([ratio]).interval(0.95) == (-math.inf, math.inf)
    assert pool_by_spread([ratio, ratio]).estimate == pytest.approx(math.log(1.2))


def test_only_positive_numbers_are_compared() -> None:
    for value in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(CannotJudge):
            compare_level(([value], [1.0]), (None, None))


def test_unequal_ratios_have_a_small_p_value() -> None:
    rng = np.random.default_rng(3)

    def draw_ratios(shifts: tuple[float, ...]) -> list[LevelRatio]:
        sides = [(np.exp(rng.normal(0, 0.02, 5)), np.exp(rng.normal(shift, 0.02, 5))) for shift in shifts]
        return [compare_level((list(a), list(b)), (None, None)) for a, b in sides]

    rejections = [equality_p(draw_ratios((0.1, 0.1, 0.1, 0.1))) < 0.05 for _ in range(400)]
    assert sum(rejections) <= 60  # variances of five runs are known roughly: a bit more than 5 %
    assert equality_p(draw_ratios((0.2, -0.2, 0.2, -0.2))) < 1e-6
    assert equality_p(draw_ratios((0.1,))) == 1.0
