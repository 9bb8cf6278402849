"""The journal of what was changed, kept on the target by a process of its own (`paribus-engine journal`).

The keeper fsyncs a line before each first change, holds the lock that says whose it is, and puts everything
back: when asked, or by itself when its stdin ends because the controller died. What it leaves open (it was
killed too, or the power went) `paribus-engine undo` puts back, needing nothing but the journal. It also makes
the changes: so none that is still on its way can come after everything is back.
"""

import contextlib
import dataclasses
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from paribus.errors import (
    BadReply,
    HostError,
    JournalError,
    JournalLost,
    JournalOpen,
    NotInspected,
    NotRestored,
    Unreachable,
)
from paribus.hosts.transport import Host, LineProcess, of_errno
from paribus.knobs.journal_event import parse_event
from paribus.model import Action, ControlGroup, LoadModule, MountOption, PutStatements, Value, WriteFile

_GLOBAL = ("/proc/sys/", "/sys/kernel/", "/sys/devices/system/")  # of the whole machine, not of a device
_PATIENCE_S = 60.0
_LONG_PATIENCE_S = 900.0  # a server is long in dropping much data
_MOST_EVENTS = 100_000
_INSPECTION_S, _UNDO_S = 300.0, 3600.0
_LOST_PATIENCE_S = 60  # a keeper that hears nothing any more has restored well before


_TAGS: dict[type, str] = {
    WriteFile: "write",
    MountOption: "mount",
    LoadModule: "module",
    ControlGroup: "group",
    PutStatements: "statement",
}


def _wire(action: Action) -> dict[str, Any]:
    """An action as the engine reads it."""
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
        """Start the keeper. `volatile`: nothing is at stake that would outlive a power cut. `connects`: it will change
        a database server.

        Raises JournalOpen when an earlier journal is open or a running one uses an address; JournalError else.
        """
        self._todo = "nothing was changed; look at what keeps that process from running"
        options = ["--allow-volatile"] if volatile else []
        self._keeper: LineProcess = host.start([engine, "journal", *options], connects=connects)
        opening = {
            "experiment": experiment,
            "addresses": list(addresses),
            "global": any(address.startswith(_GLOBAL) for address in addresses),
        }
        try:
            self.path = str(self._ask({"open": opening}, "opened")["path"])
        except BaseException:
            self._keeper.close()
            raise
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
            words = self._keeper.words()
            ended = f"the journal process ended: {words}" if words else "the journal process ended"
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
        """Raise JournalError or Unreachable where the keeper is gone: what is set then would not come back."""
        self._ask({"alive": {}}, "alive")

    def intend(
        self,
        knob: str,
        address: str,
        before: Value,
        wanted: Value,
        undo: Sequence[Action],
        *,
        persistent: bool = False,
    ) -> None:
        """Put on disk, before the change, what will be changed and how to take it back. Raises JournalError.

        `persistent`: a boot of the target does not take it away.
        """
        change = {
            "knob": knob,
            "address": address,
            "before": before,
            "wanted": wanted,
            "undo": [_wire(action) for action in undo],
            "persistent": persistent,
        }
        self._ask({"change": change}, "journalled")

    def make(self, knob: str, action: Action) -> None:
        """Do a part of a change that was intended.

        Raises what the machine refused it with, a HostError; JournalError where nothing was intended.
        """
        patience_s = _LONG_PATIENCE_S if isinstance(action, PutStatements) else _PATIENCE_S
        command = {"make": {"knob": knob, "action": _wire(action)}}
        answer = self._ask(command, "made", "refused", patience_s=patience_s)
        if answer["event"] == "refused":
            raise of_errno(action.path, "set", answer["errno"], answer["reason"])

    def keep(self) -> None:
        """Leave what was changed as it is, and the journal for `undo`; the keeper ends. Raises JournalError."""
        self._ask({"keep": {}}, "kept")
        self._keeper.close()

    def restore(self) -> bool:
        """Put everything back, read it back, close the journal; whether its file was there to the end.

        Raises NotRestored naming what is stuck, and JournalError or Unreachable when the keeper is gone.
        """
        try:
            self._keeper.send(json.dumps({"restore": {}}))
        except Unreachable:
            raise
        except HostError as error:
            raise JournalError(f"the journal process is gone: {error}", self._todo) from error
        try:
            events = self._to_end()
        except BadReply as error:
            raise JournalError(error.message, self._todo) from error
        exit_code = self._keeper.close()
        _raise_if_stuck(events)
        if exit_code != 0:
            raise JournalError(f"the journal process failed: {self._keeper.words()}", self._todo)
        return not any(event.get("deleted") for event in events)

    def _to_end(self) -> list[dict[str, Any]]:
        """What the keeper says until it ends. Raises JournalError and Unreachable."""
        events: list[dict[str, Any]] = []
        deadline = time.monotonic() + _UNDO_S
        with contextlib.suppress(EOFError):
            while (line := self._keeper.receive(_LONG_PATIENCE_S)) is not None:
                events.append(parse_event(line))
                if len(events) > _MOST_EVENTS or time.monotonic() > deadline:
                    raise JournalError(f"the journal process does not end after {len(events)} answers", self._todo)
        return events


