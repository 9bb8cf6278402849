"""Only the digits that the interval supports."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paribus.report.view import numbers
from paribus.report.view.numbers import MetricKind


@pytest.mark.parametrize(
    ("value", "half", "text"),
    [
        (24_227.3, 310.0, "24,230"),
        (1.34837, 0.016, "1.348"),
        (85.2, 12.0, "85"),
        (85.2, 1.2, "85.2"),
        (24_227.3, None, "24,227"),
        (0.0123, None, "0.0123"),
        (0.0, None, "0"),
        (-3.14, 0.5, "−3.14"),
    ],
)
def test_a_number_has_two_digits_of_its_uncertainty(value: float, half: float | None, text: str) -> None:
    assert numbers.number(value, numbers.decimals(value, half)) == text


@pytest.mark.parametrize(
    ("estimate", "low", "high", "text"),
    [
        (0.059, 0.039, 0.08, "+6.1 % [+4.0, +8.3]"),
        (-0.001, -0.006, 0.004, "−0.1 % [−0.6, +0.4]"),
        (0.0, 0.0, 0.0, "0.00 % [0.00, 0.00]"),
        (0.4, 0.2, 0.6, "+49 % [+22, +82]"),
        (0.02, 0.0003, 0.04, "+2.02 % [+0.03, +4.08]"),
        (math.inf, -math.inf, math.inf, "+∞ % [−100, +∞]"),
        (math.nan, math.nan, math.nan, "– % [–, –]"),
    ],
)
def test_an_effect_is_rounded_with_its_interval(estimate: float, low: float, high: float, text: str) -> None:
    assert str(numbers.effect(estimate, low, high)) == text


@given(st.floats(1e-4, 1), st.floats(1e-4, 1))
def test_a_bound_beside_zero_is_not_rounded_into_it(low: float, width: float) -> None:
    shown = numbers.effect(low + width / 2, low, low + width)
    assert float(shown.low.strip("+ %").replace(",", "")) > 0


@pytest.mark.parametrize(
    ("kind", "largest", "unit"),
    [
        (MetricKind.TIME, 0.0004, "µs"),
        (MetricKind.TIME, 0.04, "ms"),
        (MetricKind.TIME, 4.0, "s"),
        (MetricKind.BYTES, 5e8, "MiB/s"),
        (MetricKind.BYTES, 5e9, "GiB/s"),
        (MetricKind.BYTES, 10.0, "B/s"),
        (MetricKind.SHARE, 0.4, "%"),
        (MetricKind.RATE, 1e5, "/s"),
        (MetricKind.PLAIN, 3.0, ""),
    ],
)
def test_a_column_has_the_unit_of_its_largest_number(kind: MetricKind, largest: float, unit: str) -> None:
    assert numbers.scale(kind, [largest / 10, largest]).unit == unit


def test_trial_numbers_close_up() -> None:
    assert numbers.orders((9, 7, 8, 12, 15, 16)) == "7–9, 12, 15, 16"
    assert numbers.orders(()) == ""


def test_many_trials_are_told_by_the_first_and_their_number() -> None:
    assert numbers.few((1, 3, 5)) == "1, 3, 5"
    assert numbers.few(range(1, 200, 2)) == "1, 3, 5, 7, 9 … (100 trials)"
    assert numbers.few(range(1, 200)) == "1–199"
