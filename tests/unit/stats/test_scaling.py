"""Knee, peak and bend on curves whose truth is known."""

import math

import numpy as np
import pytest

from paribus.stats.pairs import CannotJudge
from paribus.stats.scaling import bend, knee, peak

LEVELS = [1, 2, 4, 8, 16, 32, 64, 128, 256]


@pytest.mark.parametrize("turn", [1.0, 4.0, 22.0, 45.0, 100.0])
def test_a_hard_ceiling_has_its_knee_where_it_is_reached(turn: float) -> None:
    rates = [1000.0 * min(level, turn) for level in LEVELS]
    estimate = knee([dict(zip(LEVELS, rates, strict=True))], 0.95)
    assert estimate is not None
    assert estimate.level == pytest.approx(turn)
    assert (estimate.low, estimate.high) == (None, None)


def test_a_soft_ceiling_has_its_knee_where_half_of_it_is_reached() -> None:
    estimate = knee([{level: 50_000 * level / (level + 45) for level in LEVELS}], 0.95)
    assert estimate is not None
    assert estimate.level == pytest.approx(45, rel=0.15)


def test_throughput_in_proportion_has_no_knee() -> None:
    assert knee([{level: 1000.0 * level for level in LEVELS}], 0.95) is None


def test_rounds_give_the_knee_an_interval_that_holds_it() -> None:
    covered = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rounds = [{n: 1000 * min(n, 40) * math.exp(0.02 * rng.standard_normal()) for n in LEVELS} for _ in range(4)]
        estimate = knee(rounds, 0.95)
        assert estimate is not None
        assert estimate.low is not None
        assert estimate.high is not None
        covered += estimate.low <= 40 <= estimate.high
    assert covered >= 52  # three standard errors below 95 % of 60


@pytest.mark.parametrize("rounds", [[], [{}], [{1: 1.0, 2: 0.0}]])
def test_rounds_without_rates_are_refused(rounds: list[dict[int, float]]) -> None:
    with pytest.raises(CannotJudge):
        knee(rounds, 0.95)


def test_the_peak_is_not_the_luckiest_level() -> None:
    rng = np.random.default_rng(5)
    flat = [[{n: 1000 * math.exp(0.05 * rng.standard_normal()) for n in LEVELS} for _ in range(4)] for _ in range(300)]
    honest = float(np.mean([peak(rounds, 0.95).rate for rounds in flat]))
    luckiest = float(np.mean([max(np.mean([r[n] for r in rounds]) for n in LEVELS) for rounds in flat]))
    assert honest == pytest.approx(1000, rel=0.01)
    assert luckiest > 1025


def test_one_round_has_a_peak_without_interval() -> None:
    highest = peak([{1: 5.0, 2: 9.0, 4: 7.0}], 0.95)
    assert (highest.position, highest.rate, highest.low, highest.high) == (2, 9.0, None, None)


def test_rounds_at_other_positions_have_a_peak_without_interval() -> None:
    highest = peak([{1: 5.0}, {2: 9.0}], 0.95)
    assert (highest.position, highest.rate, highest.low) == (2, 9.0, None)


def test_no_round_has_no_peak() -> None:
    with pytest.raises(CannotJudge):
        peak([], 0.95)


@pytest.mark.parametrize(
    ("times", "step"),
    [
        ([1.0, 1.0, 1.0, 2.0, 4.0], 2),
        ([1.0, 1.1, 1.2, 1.3, 1.4], None),
        ([1.0, 2.0, 4.0, 8.0, 16.0], 0),
        ([1.0, 1.9, 1.9, 1.9, 3.8], 3),  # a hiccup at the start is no bend
    ],
)
def test_the_bend_is_where_waiting_begins_for_good(times: list[float], step: int | None) -> None:
    assert bend([1, 2, 4, 8, 16], times) == step
