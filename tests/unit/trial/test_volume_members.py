"""Drives of a controller's volume in a trial, on a program that prints states."""

from dataclasses import replace

import pytest

from paribus.errors import HostError
from paribus.hosts.transport import Completed
from paribus.knobs.members import claimed
from paribus.model import CommandLines, HealthCheck, SetByCommand, VolumeMember
from paribus.trial.events import volume_members
from paribus.trial.events.volume_members import VolumeMembers

DRIVE = VolumeMember(
    name="raid.drive",
    command=CommandLines(get=("raid", "drive"), set=(), pattern="^(.*)$"),
    fail=("raid", "offline"),
    replace=("raid", "rebuild"),
    whole="Onln",
    rebuilding=("Rbld",),
    affects=("raid.volume",),
)
VOLUME = HealthCheck(
    name="raid.volume",
    command=CommandLines(get=("raid", "volume"), set=(), pattern="^(.*)$"),
    summary="",
    sound=("Ok",),
)


class Controller:
    """A controller and the keeper of its journal: what they did, and the state of the drive."""

    def __init__(self, *, takes: bool = True) -> None:
        self.did: list[str] = []
        self.drive = "Onln"
        self.volume = ""
        self.takes = takes
        self.polls = 0

    def run(self, argv: list[str], **_options: object) -> Completed:
        if argv[1] == "volume":
            return Completed(0, self.volume or ("Ok" if self.drive == "Onln" else "Degraded"), "")
        self.polls += 1
        if self.drive == "Rbld" and self.polls > 2:
            self.drive = "Onln"
        return Completed(0, self.drive, "")

    def intend(
        self, knob: str, _address: str, before: str, _wanted: str, undo: list[SetByCommand], **_: object
    ) -> None:
        self.did.append(f"{knob} {before} {undo[0].set[1]} {undo[0].passing}")

    def make(self, _knob: str, action: SetByCommand) -> None:
        self.did.append(action.set[1])
        self.polls = 0
        if self.takes:
            self.drive = "Offln" if action.set[1] == "offline" else "Rbld"


def _members(controller: Controller, *, stopped: bool = False) -> VolumeMembers:
    return VolumeMembers(controller, controller, [VOLUME], lambda: stopped)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(volume_members, "_POLL_S", 0.0)
    monkeypatch.setattr(volume_members, "_BEGINS_S", 0.0)
    monkeypatch.setattr(volume_members, "_LOOKS_SHARE", 0)


def test_a_drive_is_in_the_journal_before_it_fails_and_is_whole_after_its_rebuild() -> None:
    controller, heard = Controller(), []
    members = _members(controller)
    members.fail(DRIVE)
    assert controller.did == ["raid.drive Onln rebuild ('Rbld',)", "offline"]
    members.replace()
    assert members.reasons() == ["raid.drive was not whole again when the trial ended"]
    members.bring_back(heard.append)
    assert members.is_whole()
    assert members.reasons() == []
    assert heard == ["waiting until raid.drive is Onln again"]
    members.fail(DRIVE)
    assert controller.did.count("raid.drive Onln rebuild ('Rbld',)") == 1


def test_a_drive_that_no_event_replaces_is_rebuilt_at_the_end() -> None:
    controller = Controller()
    members = _members(controller)
    members.fail(DRIVE)
    members.bring_back(lambda _reason: None)
    assert controller.did[-1] == "rebuild"
    assert controller.drive == "Onln"


def test_a_stop_begins_the_rebuild_and_does_not_wait() -> None:
    controller = Controller()
    members = _members(controller, stopped=True)
    members.fail(DRIVE)
    members.bring_back(lambda _reason: None)
    assert controller.drive == "Rbld"


def test_a_drive_does_not_fail_while_another_one_is_rebuilt() -> None:
    controller = Controller()
    controller.drive = "Offln"
    with pytest.raises(HostError, match=r"must not fail: raid\.drive is Offln, and not Onln; raid\.volume is Degraded"):
        _members(controller).fail(DRIVE)
    assert controller.did == []


def test_a_program_that_does_nothing_is_told() -> None:
    with pytest.raises(HostError, match=r"raid\.drive is Onln after it was to fail"):
        _members(Controller(takes=False)).fail(DRIVE)


def test_a_replacement_before_a_failure_is_told() -> None:
    with pytest.raises(HostError, match="no disk has failed in this trial"):
        _members(Controller()).replace()


def test_a_rebuild_that_fails_ends_the_wait() -> None:
    controller = Controller()
    members = _members(controller)
    members.fail(DRIVE)
    members.replace()
    controller.drive = "Failed"
    with pytest.raises(HostError, match=r"raid\.drive is Failed, and not rebuilt"):
        members.is_whole()


def test_a_volume_that_stays_degraded_ends_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(volume_members, "_SETTLES_S", -1.0)
    controller = Controller()
    members = _members(controller)
    members.fail(DRIVE)
    members.replace()
    controller.volume = "Degraded"
    with pytest.raises(HostError, match=r"raid\.drive is Onln, and yet raid\.volume is Degraded"):
        members.bring_back(lambda _reason: None)


def test_a_state_is_not_asked_for_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(volume_members, "_POLL_S", 60.0)
    controller = Controller()
    members = _members(controller)
    members.fail(DRIVE)
    members.replace()
    assert not members.is_whole()
    controller.drive = "Onln"
    assert not members.is_whole()


def test_the_volume_of_a_drive_belongs_to_one_experiment() -> None:
    other = replace(DRIVE, name="raid.other", command=replace(DRIVE.command, get=("raid", "other")))
    assert claimed(DRIVE, [VOLUME]) & claimed(other, [VOLUME]) == {"raid volume"}


def test_a_controller_may_show_a_moment_later_that_a_rebuild_has_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(volume_members, "_BEGINS_S", 60.0)
    controller = Controller()
    members = _members(controller)
    members.fail(DRIVE)
    members.replace()
    controller.drive = "Offln"
    assert not members.is_whole()
    controller.drive = "Onln"
    assert members.is_whole()
