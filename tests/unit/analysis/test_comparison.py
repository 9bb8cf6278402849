"""Comparison of two experiments with a known difference."""

import dataclasses
import math

import numpy as np
import pytest
import trial_samples as samples

from paribus.analysis.comparison import Side, between, effects_between
from paribus.model import Effect, Verdict
from paribus.units import LoadLevel

LOADS = (1, 8)
MARGIN = math.log(1.02)


def _side(
    rates: dict[int, float], rounds: int = 8, sd: float = 0.005, seed: int = 1, metric: str = "throughput_per_s"
) -> Side:
    rng = np.random.default_rng(seed)
    trials, summaries = [], {}
    for number in range(rounds):
        for load in LOADS:
            for arm in ("a", "b"):
                order = len(trials) + 1
                trials.append(samples.trial(order, arm, load, round=number + 1, block=order - (order + 1) % 2))
                value = rates[load] * math.exp(rng.normal(0, sd)) * (1 if arm == "a" else 5)
                summaries[order] = {metric: samples.measured(value, metric)}
    return Side(trials, summaries)


def _compare(first: Side, second: Side, response: str = "throughput_per_s") -> Verdict | None:
    comparisons = between(first, second, {("w", response): MARGIN}, 0.95)
    assert comparisons[0].load is None
    assert [comparison.load.n for comparison in comparisons[1:] if comparison.load] == list(LOADS)
    return comparisons[0].verdict


@pytest.mark.parametrize(
    ("times", "verdict"),
    [
        ((1.1, 1.1), Verdict.BETTER),
        ((0.9, 0.9), Verdict.WORSE),
        ((1.0, 1.0), Verdict.EQUIVALENT),
        ((1.1, 0.9), Verdict.DEPENDS_ON_LOAD),
    ],
)
def test_the_second_is_judged_against_the_first(times: tuple[float, float], verdict: Verdict) -> None:
    first = _side({1: 100, 8: 700})
    second = _side({1: 100 * times[0], 8: 700 * times[1]}, seed=2)
    assert _compare(first, second) is verdict


def test_a_longer_response_time_is_worse() -> None:
    sides = [_side({1: t, 8: t}, metric="response_p95_s", seed=n) for n, t in enumerate((0.01, 0.02))]
    assert _compare(*sides, "response_p95_s") is Verdict.WORSE


def test_much_noise_is_undecided_and_few_rounds_are_not_compared() -> None:
    sides = [_side({1: 100, 8: 700}, sd=0.3, seed=seed) for seed in (3, 4)]
    assert _compare(*sides) is Verdict.UNDECIDED
    few = [_side({1: 100, 8: 700}, rounds=2, seed=seed) for seed in (3, 4)]
    assert between(few[0], few[1], {("w", "throughput_per_s"): MARGIN}, 0.95) == []
    assert between(few[0], few[1], {("other", "throughput_per_s"): MARGIN}, 0.95) == []


def test_false_claims_keep_the_declared_rate() -> None:
    claims = (Verdict.BETTER, Verdict.WORSE, Verdict.DEPENDS_ON_LOAD)
    false_claims = sum(
        _compare(_side({1: 100, 8: 700}, sd=0.05, seed=n), _side({1: 100, 8: 700}, sd=0.05, seed=1000 + n)) in claims
        for n in range(200)
    )
    assert false_claims <= 19  # 200 x 0.05, and three standard deviations


def _effect(estimate: float, half_width: float, **changes: object) -> Effect:
    effect = Effect(
        factor="f", baseline="a", arm="b", workload="w", response="throughput_per_s", load=None, estimate=estimate,
        low=estimate - half_width, high=estimate + half_width, confidence=0.95, pairs=16, margin=MARGIN, method="m",
        look=1, verdict=Verdict.BETTER, tags=(), reasons=(), trials=(1,), checks=(), better_probability=None,
        within_probability=None, alpha_spent=None,
    )  # fmt: skip
    return dataclasses.replace(effect, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("other", "half_width", "alike"), [(0.051, 0.005, True), (0.15, 0.01, False), (0.07, 0.03, None)]
)
def test_effects_are_alike_different_or_undecided(other: float, half_width: float, alike: bool | None) -> None:
    (comparison,) = effects_between([_effect(0.05, half_width)], [_effect(other, half_width)])
    assert comparison.alike is alike
    assert comparison.difference.value == pytest.approx(other - 0.05)


def test_only_effects_judged_in_both_are_compared() -> None:
    first_effects = [
        _effect(0.05, 0.01),
        _effect(0.05, 0.01, arm="c"),
        _effect(0.05, 0.01, load=LoadLevel(1), verdict=None),
    ]
    assert len(effects_between(first_effects, [_effect(0.05, 0.01), _effect(0.1, 0.1, arm="d")])) == 1
