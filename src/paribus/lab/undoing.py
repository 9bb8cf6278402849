"""Restoration of settings that an experiment left changed, and its installation at boot."""

from collections.abc import Callable
from typing import Any

from paribus.knobs import journals
from paribus.lab.machine.connection import Report, discard, inspected_site, site

Event = dict[str, Any]


def undo(
    target: str,
    *,
    become: bool = False,
    dry_run: bool = False,
    tell: Callable[[Event], None],
    report: Report = discard,
) -> journals.Folders:
    """Restore settings from the journals of a machine, and `tell` each event; return the folders of its journals.

    With `dry_run` the events only state what would be
    restored. Raises NotInspected, and JournalProblem with exit code 4 where something cannot be restored.
    """
    with inspected_site(target, become=become, report=report) as connected:
        inspection = journals.inspect(connected.host, connected.engine)
        if dry_run:
            restorable = journals.to_undo(inspection.journals)
            for other in inspection.journals:
                if other not in restorable:
                    event = "busy" if other.owned else "kept"
                    tell({"event": event, "experiment": other.experiment, "path": other.path})
            for open_journal in restorable:
                for change in open_journal.changes:
                    tell({"event": "would-restore", "path": open_journal.path, **change})
                if not open_journal.changes:  # killed after it had restored everything
                    tell({"event": "would-close", "experiment": open_journal.experiment, "path": open_journal.path})
            journals.raise_problems(inspection.problems)
        else:
            journals.undo(connected.host, connected.engine, tell)
    return inspection.folders


def at_boot(target: str, action: str, *, become: bool = False, report: Report = discard) -> list[str]:
    """Install, remove or show the restoration at boot of a machine; return its files. Raises as `site`."""
    with site(target, become=become, report=report) as connected:
        return journals.at_boot(connected.host, connected.engine, action)
