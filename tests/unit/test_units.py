import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paribus import units


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("16KiB", 16384),
        ("20GiB", 20 * 2**30),
        ("4096", 4096),
        ("1.5K", 1536),
        ("64M", 2**26),
        (512, 512),
        ("1_000B", 1000),
    ],
)
def test_sizes_are_read(text: str | int, size: int) -> None:
    assert units.parse_size(text) == size


@pytest.mark.parametrize("text", ["16KX", "-1", "1.5B", "", "KiB", "16 16", -1, True])
def test_invalid_sizes_are_refused(text: str | int) -> None:
    with pytest.raises(ValueError):
        units.parse_size(text)


@pytest.mark.parametrize(("text", "seconds"), [("60s", 60), ("1.5h", 5400), ("250ms", 0.25), (90, 90), ("2min", 120)])
def test_durations_are_read(text: str | float, seconds: float) -> None:
    assert units.parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["60q", "0s", "-3s", 0, True, float("nan"), float("inf"), ""])
def test_invalid_durations_are_refused(text: str | float) -> None:
    with pytest.raises(ValueError):
        units.parse_duration(text)


def test_shares_are_read() -> None:
    assert units.parse_share("2%") == 0.02
    assert units.parse_share(0.5) == 0.5
    with pytest.raises(ValueError):
        units.parse_share("2 apples")


@pytest.mark.parametrize(
    ("ratio", "text"), [(math.log(1.061), "+6.1 %"), (math.log(0.9), "−10.0 %"), (0.00001, "0.0 %"), (2.0, "+639 %")]
)
def test_effects_are_shown_as_signed_percentages(ratio: float, text: str) -> None:
    assert units.show_percent(ratio) == text


@given(st.integers(min_value=0, max_value=2**60))
def test_a_shown_size_is_near(size: int) -> None:
    shown = units.show_size(size).replace(" ", "")
    if "e" not in shown:
        assert abs(units.parse_share(shown.rstrip("BKMGTi")) * _scale(shown) - size) <= 0.006 * size + 1


def _scale(shown: str) -> int:
    unit = shown.lstrip("0123456789.")
    return units.parse_size(f"1{unit}")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.85, "850 ms"), (42, "42 s"), (200, "3 min 20 s"), (7500, "2 h 05 min"), (3599.9, "1 h 00 min")],
)
def test_durations_are_shown(seconds: float, text: str) -> None:
    assert units.show_duration(seconds) == text
