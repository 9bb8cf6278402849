"""Faults of bounded size pass where the claim holds in spite of all of them, and say so."""

import dataclasses
import math
from collections.abc import Sequence

import pytest
from test_checks import Values, _checks, _scaled, _time_series, _timed
from test_judge import _experiment

from paribus.model import Purpose, Tag, Trial


def _change_halves(trials: Sequence[Trial], values: Values, change: float) -> None:
    """Add a change, a log ratio, to the arm `b` in the first half, and take it away in the second."""
    last = trials[-1].block
    for trial in trials:
        if trial.arm == "b":
            _scaled(values, trial.order, math.exp(change if trial.block <= last / 2 else -change))


def _with_placebo(trials: Sequence[Trial], values: Values, gain: float) -> tuple[list[Trial], Values]:
    """Return trials and values with a comparison of the baseline with itself after them, in which it gains."""
    placebo_trials, placebo_values = _experiment(lambda _load: gain)
    last = len(trials)
    extended, all_values = list(trials), dict(values)
    for trial in placebo_trials:
        all_values[trial.order + last] = placebo_values[trial.order]
        placebo = dataclasses.replace(trial, purpose=Purpose.PLACEBO, factor="placebo 1", order=trial.order + last)
        extended.append(dataclasses.replace(placebo, block=trial.block + last))
    return extended, all_values


HOLDS = "; the effect is so far beyond the margin that the verdict holds"


def test_a_change_that_leaves_the_verdict_is_told_and_passes() -> None:
    trials, values = _experiment(lambda _load: 1.0, passes=18)
    _change_halves(trials, values, 0.04)
    checks, tags = _checks(_timed(trials), values)
    assert checks["steady"].passed
    assert Tag.SUSPECT not in tags
    assert checks["steady"].finding == f"the effect of b is +182 % in the first half and +161 % in the second{HOLDS}"


def test_a_change_within_trials_that_leaves_the_verdict_is_told_and_passes() -> None:
    trials, values = _experiment(lambda _load: 1.0)
    trials = _timed(trials)
    checks, tags = _checks(trials, values, _time_series(trials, rise=-0.03))
    assert checks["settled"].passed
    assert checks["settled"].finding.endswith(HOLDS)
    assert Tag.SUSPECT not in tags


@pytest.mark.parametrize(("change", "gain"), [(0.05, 0.0), (0.0, 0.12), (0.05, 0.12)])
def test_faults_that_only_together_may_undo_the_claim_fail(change: float, gain: float) -> None:
    trials, values = _experiment(lambda _load: 0.4, passes=18)
    _change_halves(trials, values, change)
    trials, values = _with_placebo(trials, values, gain)
    checks, tags = _checks(_timed(trials), values)
    together = change > 0 < gain
    assert checks["steady"].passed is checks["placebo"].passed is not together
    assert (HOLDS in checks["steady"].finding) is (change > 0 == gain)
    assert (HOLDS in checks["placebo"].finding) is (gain > 0 == change)
    assert Tag.SUSPECT in tags or not together


def test_a_change_that_would_undo_the_claim_fails() -> None:
    trials, values = _experiment(lambda _load: 0.06, passes=18)
    _change_halves(trials, values, 0.03)
    checks, tags = _checks(_timed(trials), values)
    assert not checks["steady"].passed
    assert Tag.SUSPECT in tags


@pytest.mark.parametrize(("effect", "passed"), [(0.05, False), (1.0, True)])
def test_correlated_pairs_make_verdicts_suspect_that_a_single_pair_may_undo(effect: float, passed: bool) -> None:
    trials, values = _experiment(lambda _load: effect, passes=18)
    for trial in trials:
        if trial.arm == "b":
            _scaled(values, trial.order, math.exp(0.04 * math.sin(trial.block / 2.5)))
    checks, tags = _checks(_timed(trials), values)
    assert checks["independence"].passed is passed
    assert checks["independence"].finding.endswith(HOLDS if passed else ": disturbances last longer than one block")
    assert (Tag.SUSPECT in tags) is not passed


@pytest.mark.parametrize(
    ("effect", "gain", "passed"), [(0.0, 0.0, True), (0.0, 0.05, False), (0.08, 0.05, False), (1.0, 0.05, True)]
)
def test_a_placebo_with_an_effect_makes_verdicts_suspect_that_it_may_undo(
    effect: float, gain: float, passed: bool
) -> None:
    trials, values = _with_placebo(*_experiment(lambda _load: effect), gain)
    checks, tags = _checks(_timed(trials), values)
    assert checks["placebo"].passed is passed
    assert (Tag.SUSPECT in tags) is not passed
