"""Restoring the settings of the machines of an experiment, at its end and after its keepers were lost.

In: each machine with the applier of its settings. Out: notes for the report. Called by the bench, and by
`experiment.walk` where a connection was lost.
"""

import contextlib
from collections.abc import Callable, Iterable

from paribus.errors import HostError, JournalError, JournalLost, NotRestored, Unreachable
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.knobs import journals
from paribus.knobs.apply import Applier
from paribus.trial.target_session import Site

_JOURNAL_DELETED = N_("the journal file was deleted meanwhile; all settings are restored")
_MOST_LOST_CONNECTIONS = 5


def restore(site: Site, experiment: str, stopped: Callable[[], bool]) -> None:
    """Restore what an experiment without its keeper changed on a machine, which may have to be reached again first.

    Raises NotRestored, and NotInspected where it cannot be reached, or is lost again and again.
    """
    for attempt in range(_MOST_LOST_CONNECTIONS):
        try:
            site.host.reconnect(stopped)
            return journals.undo(site.host, site.engine, lambda _event: None, lost_experiment=experiment)
        except HostError as error:
            if stopped() or attempt == _MOST_LOST_CONNECTIONS - 1 or not isinstance(error, Unreachable):
                raise journals.not_inspected(site.host.name, error.message, error.todo) from error
    return None


def restore_settings(
    machines: Iterable[tuple[Site, Applier]], experiment: str, stopped: Callable[[], bool], error: BaseException | None
) -> list[StoredMessage]:
    """Restore the settings of every machine when an experiment ends, also where another's fails; notes on that.

    A machine that is lost is waited for after the others are restored. `error` is why the experiment ends. Raises
    NotRestored, NotInspected, Unreachable, and JournalLost where all is restored.
    """
    notes: list[StoredMessage] = []

    def attempt(site: Site, applier: Applier) -> None:
        try:
            if not applier.restore():
                notes.append(stored_message(_JOURNAL_DELETED))
        except (JournalError, Unreachable):  # its process died or cannot be reached; the journal is enough
            waiting.callback(_restore_without_keeper, site, applier, experiment, stopped, error)

    with contextlib.ExitStack() as waiting, contextlib.ExitStack() as attempts:
        for machine in machines:
            attempts.callback(attempt, *machine)
    return notes


def _restore_without_keeper(
    site: Site, applier: Applier, experiment: str, stopped: Callable[[], bool], error: BaseException | None
) -> None:
    """Restore a machine from its journal, and check that. Raises as `restore_settings`."""
    restore(site, experiment, stopped)
    if leftovers := applier.leftovers():
        raise NotRestored(
            f"the journal process ended too early, and some settings are not restored: {'; '.join(leftovers)}"
        ) from error
    if isinstance(error, JournalError):
        message = f"{error.message}; all settings are restored, which was checked"
        raise JournalLost(message, f"continue with: paribus resume {experiment}") from error
