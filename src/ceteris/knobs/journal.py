"""The journal of what was changed, kept on the target by a process of its own (`ceteris-engine journal`).

The keeper fsyncs a line before each first change, holds the lock that says whose it is, and puts everything
back: when asked, or by itself when its stdin ends because the controller died. What it leaves open (it was
killed too, or the power went) `ceteris-engine undo` puts back, needing nothing but the journal.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ceteris.errors import HostError, JournalError, JournalOpen, NotRestored
from ceteris.hosts.transport import Host, LineProcess
from ceteris.model import Action, Change, ChangeState, Value

_PATIENCE_S = 60.0


def default_directory(*, root: bool) -> str:
    """Where journals are kept: $CETERIS_STATE, else /var/lib/ceteris as root, else the user's state folder."""
    state = os.environ.get("CETERIS_STATE")
    if not state and root:
        state = "/var/lib/ceteris"
    if not state:
        state = str(Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state").expanduser() / "ceteris")
    return str(Path(state) / "journal")


def _event(line: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads(line)
    return event


class Journal:
    """The journal of one experiment, open from construction until `restore`."""

    def __init__(self, host: Host, engine: str, directory: str, experiment: str, addresses: Sequence[str]) -> None:
        """Start the keeper. Raises JournalOpen when an earlier journal is open, JournalError else."""
        self._todo = f"put the machine back with: {engine} undo --directory {directory}"
        self._keeper: LineProcess = host.start([engine, "journal", "--directory", directory])
        opening = {
            "experiment": experiment,
            "addresses": list(addresses),
            "global": any(address.startswith("/proc/sys/") for address in addresses),
        }
        self.path = str(self._ask({"open": opening}, "opened")["path"])

    def _ask(self, command: dict[str, Any], answer: str) -> dict[str, Any]:
        """Send a command and return the event that acknowledges it."""
        try:
            self._keeper.send(json.dumps(command))
            line = self._keeper.receive(_PATIENCE_S)
        except (HostError, EOFError) as error:
            raise JournalError(f"the journal keeper ended: {self._keeper.words() or error}", self._todo) from error
        if line is None:
            raise JournalError(f"the journal keeper did not answer within {_PATIENCE_S:.0f} s", self._todo)
        event = _event(line)
        if event["event"] == answer:
            return event
        self._keeper.close()
        kind = JournalOpen if event.get("class") in ("open-journal", "address-busy") else JournalError
        raise kind(event.get("message", line.strip()), event.get("hint", ""))

    def intend(self, knob: str, address: str, before: Value, wanted: Value, undo: Sequence[Action]) -> None:
        """Put on disk, before the change, what will be changed and how to take it back. Raises JournalError."""
        actions = [{"write": {"path": a.path, "text": a.text, "readback": a.readback}} for a in undo]
        change = {
            "knob": knob,
            "address": address,
            "before": before,
            "wanted": wanted,
            "undo": actions,
            "persistent": False,
        }
        self._ask({"change": change}, "journalled")

    def restore(self) -> tuple[Change, ...]:
        """Put everything back, read it back, close the journal. Raises JournalError when the keeper is gone."""
        try:
            self._keeper.send(json.dumps({"restore": {}}))
        except HostError as error:
            raise JournalError(f"the journal keeper is gone: {error}", self._todo) from error
        changes = []
        try:
            while (line := self._keeper.receive(_PATIENCE_S)) is not None:
                change = _outcome(_event(line))
                if change is not None:
                    changes.append(change)
        except EOFError:
            pass
        exit_code = self._keeper.close()
        if exit_code not in (0, 4):
            raise JournalError(f"the journal keeper failed: {self._keeper.words()}", self._todo)
        return tuple(changes)


def _outcome(event: dict[str, Any]) -> Change | None:
    """A `restored` or `stuck` event as a Change."""
    if event["event"] not in ("restored", "stuck"):
        return None
    restored = event["event"] == "restored"
    before = event["value"] if restored else event["wanted"]
    return Change(
        knob=event["knob"],
        address=event["address"],
        before=before,
        wanted=before,
        observed=before if restored else event.get("found"),
        state=ChangeState.RESTORED if restored else ChangeState.STUCK,
    )


def not_restored(changes: Sequence[Change], todo: str) -> NotRestored | None:
    """The error that names every setting that is stuck, if any is."""
    stuck = [change for change in changes if change.state is ChangeState.STUCK]
    if not stuck:
        return None
    listed = "; ".join(f"{c.knob} ({c.address}): wanted {c.wanted}, found {c.observed}" for c in stuck)
    return NotRestored(f"could not put back {listed}", todo)


@dataclass(frozen=True, slots=True)
class OpenJournal:
    """A journal that was not closed; `owned` while the experiment that wrote it still lives."""

    experiment: str
    path: str
    owned: bool
    time: str
    changes: tuple[dict[str, Any], ...]


def open_journals(host: Host, engine: str, directory: str) -> list[OpenJournal]:
    """Every journal that is still open on the host. Changes nothing. Raises JournalError."""
    done = host.run([engine, "undo", "--directory", directory, "--dry-run"])
    if done.exit_code not in (0, 4):
        raise JournalError(f"the journals under {directory} cannot be read: {done.stdout.strip()}{done.stderr.strip()}")
    events = [_event(line) for line in done.stdout.splitlines()]
    return [
        OpenJournal(e["experiment"], e["path"], e["owned"], e["time"], tuple(e["changes"]))
        for e in events
        if e["event"] == "open-journal"
    ]


def undo(host: Host, engine: str, directory: str) -> tuple[list[dict[str, Any]], tuple[Change, ...]]:
    """Put back what every orphaned journal lists; the engine's events, and the outcome of each change."""
    done = host.run([engine, "undo", "--directory", directory], timeout_s=600)
    if done.exit_code not in (0, 4):
        raise JournalError(f"undo failed: {done.stdout.strip()}{done.stderr.strip()}")
    events = [_event(line) for line in done.stdout.splitlines()]
    outcomes = [_outcome(event) for event in events]
    return events, tuple(change for change in outcomes if change is not None)
