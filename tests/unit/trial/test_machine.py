"""States of a trial, in every order of events."""

import dataclasses

import pytest

from paribus.model import Change, ChangeState, FailureClass, NotTaken, Purpose, Trial, TrialState
from paribus.trial.machine import (
    Applied,
    Apply,
    Begun,
    Failed,
    LoadEnded,
    MakeLoad,
    Measuring,
    Record,
    StopLoad,
    Verified,
    Verify,
    step,
)

TRIAL = Trial(
    experiment="e",
    order=1,
    round=1,
    block=1,
    position=1,
    attempt=1,
    factor="k",
    arm="a",
    baseline=True,
    purpose=Purpose.COMPARE,
    settings={"k": 1},
    workload="w",
    load=1,
)


def _change(state: ChangeState, became: NotTaken | None = None) -> Change:
    return Change(knob="k", address="/k", before=0, wanted=1, observed=2, state=state, not_taken=became)


def _after(*events: object) -> Trial:
    trial = TRIAL
    for event in events:
        trial, _ = step(trial, event)  # type: ignore[arg-type]
    return trial


def test_a_trial_is_applied_loaded_verified_and_done() -> None:
    trial, todo = step(TRIAL, Begun(1.0))
    assert (trial.state, trial.started, todo) == (TrialState.APPLYING, 1.0, (Record(), Apply()))
    trial, todo = step(trial, Applied((_change(ChangeState.VERIFIED),), 1.5))
    assert (trial.state, todo) == (TrialState.SETTLING, (Record(), MakeLoad()))
    trial, todo = step(trial, Measuring())
    assert (trial.state, todo) == (TrialState.MEASURING, (Record(),))
    trial, todo = step(trial, LoadEnded(()))
    assert todo == (Verify(),)
    trial, todo = step(trial, Verified((), 2.0))
    assert (trial.state, trial.ended, todo) == (TrialState.DONE, 2.0, (Record(),))


def test_a_setting_that_was_not_taken_makes_no_load() -> None:
    trial, todo = step(_after(Begun(1.0)), Applied((_change(ChangeState.MISMATCHED, NotTaken.RESET),), 1.5))
    assert trial.state is TrialState.INVALID
    assert trial.invalid_because == ("k was changed by another program: wanted 1, found 2",)
    assert trial.ended is not None
    assert MakeLoad() not in todo


@pytest.mark.parametrize("outcome", [NotTaken.CLAMPED, NotTaken.ROUNDED, NotTaken.IGNORED])
def test_a_value_that_the_machine_replaces_is_a_finding_as_a_refusal_is(outcome: NotTaken) -> None:
    trial, todo = step(_after(Begun(1.0)), Applied((_change(ChangeState.MISMATCHED, outcome),), 1.5))
    assert (trial.state, trial.failure, todo) == (TrialState.FAILED, FailureClass.SETTING_REJECTED, (Record(),))
    assert (trial.failure_message, trial.invalid_because) == ("", (f"k {outcome}: wanted 1, found 2",))


def test_a_setting_that_the_kernel_refuses_is_a_finding() -> None:
    refused = dataclasses.replace(_change(ChangeState.MISMATCHED), refused="cannot write /k: Invalid argument")
    trial, todo = step(_after(Begun(1.0)), Applied((refused,), 1.5))
    assert (trial.state, trial.failure, todo) == (TrialState.FAILED, FailureClass.SETTING_REJECTED, (Record(),))
    assert trial.failure_message == "k = 1: cannot write /k: Invalid argument"


def test_a_bystander_that_moved_is_no_reason() -> None:
    assert _after(Begun(1.0), Applied((_change(ChangeState.WRITTEN),), 1.5)).state is TrialState.SETTLING


def test_a_setting_that_moved_meanwhile_makes_the_trial_invalid() -> None:
    moved = (_change(ChangeState.MISMATCHED, NotTaken.RESET),)
    trial = _after(Begun(1.0), Applied((), 1.5), Measuring(), LoadEnded(("noise",)), Verified(moved, 2.0))
    assert trial.state is TrialState.INVALID
    assert trial.invalid_because == ("noise", "k was changed by another program: wanted 1, found 2")


def test_a_failure_under_load_stops_the_load() -> None:
    failed = Failed(FailureClass.LOAD_ERROR, "disk full", 3.0)
    for events in ((Begun(1.0), Applied((), 1.5)), (Begun(1.0), Applied((), 1.5), Measuring())):
        trial, todo = step(_after(*events), failed)
        assert todo == (StopLoad(), Record())
        assert (trial.state, trial.failure, trial.failure_message) == (
            TrialState.FAILED,
            FailureClass.LOAD_ERROR,
            "disk full",
        )


def test_a_failure_before_the_load_only_ends_the_trial() -> None:
    trial, todo = step(_after(Begun(1.0)), Failed(FailureClass.TOOLING, "x", 3.0))
    assert (trial.state, todo) == (TrialState.FAILED, (Record(),))


def test_a_trial_is_not_changed_but_replaced() -> None:
    step(TRIAL, Begun(1.0))
    assert TRIAL.state is TrialState.PLANNED
    with pytest.raises(dataclasses.FrozenInstanceError):
        TRIAL.order = 2  # type: ignore[misc]
