"""The plain interval of the pairs so far: what it is made of, and what it refuses."""

import math
from collections.abc import Sequence

import pytest

from paribus.analysis.paired.descriptive import descriptive_interval, descriptive_intervals
from paribus.analysis.paired.effects import Pair, PairSeries
from paribus.analysis.paired.unusable import Faults
from paribus.model import Purpose
from paribus.stats.pairs import mean_interval
from paribus.units import LoadLevel


def series(ratios: Sequence[float], blocks: Sequence[int] = (), *, split: bool = False) -> PairSeries:
    """A comparison whose pairs have these ratios."""
    pairs = tuple(
        Pair(
            block=block,
            load=LoadLevel(1),
            baseline=1000.0,
            compared=1000.0 * ratio,
            later=1,
            sides=((2 * number,), (2 * number + 1,)),
            count=1000,
        )
        for number, (ratio, block) in enumerate(zip(ratios, blocks or range(len(ratios)), strict=True))
    )
    return PairSeries(Purpose.COMPARE, "f", "w", "throughput_per_s", "a", "b", 16, pairs, Faults(), split)


def test_intervals_follow_the_pairs_and_the_last_is_that_of_all() -> None:
    comparison = series([1.1, 1.2, 1.1, 1.3])
    intervals = descriptive_intervals(comparison)
    assert [each.units for each in intervals] == [2, 3, 4]
    assert intervals[-1] == descriptive_interval(comparison)
    expected = mean_interval([math.log(1.1), math.log(1.2), math.log(1.1)], 0.95)
    assert (intervals[1].estimate, intervals[1].low, intervals[1].high) == pytest.approx(expected)


def test_pairs_of_one_application_are_one_unit_in_the_order_of_time() -> None:
    intervals = descriptive_intervals(series([1.1, 1.3, 2.0, 2.0, 1.5], [7, 7, 2, 2, 5], split=True))
    assert [each.units for each in intervals] == [2, 3]
    assert intervals[0].estimate == pytest.approx((math.log(1.1 * 1.3) / 2 + math.log(2.0)) / 2)


@pytest.mark.parametrize("ratios", [[], [1.1], [1.1, 0.0, 1.2]])
def test_too_few_pairs_or_a_trial_that_measured_nothing_have_no_interval(ratios: list[float]) -> None:
    assert descriptive_interval(series(ratios)) is None
    assert descriptive_intervals(series(ratios)) == []
