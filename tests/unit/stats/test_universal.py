"""The Universal Scalability Law, fitted to rates of known parameters."""

import math

import numpy as np
import pytest
from scipy.optimize import least_squares

from paribus.stats.pairs import CannotJudge
from paribus.stats.universal import Array, fit

LEVELS = (1, 2, 4, 8, 16, 32, 64)


def _rounds(
    sigma: float, kappa: float, sd: float = 0.01, rounds: int = 6, seed: int = 1, top: float = math.inf
) -> list[dict[int, float]]:
    rng = np.random.default_rng(seed)

    def rate(n: int) -> float:
        return min(1000 * n / (1 + sigma * (n - 1) + kappa * n * (n - 1)), top)

    return [{n: rate(n) * math.exp(rng.normal(0, sd)) for n in LEVELS} for _ in range(rounds)]


def test_the_parameters_are_recovered() -> None:
    law = fit(_rounds(0.05, 0.0005), 0.95)
    assert law.rate_of_one[1] <= 1000 <= law.rate_of_one[2]
    assert law.contention[0] == pytest.approx(0.05, abs=0.01)
    assert law.coherency[0] == pytest.approx(0.0005, rel=0.2)
    assert law.peak_at == pytest.approx(math.sqrt(0.95 / 0.0005), rel=0.1)
    assert law.holds
    assert law.rate(8) == pytest.approx(1000 * 8 / (1 + 0.05 * 7 + 0.0005 * 56), rel=0.02)


def test_intervals_have_their_nominal_coverage() -> None:
    laws = [fit(_rounds(0.05, 0.0005, sd=0.02, rounds=8, seed=seed), 0.95) for seed in range(60)]
    held = sum(law.contention[1] <= 0.05 <= law.contention[2] for law in laws)
    assert held >= 52  # 60 x 0.95, less three standard deviations
    assert sum(law.holds for law in laws) >= 56


def test_abrupt_saturation_does_not_follow_the_law() -> None:
    law = fit(_rounds(0.0, 0.0, top=4000), 0.95)
    assert not law.holds
    assert abs(law.deviation) > 0.1


def test_proportional_scaling_has_no_peak() -> None:
    law = fit(_rounds(0.0, 0.0, sd=1e-6), 0.95)
    assert law.peak_at is None or law.peak_at > 1000


def test_rates_that_only_fall_do_not_determine_the_rate_of_one() -> None:
    rng = np.random.default_rng(1)
    rounds = [{n: 1e5 / (n - 1) * math.exp(rng.normal(0, 0.03)) for n in (8, 16, 32, 64)} for _ in range(6)]
    with pytest.raises(CannotJudge, match="rate of one"):
        fit(rounds, 0.95)


def test_rates_that_fall_from_level_one_peak_there() -> None:
    rng = np.random.default_rng(1)
    law = fit([{n: 1000 / math.sqrt(n) * math.exp(rng.normal(0, 0.01)) for n in LEVELS} for _ in range(6)], 0.95)
    assert law.peak_at == 1.0


def test_the_fit_is_a_global_minimum() -> None:
    rng = np.random.default_rng(3)
    for n in range(120):
        sigma, kappa = (rng.choice([0.0, 10 ** rng.uniform(-4, 0)]), rng.choice([0.0, 10 ** rng.uniform(-7, -1)]))
        offsets = rng.normal(0, rng.choice([0.0, 0.05, 1.0]), len(LEVELS))
        rounds = [
            {
                level: level_rate * math.exp(offset)
                for (level, level_rate), offset in zip(rates.items(), offsets, strict=True)
            }
            for rates in _rounds(sigma, kappa, sd=0.02, rounds=3, seed=n)
        ]
        levels = np.array(LEVELS, dtype=float)
        logs = np.log([list(rates.values()) for rates in rounds]).mean(axis=0)
        law = fit(rounds, 0.95)
        deviations = _deviations(
            np.array([math.log(law.rate_of_one[0]), law.contention[0], law.coherency[0]]), levels, logs
        )
        starts = [(logs[0], s, k) for s in (0.01, 0.5) for k in (1e-6, 1e-2)]
        bounds = ([-np.inf, 0, 0], [np.inf, 1, np.inf])
        others = [
            least_squares(_deviations, start, args=(levels, logs), bounds=bounds, x_scale="jac") for start in starts
        ]
        assert (deviations**2).sum() <= min(2 * other.cost for other in others) * 1.0001 + 1e-12, (n, law)


def _deviations(law: Array, levels: Array, logs: Array) -> Array:
    log_rate_of_one, sigma, kappa = law
    return np.asarray(
        log_rate_of_one + np.log(levels / (1 + sigma * (levels - 1) + kappa * levels * (levels - 1))) - logs
    )


@pytest.mark.parametrize(
    "rounds",
    [[], [{}], _rounds(0.1, 0.0, rounds=1), [{1: 1.0, 2: 2.0, 4: 3.0}] * 4, [{1: 1.0, 2: 0.0, 4: 3.0, 8: 4.0}] * 4],
)
def test_too_few_rounds_or_levels_are_refused(rounds: list[dict[int, float]]) -> None:
    with pytest.raises(CannotJudge):
        fit(rounds, 0.95)
