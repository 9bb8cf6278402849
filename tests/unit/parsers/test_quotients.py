"""Columns that are quotients of others are no levels."""

import random
from collections.abc import Callable

import pytest

from paribus.parsers import formats
from paribus.parsers.tables.quotients import quotients

FAST, SLOW = [42427.57, 78991.67, 108077.56, 122582.17], [14709.69, 31655.18, 56777.82, 93828.48]


@pytest.mark.parametrize(
    "imply",
    [
        lambda fast, slow: f"{fast / slow:.2f}",
        lambda fast, slow: f"{fast / slow:.2f}x",
        lambda fast, slow: f"{100 * slow / fast:.1f} %",
        lambda fast, slow: f"{100 * (fast / slow - 1):.1f}",
        lambda fast, slow: f"+{100 * (fast / slow - 1):.1f}%",
        lambda fast, slow: f"{100 * (1 - slow / fast):.1f}%",
    ],
)
def test_a_quotient_in_any_form_is_found(imply: Callable[[float, float], str]) -> None:
    cells = {1: [f"{n:,.0f}" for n in FAST], 2: [str(n) for n in SLOW], 3: list(map(imply, FAST, SLOW))}
    assert quotients(cells) == {3}


def test_a_quotient_is_no_level_and_is_named() -> None:
    rows = [f"| {n} | {a} | {b} | {2 * b} | {a / b:.2f} |" for n, a, b in zip((5, 15, 25, 35), FAST, SLOW, strict=True)]
    heads = ["| bp | nvme | sata | raid0 | nvme_to_sata |", "|---|---|---|---|---|"]
    log = formats.read("\n".join(["TPS", "", *heads, *rows]) + "\n")
    assert {run.labels["level"] for run in log.runs} == {"nvme", "sata", "raid0"}
    assert "the column nvme_to_sata is not read: it follows from others" in log.remarks


def test_a_quotient_by_a_baseline_that_is_repeated_is_found() -> None:
    assert quotients({1: ["1200"] * 3, 2: ["2300", "4500", "8600"], 3: ["1.92", "3.75", "7.17"]}) == {3}


def test_a_third_level_that_differs_in_one_row_is_a_level() -> None:
    third = [f"{a / b:.2f}" for a, b in zip(FAST, SLOW, strict=True)]
    third[2] = "1.97"
    assert quotients({1: list(map(str, FAST)), 2: list(map(str, SLOW)), 3: third}) == set()


@pytest.mark.parametrize(
    "columns",
    [
        (["100", "100", "100"], ["105", "110", "120"], ["106", "111", "119"]),  # relative to the first
        (["1", "1", "1"], ["52", "75", "88"], ["53", "77", "90"]),  # printed coarsely
        (["10000", "28000", "91000"], ["10000", "27000", "88000"], ["100", "104", "103"]),  # nearly constant
    ],
)
def test_levels_that_coarse_figures_only_happen_to_imply_are_kept(columns: tuple[list[str], ...]) -> None:
    assert quotients(dict(enumerate(columns, 1))) == set()


def test_independent_columns_are_kept() -> None:
    rng = random.Random(5)
    for _ in range(2000):
        columns = {
            n: [f"{rng.uniform(1, 2) * 10**power:.2f}" for _ in range(3)] for n, power in enumerate((3, 3, 0, 1))
        }
        assert quotients(columns) == set()