_NOT_CLOSED = "journal-not-closed"


def _problems(events: Sequence[dict[str, Any]]) -> list[str]:
    """What is not restored, or may not be: for each setting or journal its state, and what a person must do."""
    found = []
    for event in events:
        match event["event"]:
            case "stuck":
                where = f"{event['knob']} ({event['address']})"
                found.append(f"{where}: wanted {event['wanted']}, found {event['found']}: {event['reason']}")
            case "error" if event.get("class") != _NOT_CLOSED:
                found.append(f"{event['message']}; {event['hint']}")
            case "busy" | "open-journal" if event.get("trouble"):
                trouble = f"experiment {event['experiment']} is not restored: {event['trouble']}"
                found.append(f"{trouble} ({event['path']}); end that process, or let it continue (kill -CONT)")
    return list(dict.fromkeys(found))


def _raise_if_stuck(events: Sequence[dict[str, Any]]) -> None:
    """Raise NotRestored where a setting is not restored; JournalLost where all are, and the journal stays open."""
    raise_problems(_problems(events))
    for event in events:
        if event.get("class") == _NOT_CLOSED:
            raise JournalLost(event["message"], event["hint"])


def raise_problems(problems: Sequence[str]) -> None:
    """Raise NotRestored with all of them, where there are any."""
    if problems:
        raise NotRestored(
            "could not restore: " + "\n  ".join(problems),
            "correct that, then: paribus undo. Where a device is gone for good, set by hand what is left and move the\n"
            "  journal named by paribus status into the folder closed/ next to it",
        )


@dataclass(frozen=True, slots=True)
class OpenJournal:
    """A journal that was not closed; `owned` while the experiment that wrote it still lives, `kept` where what it
    changed was left on purpose. `trouble`: why its owner may not restore it."""

    experiment: str
    path: str
    owned: bool
    kept: bool
    time: str
    trouble: str
    changes: tuple[dict[str, Any], ...]

    @property
    def is_cut_off(self) -> bool:
        """Whether a crash has left it, so that nothing may be changed before it is undone."""
        return not self.owned and not self.kept


@dataclass(frozen=True, slots=True)
class Inspection:
    """The journals of one user on a host: the open ones, what is wrong with any, and the folders.

    `other_folder` has the journals of root where another user looked; empty where there are none.
    """

    journals: tuple[OpenJournal, ...]
    problems: tuple[str, ...]
    folder: str
    other_folder: str


