import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paribus.stats import pairs


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_only_positive_numbers_have_a_log_ratio(bad: float) -> None:
    with pytest.raises(pairs.CannotJudge):
        pairs.log_ratios([1.0, bad], [1.0, 1.0])


@given(st.lists(st.floats(0.5, 2e6), min_size=4, max_size=40), st.floats(1e-6, 1e6))
def test_a_change_of_unit_changes_nothing(values: list[float], scale: float) -> None:
    base = [v * 1.1 for v in values]
    plain = pairs.log_ratios(values, base)
    scaled = pairs.log_ratios([v * scale for v in values], [v * scale for v in base])
    assert plain == pytest.approx(scaled, abs=1e-9)


def test_a_mean_of_one_has_no_interval() -> None:
    assert pairs.mean_interval([3.0], 0.95) == (3.0, None, None)
    mean, low, high = pairs.mean_interval([1.0, 2.0, 3.0], 0.95)
    assert low is not None and high is not None
    assert low < mean < high
    assert high - mean == pytest.approx(4.30265 / math.sqrt(3), rel=1e-5)
