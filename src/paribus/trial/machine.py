"""The state machine of one trial: events in, instructions out. It has no side effects.

The runner carries out the instructions and reports the events, so that unit tests can try every order of events.
"""

import dataclasses
from dataclasses import dataclass

from paribus.i18n import StoredMessage, stored_message
from paribus.model import Change, ChangeState, FailureClass, NotTaken, Trial, TrialState


# --- events -------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Begun:
    """The trial's turn has come."""

    at: float


@dataclass(frozen=True, slots=True)
class Applied:
    """Its settings were written and read back, and the conditions were read."""

    changes: tuple[Change, ...]
    at: float
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Measuring:
    """The load has settled and is being measured."""


@dataclass(frozen=True, slots=True)
class LoadEnded:
    """The load ended by itself; `invalid_because`: why its figures must not be used."""

    invalid_because: tuple[StoredMessage, ...]


@dataclass(frozen=True, slots=True)
class Verified:
    """The settings were read again; `moved`: those that no longer hold."""

    moved: tuple[Change, ...]
    at: float


@dataclass(frozen=True, slots=True)
class Failed:
    """An operation failed."""

    failure: FailureClass
    message: str
    at: float


Event = Begun | Applied | Measuring | LoadEnded | Verified | Failed


# --- instructions -------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Record:
    """Store the trial's state."""


@dataclass(frozen=True, slots=True)
class Apply:
    """Write the settings and read them back."""


@dataclass(frozen=True, slots=True)
class MakeLoad:
    """Start the load; settle, then measure."""


@dataclass(frozen=True, slots=True)
class StopLoad:
    """End the load at once."""


@dataclass(frozen=True, slots=True)
class Verify:
    """Read the settings again."""


Instruction = Record | Apply | MakeLoad | StopLoad | Verify

_TAKEN_OTHERWISE = (NotTaken.CLAMPED, NotTaken.ROUNDED, NotTaken.IGNORED)
_LOADED = (TrialState.SETTLING, TrialState.MEASURING)


def step(trial: Trial, event: Event) -> tuple[Trial, tuple[Instruction, ...]]:
    """The trial after an event, and the next instructions; none when the trial is over."""
    match event:
        case Begun(at):
            return _to(trial, TrialState.APPLYING, started=at), (Record(), Apply())
        case Applied(changes, at, fingerprint):
            different = mismatches(changes)
            refused = "; ".join(f"{c.knob} = {c.wanted}: {c.refused}" for c in changes if _is_refused(c))
            if refused or any(map(_is_replaced, changes)):  # a finding: the machine would do so again
                failed = _to(trial, TrialState.FAILED, failure=FailureClass.SETTING_REJECTED, failure_message=refused)
                replaced = mismatches(tuple(filter(_is_replaced, changes)))
                return dataclasses.replace(failed, invalid_because=replaced, ended=at), (Record(),)
            if different:
                return _to(trial, TrialState.INVALID, invalid_because=different, ended=at), (Record(),)
            return _to(trial, TrialState.SETTLING, applied=at, fingerprint=fingerprint), (Record(), MakeLoad())
        case Measuring():
            return _to(trial, TrialState.MEASURING), (Record(),)
        case LoadEnded(invalid_because):
            return dataclasses.replace(trial, invalid_because=invalid_because), (Verify(),)
        case Verified(moved, at):
            because = trial.invalid_because + mismatches(moved)
            state = TrialState.INVALID if because else TrialState.DONE
            return _to(trial, state, invalid_because=because, ended=at), (Record(),)
        case Failed(failure, message, at):
            stop = (StopLoad(),) if trial.state in _LOADED else ()
            failed = _to(trial, TrialState.FAILED, failure=failure, failure_message=message, ended=at)
            return failed, (*stop, Record())


def _to(trial: Trial, state: TrialState, **fields: object) -> Trial:
    return dataclasses.replace(trial, state=state, **fields)  # type: ignore[arg-type]


def _is_refused(change: Change) -> bool:
    """Whether the kernel or the server refused a setting that the trial tests."""
    return change.state is ChangeState.MISMATCHED and bool(change.refused)


def _is_replaced(change: Change) -> bool:
    """Whether it took another value in place of the wanted one."""
    is_mismatched = change.state is ChangeState.MISMATCHED and not change.refused
    return is_mismatched and change.not_taken in _TAKEN_OTHERWISE


def mismatches(changes: tuple[Change, ...]) -> tuple[StoredMessage, ...]:
    """A message for each setting that differs from the requested value."""
    return tuple(
        stored_message(
            "{knob} {outcome}: wanted {wanted}, found {found}",
            knob=c.knob,
            outcome=stored_message(str(c.not_taken)),
            wanted=c.wanted,
            found=stored_message("nothing") if c.observed is None else c.observed,
        )
        for c in changes
        if c.state is ChangeState.MISMATCHED
    )
