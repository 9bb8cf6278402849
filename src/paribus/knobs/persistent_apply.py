"""Settings applied for good: journalled as any, and applied as a whole or not at all.

Until the keeper is told to keep them it restores them, whatever happens to its controller.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from paribus.errors import HostError, Interrupted, JournalError, Unreachable
from paribus.hosts.transport import Host
from paribus.knobs.apply import Applier
from paribus.knobs.catalog import Catalogue
from paribus.knobs.discovery import touched
from paribus.knobs.journal import Journal
from paribus.knobs.journals import undo
from paribus.model import Change, ChangeState, Location, Settings


@dataclass(frozen=True, slots=True)
class AppliedForGood:
    """The changes that stay in force, those moved by them included, and the journal that undoes them."""

    changes: tuple[Change, ...]
    journal: str


def apply_for_good(
    host: Host,
    engine: str,
    catalogue: Catalogue,
    location: Location,
    experiment: str,
    settings: Settings,
    stopped: Callable[[], bool],
    elsewhere: Sequence[str] = (),
    also: Callable[[Journal], tuple[Change, ...]] = lambda _journal: (),
) -> AppliedForGood:
    """Set all of these, read all of them back, and leave them in force.

    `also` sets under the same journal what is not the machine's, at `elsewhere`. Where a setting is not taken, or the
    user asks to stop, everything is restored first. Raises HostError, Interrupted, JournalError, NotRestored and
    Unreachable.
    """
    addresses = [*sorted(touched(host, catalogue, settings, location)), *elsewhere]
    journal = Journal(host, engine, experiment, addresses, volatile=False, connects=bool(elsewhere))
    try:
        applier = Applier(host, catalogue, location, journal)
        changes = applier.apply(settings, settings) + also(journal)
        mismatched = [change for change in (*changes, *applier.verify()) if change.state is ChangeState.MISMATCHED]
        if mismatched:
            raise HostError("; ".join(map(_message, mismatched)), "all settings were restored")
        if stopped():
            raise Interrupted("interrupted; all settings were restored")
        journal.keep()
    except Unreachable as error:
        todo = f"all is set there, or nothing; see which: paribus status --target {host.name}"
        raise Unreachable(error.message, todo) from error
    except BaseException:
        try:
            journal.restore()
        except JournalError:  # its process died or cannot be reached; the journal is enough
            undo(host, engine, lambda _event: None, lost_experiment=experiment)
        raise
    return AppliedForGood(changes, journal.path)


def _message(change: Change) -> str:
    outcome = change.not_taken or "is not as wanted"
    observed = "" if change.observed is None else f", found {change.observed}"
    reason = f" ({change.refused})" if change.refused else ""
    return f"{change.knob} {outcome}: wanted {change.wanted}{observed}{reason}"
