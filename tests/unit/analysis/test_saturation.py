"""Changes of peak and knee, from pairs with a known law of throughput."""

import dataclasses
import math

import numpy as np
import pytest

from paribus.analysis.diagnostics.saturation import saturation
from paribus.analysis.paired.effects import Pair, PairSeries
from paribus.analysis.paired.unusable import Faults
from paribus.model import Purpose
from paribus.stats.scaling import peak_ratio
from paribus.units import LoadLevel, LoadUnit

LEVELS = (1, 2, 4, 8, 16, 32)


def _rate(level: int, knee: float, top: float) -> float:
    """Rising in proportion up to the knee."""
    return top * min(level / knee, 1.0)


def _series(knees: tuple[float, float], tops: tuple[float, float], passes: int = 8, sd: float = 0.01) -> PairSeries:
    rng = np.random.default_rng(4)
    pairs = []
    for _ in range(passes):
        for level in LEVELS:
            base, arm = (_rate(level, k, t) * math.exp(rng.normal(0, sd)) for k, t in zip(knees, tops, strict=True))
            pairs.append(Pair(len(pairs), LoadLevel(level), base, arm, 1, ((0,), (1,)), 10_000))
    return PairSeries(
        Purpose.COMPARE, "k", "w", "throughput_per_s", "a", "b", len(pairs), tuple(pairs), faults=Faults(), split=False
    )


def test_a_moved_knee_is_reported_with_its_ratio() -> None:
    peak, knee = saturation(_series((4, 8), (1000, 2000)), 0.95)
    assert peak.startswith("not judged, the peak: +100")
    assert knee.startswith("not judged, the knee moved from 4")
    assert "x2.0" in knee or "x1.9" in knee


def test_an_unmoved_knee_is_not_called_the_same() -> None:
    _, knee = saturation(_series((4, 4), (1000, 1000)), 0.95)
    assert knee.startswith("undetermined whether the knee moved")


def test_a_knee_beyond_the_levels_of_one_arm_is_reported() -> None:
    _, knee = saturation(_series((4, 64), (1000, 16000)), 0.95)
    assert knee == "the knee lies beyond 32 outstanding with b"


@pytest.mark.parametrize(
    "changed",
    [
        {"response": "response_p95_s"},
        {"split": True},
        {"pairs": _series((4, 4), (1, 1)).pairs[:12]},
        {"pairs": tuple(p for p in _series((4, 4), (1, 1)).pairs if p.load.n < 4)},
        {
            "pairs": tuple(
                dataclasses.replace(p, load=LoadLevel(p.load.n, LoadUnit.RATE_PER_S))
                for p in _series((4, 4), (1, 1)).pairs
            )
        },
    ],
)
def test_unsuitable_pairs_give_no_sentence(changed: dict[str, object]) -> None:
    assert saturation(dataclasses.replace(_series((4, 4), (1000, 1000)), **changed), 0.95) == []  # type: ignore[arg-type]


def test_the_peak_ratio_has_no_selection_bias() -> None:
    """Two equal arms on a plateau: the ratio of their largest means would often exclude zero; this seldom does."""
    rng = np.random.default_rng(2)
    misses = 0
    for _ in range(300):
        arms = [[{n: math.exp(rng.normal(0, 0.03)) for n in LEVELS} for _ in range(8)] for _ in range(2)]
        ratio = peak_ratio(arms[0], arms[1], 0.95)
        misses += not ratio.low <= 0 <= ratio.high
    assert misses <= 30  # 5 % of 300 is 15, and 30 is four standard errors more
