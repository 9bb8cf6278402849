"""The journal of an experiment's changes, kept on the target by a process of its own (`paribus-engine journal`).

The keeper fsyncs a line before each first change, holds the lock that identifies the owner, and restores everything:
when asked, or by itself when its stdin ends because the controller died. Where it is killed too, or the power fails,
`paribus-engine undo` restores from the journal alone. The keeper also makes the changes, so that no change in transit
can come after the restoring.
"""

import contextlib
import dataclasses
import json
import time
from collections.abc import Sequence
from typing import Any

from paribus.errors import (
    BadReply,
    HostError,
    JournalError,
    JournalOpen,
    Unreachable,
)
from paribus.hosts.transport import Host, LineProcess, of_errno
from paribus.knobs.journal_event import parse_event
from paribus.knobs.journals import MOST_EVENTS, UNDO_S, raise_if_stuck
from paribus.model import (
    Action,
    ControlGroup,
    DefineGuest,
    LoadModule,
    MountOption,
    PutStatements,
    ReleaseDisk,
    RunProgram,
    SetByCommand,
    Value,
    WriteFile,
)

_GLOBAL = ("/proc/sys/", "/sys/kernel/", "/sys/devices/system/")  # settings of the whole machine, not of a device
_PATIENCE_S = 60.0
_PROGRAMS_S = 240.0  # the keeper gives each program of an action 60 s, and then says which did not end
_LONG_PATIENCE_S = 900.0  # for a server that drops much data


_TAGS: dict[type, str] = {
    WriteFile: "write",
    MountOption: "mount",
    LoadModule: "module",
    ControlGroup: "group",
    ReleaseDisk: "release",
    RunProgram: "program",
    SetByCommand: "command",
    DefineGuest: "guest",
    PutStatements: "statement",
}


def _wire(action: Action) -> dict[str, Any]:
    """An action in the form of the engine."""
    return {_TAGS[type(action)]: dataclasses.asdict(action)}


class Journal:
    """The journal of one experiment, open from construction until `restore`."""

    def __init__(
        self,
        host: Host,
        engine: str,
        experiment: str,
        addresses: Sequence[str],
        *,
        volatile: bool,
        connects: bool = False,
    ) -> None:
        """Start the keeper.

        `volatile`: nothing is at stake that would outlive a power cut. `connects`: it will change a database server.
        Raises JournalOpen when an earlier journal is open or a running one uses an address; JournalError else.
        """
        self._todo = "nothing was changed; find out what prevents that process from running"
        options = ["--allow-volatile"] if volatile else []
        self._keeper: LineProcess = host.start([engine, "journal", *options], connects=connects)
        opening = {
            "experiment": experiment,
            "addresses": list(addresses),
            "global": any(address.startswith(_GLOBAL) for address in addresses),
        }
        try:
            opened = self._ask({"open": opening}, "opened")
        except BaseException:
            self._keeper.close()
            raise
        self.path = str(opened["path"])
        self.without_copy = str(opened["without_copy"] or "")  # the reason
        self._todo = f"restore the machine with: {engine} undo"

    def _ask(self, command: dict[str, Any], *answers: str, patience_s: float = _PATIENCE_S) -> dict[str, Any]:
        """Send a command and return the event that answers it."""
        try:
            self._keeper.send(json.dumps(command))
            line = self._keeper.receive(patience_s)
        except Unreachable:
            raise
        except BadReply as error:
            raise JournalError(error.message, self._todo) from error
        except (HostError, EOFError) as error:
            stderr = self._keeper.words()
            ended = f"the journal process ended: {stderr}" if stderr else "the journal process ended"
            raise JournalError(ended, self._todo) from error
        if line is None:
            raise JournalError(f"the journal process did not answer within {patience_s:.0f} s", self._todo)
        event = parse_event(line)
        if event["event"] in answers:
            return event
        self._keeper.close()
        kind = JournalOpen if event.get("class") in ("open-journal", "address-busy") else JournalError
        raise kind(event.get("message", line.strip()), event.get("hint", ""))

    def assert_kept(self) -> None:
        """Raise JournalError or Unreachable where the keeper is gone: later changes would not be restored."""
        self._ask({"alive": {}}, "alive")

    def intend(
        self,
        knob: str,
        address: str,
        before: Value,
        requested: Value,
        undo: Sequence[Action],
        *,
        persistent: bool = False,
    ) -> None:
        """Write the change and its undo actions to the disk before the change is made. Raises JournalError.

        `persistent`: a reboot of the target does not undo it.
        """
        change = {
            "knob": knob,
            "address": address,
            "before": before,
            "wanted": requested,
            "undo": [_wire(action) for action in undo],
            "persistent": persistent,
        }
        self._ask({"change": change}, "journalled")

    def make(self, knob: str, action: Action) -> None:
        """Carry out one action of a change that was intended.

        Raises the machine's refusal as a HostError; JournalError where nothing was intended.
        """
        patience_s = _LONG_PATIENCE_S if isinstance(action, PutStatements | ReleaseDisk | DefineGuest) else _PATIENCE_S
        if isinstance(action, RunProgram):
            patience_s = action.patience_s + _PATIENCE_S
        elif isinstance(action, SetByCommand | MountOption | LoadModule):
            patience_s = _PROGRAMS_S
        command = {"make": {"knob": knob, "action": _wire(action)}}
        answer = self._ask(command, "made", "refused", patience_s=patience_s)
        if answer["event"] == "refused":
            subject = action.set[0] if isinstance(action, SetByCommand) else action.path
            raise of_errno(subject, "set", answer["errno"], answer["reason"])

    def keep(self) -> None:
        """Leave the changes in force, and the journal for `undo`; the keeper ends. Raises JournalError."""
        self._ask({"keep": {}}, "kept")
        self._keeper.close()

    def restore(self) -> bool:
        """Restore everything, read it back, close the journal; whether its file existed to the end.

        Raises NotRestored naming the stuck settings, and JournalError or Unreachable when the keeper is gone.
        """
        try:
            self._keeper.send(json.dumps({"restore": {}}))
        except Unreachable:
            raise
        except HostError as error:
            raise JournalError(f"the journal process has ended: {error}", self._todo) from error
        try:
            events = self._to_end()
        except BadReply as error:
            raise JournalError(error.message, self._todo) from error
        exit_code = self._keeper.close()
        raise_if_stuck(events)
        if exit_code != 0:
            raise JournalError(f"the journal process failed: {self._keeper.words()}", self._todo)
        return not any(event.get("deleted") for event in events)

    def _to_end(self) -> list[dict[str, Any]]:
        """The keeper's events until it ends. Raises JournalError and Unreachable."""
        events: list[dict[str, Any]] = []
        deadline = time.monotonic() + UNDO_S
        with contextlib.suppress(EOFError):
            while (line := self._keeper.receive(_LONG_PATIENCE_S)) is not None:
                events.append(parse_event(line))
                if len(events) > MOST_EVENTS or time.monotonic() > deadline:
                    raise JournalError(f"the journal process does not end after {len(events)} answers", self._todo)
        return events
