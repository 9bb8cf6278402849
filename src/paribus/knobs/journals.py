"""The journals of a host: which are open, what is not restored, and their undo.

In: the host and its engine. Out: open journals and problems; events of the undo. Called before anything is changed, by
`status` and `undo`, and after a journal's keeper was lost.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from paribus.errors import HostError, JournalError, JournalLost, NotInspected, NotRestored, Unreachable
from paribus.hosts.address import machine_name
from paribus.hosts.transport import Host
from paribus.knobs.journal_event import parse_event

MOST_EVENTS = 100_000  # in one answer of the engine
UNDO_S = 3600.0
_INSPECTION_S = 300.0
_LOST_PATIENCE_S = 60  # a keeper that has lost its controller has restored well before
_NOT_CLOSED = "journal-not-closed"


def _problems(events: Sequence[dict[str, Any]]) -> list[str]:
    """Return the settings and journals that may not be restored: the state of each, and the next step for a person."""
    problems = []
    for event in events:
        match event["event"]:
            case "stuck":
                where = f"{event['knob']} ({event['address']})"
                reading = "it cannot be read" if event["found"] is None else f"found {event['found']}"
                problems.append(f"{where}: wanted {event['wanted']}, {reading}: {event['reason']}")
            case "error" if event.get("class") != _NOT_CLOSED:
                problems.append(f"{event['message']}; {event['hint']}")
            case "busy" | "open-journal" if event.get("trouble"):
                where = f"experiment {event['experiment']} ({event['path']})"
                problems.append(f"{where} is not restored: {event['trouble']}")
    return list(dict.fromkeys(problems))


def raise_if_stuck(events: Sequence[dict[str, Any]]) -> None:
    """Raise NotRestored where a setting is not restored; JournalLost where all are, and the journal stays open."""
    raise_problems(_problems(events))
    for event in events:
        if event.get("class") == _NOT_CLOSED:
            raise JournalLost(event["message"], event["hint"])


def raise_problems(problems: Sequence[str]) -> None:
    """Raise NotRestored with all problems, where there are any."""
    if problems:
        raise NotRestored(
            "could not restore: " + "\n  ".join(problems),
            "remove the cause, then run: paribus undo. If a device was removed for good, set the other values by hand\n"
            "  and move the journal named by paribus status into the folder closed/ next to it",
        )


@dataclass(frozen=True, slots=True)
class OpenJournal:
    """A journal that was not closed.

    `owned`: the experiment that wrote it still runs. `is_permanent`: its changes were left in force on purpose.
    `trouble`: reason why its owner may not restore it.
    """

    experiment: str
    path: str
    owned: bool
    is_permanent: bool
    time: str
    trouble: str
    changes: tuple[dict[str, Any], ...]

    @property
    def is_cut_off(self) -> bool:
        """Whether a crash has left it open, so that nothing may be changed before it is undone."""
        return not self.owned and not self.is_permanent


class Folders(NamedTuple):
    """Folders of journals: the one that was inspected, and those that were not.

    `of_root` has the journals of root where another user inspects; empty where there are none. `elsewhere`: folders of
    other state folders where this user has open journals.
    """

    inspected: str
    of_root: str
    elsewhere: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Inspection:
    """The journals of one user on a host: the open ones, the problems of any, and the folders.

    `running`: the experiments that run, with whatever state folder.
    """

    journals: tuple[OpenJournal, ...]
    problems: tuple[str, ...]
    folders: Folders
    running: tuple[str, ...] = ()


def _run_undo(host: Host, engine: str, *options: str) -> list[dict[str, Any]]:
    """The events of `paribus-engine undo`. Raises NotInspected where it cannot read the journals, and Unreachable."""
    try:
        restores = "--dry-run" not in options
        patience_s = UNDO_S if restores else _INSPECTION_S
        completed = host.run([engine, "undo", *options], timeout_s=patience_s, connects=restores)
        lines = completed.stdout.splitlines()
        if len(lines) > MOST_EVENTS:
            raise JournalError(
                f"the engine printed {len(lines)} lines instead of one answer",
                "check that the engine and Paribus are of one release",
            )
        events = [parse_event(line) for line in lines]
    except Unreachable:
        raise
    except (HostError, JournalError) as error:
        raise not_inspected(host.name, error.message, error.todo) from error
    if completed.exit_code not in (0, 4):
        errors = [event for event in events if event["event"] == "error"]
        cause = errors[-1]["message"] if errors else completed.stderr.strip() or f"exit code {completed.exit_code}"
        raise not_inspected(host.name, cause, errors[-1]["hint"] if errors else "")
    if completed.exit_code != 0 and not any(event["event"] in ("stuck", "error", "busy") for event in events):
        raise not_inspected(host.name, "the engine ended with exit code 4 without a reason", f"see: {engine} undo")
    if not any(event["event"] == "looked" for event in events):
        raise not_inspected(
            host.name, "the engine did not name the folder of its journals", f"see its output: {engine} undo"
        )
    return events


def not_inspected(target: str, cause: str, todo: str = "") -> NotInspected:
    """The error for a target whose journals cannot be read."""
    where = machine_name(target)
    return NotInspected(f"could not look at {where}, so settings may still be changed there: {cause}", todo)


def undo_command(target: str) -> str:
    """The command that restores the settings of this machine ("local") or of another one."""
    return "paribus undo" if target == "local" else f"paribus undo --target {target}"


def inspect(host: Host, engine: str) -> Inspection:
    """Inspect every journal that is still open on the host. Changes nothing. Raises NotInspected and Unreachable."""
    events = _run_undo(host, engine, "--dry-run")
    looked = next(event for event in events if event["event"] == "looked")
    listed = [event for event in events if event["event"] == "open-journal"]
    return Inspection(
        journals=tuple(
            OpenJournal(
                e["experiment"], e["path"], e["owned"], e["kept"], e["time"], e["trouble"] or "", tuple(e["changes"])
            )
            for e in listed
        ),
        problems=tuple(_problems(events)),
        folders=Folders(looked["directory"], looked["others"] or "", tuple(looked["elsewhere"])),
        running=(*(e["experiment"] for e in listed if e["owned"]), *looked["running_elsewhere"]),
    )


def open_journals(host: Host, engine: str) -> list[OpenJournal]:
    """Every journal that is still open on the host. Changes nothing.

    Raises NotRestored where one is damaged, NotInspected and Unreachable where none can be read.
    """
    inspection = inspect(host, engine)
    raise_problems(inspection.problems)
    return list(inspection.journals)


def to_undo(journals: Sequence[OpenJournal]) -> list[OpenJournal]:
    """The open journals that `undo` would restore now."""
    only_permanent = all(journal.is_permanent for journal in journals)
    return [journal for journal in journals if not journal.owned and journal.is_permanent == only_permanent]


def at_boot(host: Host, engine: str, action: str) -> list[str]:
    """Install, remove or show the service that undoes journals at boot; its files.

    Raises HostError with the engine's message.
    """
    completed = host.run([engine, "at-boot", action])
    if completed.exit_code != 0:
        raise HostError(completed.stderr.strip().removeprefix("paribus-engine: "))
    files: list[str] = parse_event(completed.stdout, "at-boot")["files"]
    return files


def undo(host: Host, engine: str, on_event: Callable[[dict[str, Any]], None], *, lost_experiment: str = "") -> None:
    """Restore from every journal without an owner; `on_event` receives the engine's events.

    Settings left in force on purpose are undone only where there is no other journal. `lost_experiment` names the one
    experiment to undo, whose keeper is given time to detect that its controller is gone. Raises NotRestored after all
    else was restored, NotInspected, JournalLost and Unreachable.
    """
    if lost_experiment:
        options = ["--experiment", lost_experiment, "--patience", str(_LOST_PATIENCE_S)]
    else:
        listed = [event for event in _run_undo(host, engine, "--dry-run") if event["event"] == "open-journal"]
        options = ["--kept"] if all(event["kept"] for event in listed) else []
    events = _run_undo(host, engine, *options)
    for event in events:
        on_event(event)
    raise_if_stuck(events)
