"""Arms that more pairs can answer: undecided, suspect, too few; not those that the machine or the trials forbid."""

import dataclasses

import pytest
from trial_samples import trial

from paribus.analysis.open_questions import open_arms
from paribus.model import Effect, FailureClass, Tag, TrialState, Verdict
from paribus.units import LoadLevel

EFFECT = Effect(
    factor="k", baseline="a", arm="b", workload="w", response="throughput_per_s", load=None, estimate=0.0, low=-0.1,
    high=0.1, confidence=0.95, pairs=16, margin=0.02, method="huber", look=1, verdict=Verdict.UNDECIDED, tags=(),
    reasons=(), trials=(),
)  # fmt: skip
OPEN = {"k": {"b"}}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"would_decide": "40 pairs", "decide_s": 60.0}, OPEN),
        ({"would_decide": "use longer trials"}, {}),
        ({"verdict": Verdict.BETTER}, {}),
        ({"verdict": Verdict.BETTER, "tags": (Tag.SUSPECT,)}, OPEN),
        ({"verdict": Verdict.EQUIVALENT}, {}),
    ],
)
def test_undecided_and_suspect_arms_are_open(changed: dict, expected: dict) -> None:
    assert open_arms([trial(1), trial(2, "b")], [dataclasses.replace(EFFECT, **changed)], ()) == expected


def test_arms_that_more_pairs_cannot_decide_are_not_open() -> None:
    few = trial(2, "b", state=TrialState.INVALID)
    assert open_arms([few], [], ()) == OPEN
    assert open_arms([few], [], [("k", "w", "b")]) == {}
    refused = trial(2, "b", state=TrialState.FAILED, failure=FailureClass.SETTING_REJECTED)
    assert open_arms([refused, dataclasses.replace(refused, order=3)], [], ()) == {}


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ([(-0.1, 0.9), (-0.6, 0.4)], OPEN),  # wide at both
        ([(0.1, 0.3), (-0.6, 0.4)], {}),  # better at one: choose by the load
        ([(-0.3, -0.1), (-0.05, 0.01)], {}),  # better at none, beyond the margin
    ],
)
def test_effects_that_depend_on_load_are_open_while_a_level_may_be_better(levels: list, expected: dict) -> None:
    whole = dataclasses.replace(EFFECT, verdict=Verdict.DEPENDS_ON_LOAD)
    at_levels = [
        dataclasses.replace(EFFECT, load=LoadLevel(n), low=low, high=high, verdict=None)
        for n, (low, high) in enumerate(levels, start=1)
    ]
    assert open_arms([trial(1), trial(2, "b")], [whole, *at_levels], ()) == expected
