"""Whether an effect depends on the load; its error rates are in tests/property."""

from dataclasses import replace

import numpy as np
import pytest
from experiments import Laboratory

from paribus.analysis.paired.alpha_spending import SpendingLook
from paribus.analysis.paired.by_level import Dependence, level_result
from paribus.analysis.paired.decision import next_look
from paribus.analysis.paired.finding import Pairs
from paribus.model import Verdict
from paribus.stats.generator import Noise

QUIET = Noise(between_sd=0.005, within_sd=0.01, outliers=0.0, drift="none")


def _laboratory(levels: int) -> Laboratory:
    return Laboratory(noise=QUIET, levels=levels, pairs=12 * levels)


def _dependence(lab: Laboratory, pairs: Pairs) -> Dependence:
    units = len(pairs.difference)
    result = level_result(pairs, lab.question(), [SpendingLook(units, 0.05)], 0.0)
    assert result is not None
    return result.dependence


@pytest.mark.parametrize("levels", [3, 8])
@pytest.mark.parametrize("effect", [0.08, -0.08])
def test_one_level_that_differs_is_dependence(levels: int, effect: float) -> None:
    lab = _laboratory(levels)
    effects = [0.0] * levels
    effects[1] = effect
    finding = lab.experiment(np.random.default_rng(1), effects)[1]
    assert finding.verdict is Verdict.DEPENDS_ON_LOAD
    expected = Verdict.BETTER if effect > 0 else Verdict.WORSE
    assert [level.verdict is expected for level in finding.levels] == [number == 1 for number in range(levels)]


def test_gains_of_different_size_are_no_dependence() -> None:
    lab = _laboratory(3)
    assert lab.experiment(np.random.default_rng(1), [0.10, 0.05, 0.05])[1].verdict is Verdict.BETTER


def test_a_small_effect_at_one_level_beside_none_is_no_dependence() -> None:
    """Four calm pairs at each level, and outliers at one make +1.6 % there: within the margin."""
    level = np.repeat(np.arange(4), 4)
    difference = np.tile([1e-3, -1e-3], 8)
    difference[4:7] = 0.022
    order = np.tile([1.0, -1.0], 8)
    lab = Laboratory(levels=4, pairs=16)
    assert _dependence(lab, Pairs(difference, order, level)) is Dependence.NONE
    assert _dependence(lab, Pairs(difference + 0.03 * (level == 1), order, level)) is Dependence.SHOWN


def test_an_outlier_does_not_make_a_level_differ() -> None:
    lab = _laboratory(8)
    pairs = lab.draw(np.random.default_rng(1), 0.0)
    disturbed = pairs.difference.copy()
    disturbed[np.flatnonzero(pairs.level == 2)[0]] -= 1.0
    assert _dependence(lab, replace(pairs, difference=disturbed)) is Dependence.NONE


def test_a_claim_waits_while_a_level_differs_and_the_others_are_open() -> None:
    """A gain at one of three levels is a gain on average before the others are shown to have none."""
    lab = replace(_laboratory(3), margin=0.003)
    pairs = lab.draw(np.random.default_rng(2), [0.08, 0.0, 0.0]).first(24)
    assert _dependence(lab, pairs) is Dependence.OPEN
    finding = next_look(pairs, lab.question())
    assert finding.interval.low > 0
    assert finding.verdict is None
    assert next_look(pairs, lab.question(), over=True).verdict is Verdict.DEPENDS_ON_LOAD
