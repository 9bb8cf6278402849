"""Settings that are left in force on purpose: made under a journal as any, and whole or not at all.

Until the keeper is told to leave them it takes them back, whatever becomes of its controller.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from paribus.errors import HostError, Interrupted, JournalError, Unreachable
from paribus.hosts.transport import Host
from paribus.knobs.apply import Applier
from paribus.knobs.catalog import Catalogue
from paribus.knobs.discovery import touched
from paribus.knobs.journal import Journal, undo
from paribus.model import Change, ChangeState, Location, Settings


@dataclass(frozen=True, slots=True)
class Left:
    """What was left in force, with what it moved, and the journal that takes it back."""

    changes: tuple[Change, ...]
    journal: str


def leave(
    host: Host,
    engine: str,
    catalogue: Catalogue,
    location: Location,
    experiment: str,
    settings: Settings,
    stopped: Callable[[], bool],
    elsewhere: Sequence[str] = (),
    also: Callable[[Journal], tuple[Change, ...]] = lambda _journal: (),
) -> Left:
    """Set all of these, read all of them back, and leave them so.

    `also` sets under the same journal what is not the machine's, at `elsewhere`. Where one is not taken, or somebody
    asks to stop, everything is put back first. Raises HostError, Interrupted, JournalError, NotRestored,
    Unreachable.
    """
    addresses = [*sorted(touched(host, catalogue, settings, location)), *elsewhere]
    journal = Journal(host, engine, experiment, addresses, volatile=False, connects=bool(elsewhere))
    try:
        applier = Applier(host, catalogue, location, journal)
        changes = applier.apply(settings, settings) + also(journal)
        wrong = [one for one in (*changes, *applier.verify()) if one.state is ChangeState.MISMATCHED]
        if wrong:
            raise HostError("; ".join(map(_words, wrong)), "everything is as it was")
        if stopped():
            raise Interrupted("interrupted; everything is as it was")
        journal.keep()
    except Unreachable as error:
        todo = f"all is set there, or nothing; see which: paribus status --target {host.name}"
        raise Unreachable(error.message, todo) from error
    except BaseException:
        try:
            journal.restore()
        except JournalError:  # its process died or cannot be heard; the journal is enough
            undo(host, engine, lambda _event: None, lost=experiment)
        raise
    return Left(changes, journal.path)


def _words(change: Change) -> str:
    became = change.not_taken or "is not as wanted"
    found = "" if change.observed is None else f", found {change.observed}"
    said = f" ({change.refused})" if change.refused else ""
    return f"{change.knob} {became}: wanted {change.wanted}{found}{said}"
