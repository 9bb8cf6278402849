"""Restoration of the machines of a fleet: what experiments left changed there, or what was applied."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from paribus.lab.fleet.controllers import MOST_AT_ONCE, ControllerCommand, ControllerEnd, Controllers
from paribus.lab.fleet.inventory import FleetHost
from paribus.lab.machine.connection import Report, discard
from paribus.model import Value

_OPEN = ("would-restore", "would-close")
_VALUE = {"would-restore": "before", "restored": "value", "expired": ""}  # event: its key of the value, if it has one


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class UndoState(StrEnum):
    """State of a machine whose settings are restored."""

    NOTHING = "nothing to restore"
    TO_RESTORE = "to be restored"
    RESTORED = "restored"
    FAILED = "failed"
    NOT_BEGUN = "not begun"


class UndoSetting(_Document):
    """A setting with the value that it gets back, or got back; null where the last start of the machine reset it."""

    knob: str
    before: Value | None


class UndoMachine(_Document):
    """A machine of a fleet whose settings are restored."""

    machine: str
    address: str
    state: UndoState
    settings: list[UndoSetting] = Field(description="those that were restored; before that, those that are to be")
    running: list[str] = Field(description="experiments that still run there and were left alone")
    applied: list[str] = Field(description="experiments from which settings were applied; these stay until undo again")
    is_open: bool = Field(description="whether there is something to restore, or a journal to close")
    problem: str


class FleetUndoDocument(_Document):
    """The answer of `paribus fleet undo --json`."""

    dry_run: bool
    machines: list[UndoMachine]

    def named(self, *states: UndoState) -> list[str]:
        """The names of the machines in one of these states."""
        return [each.machine for each in self.machines if each.state in states]


@dataclass(frozen=True, slots=True)
class FleetUndo:
    """The machines that are restored.

    Args:
        hosts: The machines.
        at_once: Number of machines that are restored at the same time.
        become: Whether root is reached by sudo, unless the entry of a machine says otherwise.
    """

    hosts: Sequence[FleetHost]
    at_once: int = MOST_AT_ONCE
    become: bool = False

    def check(self) -> FleetUndoDocument:
        """Read the journals of every machine; changes nothing."""
        machines = self._carry_out(self.hosts, UndoState.TO_RESTORE, discard, lambda: False)
        return FleetUndoDocument(dry_run=True, machines=machines)

    def run(
        self,
        checked: FleetUndoDocument,
        report: Report = discard,
        stop_requested: Callable[[], bool] = lambda: False,
    ) -> FleetUndoDocument:
        """Restore every machine that has something to restore, also where another cannot be restored.

        Args:
            checked: The answer of `check`.
            report: Receiver of each controller's lines, with the name of its machine.
            stop_requested: Whether to stop; what was begun is restored, and machines that were not begun stay.
        """
        machines = {each.machine: each for each in checked.machines}
        hosts = [host for host in self.hosts if machines[host.name].is_open]
        restored = self._carry_out(hosts, UndoState.RESTORED, report, stop_requested)
        for each in restored:
            is_begun = each.state is not UndoState.NOT_BEGUN
            machines[each.machine] = (
                each if is_begun else machines[each.machine].model_copy(update={"state": each.state})
            )
        return FleetUndoDocument(dry_run=False, machines=list(machines.values()))

    def _carry_out(
        self, hosts: Sequence[FleetHost], done: UndoState, report: Report, stop_requested: Callable[[], bool]
    ) -> list[UndoMachine]:
        options = ["--dry-run"] if done is UndoState.TO_RESTORE else []
        commands = {host.name: ControllerCommand(self._arguments(host, options)) for host in hosts}
        ends = Controllers(min(self.at_once, len(hosts)), report, stop_requested, keeps_output=True).run(commands)
        return [_machine(host, ends.get(host.name), done) for host in hosts]

    def _arguments(self, host: FleetHost, options: Sequence[str]) -> list[str]:
        become = ["--become"] if host.becomes_root(by_default=self.become) else []
        return ["undo", "--json", *options, f"--target={host.address}", *become]


def _machine(host: FleetHost, end: ControllerEnd | None, done: UndoState) -> UndoMachine:
    """The state of a machine by what its controller says."""
    events = _events(end)
    settings = [
        UndoSetting(knob=event["knob"], before=event.get(_VALUE[event["event"]]))
        for event in events
        if event["event"] in _VALUE
    ]
    is_open = any(event["event"] in _OPEN for event in events)
    state, problem = done if is_open or done is UndoState.RESTORED else UndoState.NOTHING, ""
    if end is None or (end.was_stopped and not events):
        state = UndoState.NOT_BEGUN
    elif end.exit_code != 0:
        state, problem = UndoState.FAILED, end.reason
    return UndoMachine(
        machine=host.name,
        address=host.address,
        state=state,
        settings=settings,
        running=[event["experiment"] for event in events if event["event"] == "busy"],
        applied=[event["experiment"] for event in events if event["event"] == "kept"],
        is_open=is_open,
        problem=problem,
    )


def _events(end: ControllerEnd | None) -> list[dict[str, Any]]:
    """Return the events that a controller has printed; none where it was killed before its end."""
    try:
        events: list[dict[str, Any]] = json.loads(end.output)["events"] if end else []
    except (ValueError, KeyError):
        return []
    return events
