"""Effects while the load settles: seen where they differ from the measured ones, and else with what would have been."""

import numpy as np
import pytest

from paribus.analysis.paired.checks.settle_phase import settle_phase, settle_phase_check, settle_phase_reason
from paribus.analysis.paired.effects import Pair, PairSeries
from paribus.analysis.paired.finding import Question
from paribus.analysis.paired.unusable import Faults
from paribus.model import Purpose
from paribus.units import LoadLevel, LoadUnit

QUESTION = Question(margin=0.02, planned=32)


def _drawn(
    measured: float, settling: float, seed: int = 1, noise: float = 0.01, pairs: int = 32
) -> tuple[PairSeries, dict[int, float]]:
    """A series whose effect is `measured`, and the throughput while settling, where it is `settling` (log ratios)."""
    rng = np.random.default_rng(seed)
    rates: dict[int, float] = {}
    drawn = []
    for number in range(pairs):
        first, second = 2 * number + 1, 2 * number + 2
        later = 1 if number % 2 else -1
        common = rng.normal(0, noise)
        rates[first] = 900 * float(np.exp(common + rng.normal(0, noise)))
        rates[second] = 900 * float(np.exp(common + settling + rng.normal(0, noise)))
        drawn.append(
            Pair(
                block=number, load=LoadLevel(8, LoadUnit.OUTSTANDING), later=later, count=0,
                sides=((first,), (second,)),
                baseline=1000 * float(np.exp(common + rng.normal(0, noise))),
                compared=1000 * float(np.exp(common + measured + rng.normal(0, noise))),
            )
        )  # fmt: skip
    series = PairSeries(
        purpose=Purpose.COMPARE, factor="f", workload="w", response="throughput_per_s", baseline="a", arm="b",
        planned=pairs, pairs=tuple(drawn), faults=Faults(), split=False,
    )  # fmt: skip
    return series, rates


def test_an_effect_only_while_settling_is_told() -> None:
    phase = settle_phase(*_with_question(_drawn(0.0, -0.2)))
    assert phase is not None
    assert phase.differs
    assert phase.low < -0.2 < phase.high
    (reason,) = settle_phase_reason(phase)
    assert reason.startswith("only of the settled load: while it settles, which no trial measures, the effect is −18")
    assert settle_phase_check(phase) == ()


def test_the_same_effect_passes_with_what_would_have_been_seen() -> None:
    phase = settle_phase(*_with_question(_drawn(0.05, 0.05)))
    (check,) = settle_phase_check(phase)
    assert check.passed
    assert check.finding.startswith("while the load settles the effect is the same; a difference of ")
    assert settle_phase_reason(phase) == ()


def test_visible_differences_are_detected_and_equal_phases_rarely_differ() -> None:
    seen = differs = 0
    for seed in range(100):
        phase = settle_phase(*_with_question(_drawn(0.0, 0.0, seed, noise=0.03)))
        assert phase is not None
        differs += phase.differs
        stronger = settle_phase(*_with_question(_drawn(0.0, phase.visible, seed + 1000, noise=0.03)))
        assert stronger is not None
        seen += stronger.differs
    assert differs <= 5  # 1 % at most; more than 5 of 100 once in a thousand
    assert seen >= 65  # 80 % less the noise of the estimate


@pytest.mark.parametrize("pairs", [0, 15])
def test_few_pairs_tell_nothing(pairs: int) -> None:
    assert settle_phase(*_with_question(_drawn(0.0, -0.2, pairs=pairs))) is None
    series, _ = _drawn(0.0, -0.2)
    assert settle_phase(series, QUESTION, {}) is None


def _with_question(drawn: tuple[PairSeries, dict[int, float]]) -> tuple[PairSeries, Question, dict[int, float]]:
    return drawn[0], QUESTION, drawn[1]