def _run_undo(host: Host, engine: str, *more: str) -> list[dict[str, Any]]:
    """The events of `paribus-engine undo`. Raises NotInspected where it cannot read the journals, and Unreachable."""
    try:
        restores = "--dry-run" not in more
        patience_s = _UNDO_S if restores else _INSPECTION_S
        done = host.run([engine, "undo", *more], timeout_s=patience_s, connects=restores)
        lines = done.stdout.splitlines()
        if len(lines) > _MOST_EVENTS:
            raise JournalError(f"the engine said {len(lines)} lines, which is no answer", "look at what runs there")
        events = [parse_event(line) for line in lines]
    except Unreachable:
        raise
    except (HostError, JournalError) as error:
        raise not_inspected(host.name, error.message, error.todo) from error
    if done.exit_code not in (0, 4):
        errors = [event for event in events if event["event"] == "error"]
        cause = errors[-1]["message"] if errors else done.stderr.strip() or f"exit code {done.exit_code}"
        raise not_inspected(host.name, cause, errors[-1]["hint"] if errors else "")
    if done.exit_code != 0 and not any(event["event"] in ("stuck", "error", "busy") for event in events):
        raise not_inspected(host.name, "the engine ended with exit code 4 and named nothing", f"see: {engine} undo")
    if not any(event["event"] == "looked" for event in events):
        raise not_inspected(host.name, "the engine did not say where it looked", f"see what it says: {engine} undo")
    return events


def not_inspected(target: str, cause: str, todo: str = "") -> NotInspected:
    """The error for a target whose journals cannot be read."""
    target = "this machine" if target == "local" else target
    return NotInspected(f"could not look at {target}, so settings may still be changed there: {cause}", todo)


def inspect(host: Host, engine: str) -> Inspection:
    """Look at every journal that is still open on the host. Changes nothing. Raises NotInspected, Unreachable."""
    events = _run_undo(host, engine, "--dry-run")
    looked = next(event for event in events if event["event"] == "looked")
    return Inspection(
        journals=tuple(
            OpenJournal(
                e["experiment"], e["path"], e["owned"], e["kept"], e["time"], e["trouble"] or "", tuple(e["changes"])
            )
            for e in events
            if e["event"] == "open-journal"
        ),
        problems=tuple(_problems(events)),
        folder=looked["directory"],
        other_folder=looked["others"] or "",
    )


def open_journals(host: Host, engine: str) -> list[OpenJournal]:
    """Every journal that is still open on the host. Changes nothing.

    Raises NotRestored where one is damaged, NotInspected and Unreachable where none can be read.
    """
    found = inspect(host, engine)
    raise_problems(found.problems)
    return list(found.journals)


def to_undo(journals: Sequence[OpenJournal]) -> list[OpenJournal]:
    """Those of all open journals that `undo` would put back now."""
    only_kept = all(one.kept for one in journals)
    return [one for one in journals if not one.owned and one.kept == only_kept]


def at_boot(host: Host, engine: str, wish: str) -> list[str]:
    """Install, remove or show what undoes journals when the machine starts; the files it consists of.

    Raises HostError with the engine's words.
    """
    done = host.run([engine, "at-boot", wish])
    if done.exit_code != 0:
        raise HostError(done.stderr.strip().removeprefix("paribus-engine: "))
    files: list[str] = parse_event(done.stdout, "at-boot")["files"]
    return files


def undo(host: Host, engine: str, tell: Callable[[dict[str, Any]], None], *, lost: str = "") -> None:
    """Put back what every journal without an owner lists; `tell` hears the engine's events.

    What was left on purpose is taken back only where there is nothing else. `lost` names the one experiment that is
    meant, whose keeper is given time to find out that it is alone. Raises NotRestored, after all else was restored,
    NotInspected, JournalLost and Unreachable.
    """
    if lost:
        which = ["--experiment", lost, "--patience", str(_LOST_PATIENCE_S)]
    else:
        listed = [event for event in _run_undo(host, engine, "--dry-run") if event["event"] == "open-journal"]
        which = ["--kept"] if all(event["kept"] for event in listed) else []
    events = _run_undo(host, engine, *which)
    for event in events:
        tell(event)
    _raise_if_stuck(events)
