"""The document of `paribus status` as text."""

from collections.abc import Iterable
from pathlib import PurePosixPath

from rich.console import Console
from rich.table import Table
from rich.text import Text

from paribus.cli.store_hints import with_store
from paribus.lab.status import ExperimentStatus, OpenChange, StatusDocument


def show(document: StatusDocument, console: Console) -> None:
    """Print the document for a person."""
    console.print(f"store: {document.store}", markup=False, soft_wrap=True)
    if not document.experiments:
        console.print("no experiment yet: paribus run PLAN")
    else:
        table = Table(box=None, pad_edge=False)
        for title in ("experiment", "state", "trials", "plan"):  # an id begins with the time of the start
            table.add_column(title, no_wrap=title != "plan", overflow="fold")
        for experiment in document.experiments:
            state = "cut off" if experiment.cut_off else experiment.state
            table.add_row(experiment.id, state, _trials(experiment), Text(experiment.name))
        console.print(table)
    for experiment in document.experiments:
        if experiment.cut_off:
            hint = with_store(f"continue the experiment that was cut off: paribus resume {experiment.id}")
            console.print(hint, markup=False, soft_wrap=True)
        elif experiment.trial and experiment.state == "running":
            console.print(f"now: {experiment.id}, {experiment.trial}", markup=False, soft_wrap=True)
    for change in document.open_changes:
        console.print(_change_text(change), markup=False)
    if any(not change.running and not change.applied for change in document.open_changes):
        console.print("restore the machine with: paribus undo", style="bold")
    elif any(change.applied for change in document.open_changes):
        console.print("take back what was applied with: paribus undo")
    elif not document.open_changes and not document.problems:
        text = nothing_changed(document.journals, document.other_journals, document.journals_elsewhere)
        console.print(text, markup=False, soft_wrap=True)


def _trials(experiment: ExperimentStatus) -> str:
    """The trials that are done, of how many; those that were spared and those that are invalid or failed."""
    parts = [
        f"{experiment.done}/{experiment.planned}",
        *([f"{experiment.spared} spared"] if experiment.spared else []),
        *([f"{experiment.invalid} unusable"] if experiment.invalid else []),
    ]
    return ", ".join(parts)


def nothing_changed(inspected: str, of_root: str, elsewhere: Iterable[str]) -> str:
    """Message for a machine without open journals, with the folder that was read."""
    text = f"no setting is changed (journals: {inspected})"
    if of_root:
        text += f"; those of root in {of_root} were not looked at: sudo paribus status"
    for folder in map(PurePosixPath, elsewhere):
        text += f"; there are open journals in {folder}: PARIBUS_STATE={folder.parent} paribus status"
    return text


def _change_text(change: OpenChange) -> str:
    if change.applied:
        ended = ", gone with the last boot" if change.expired else ""
        return f"applied from {change.experiment}: {change.knob} = {change.wanted}, before {change.before}{ended}"
    owner = "a running experiment" if change.running else "an experiment that was cut off"
    return f"changed by {owner} ({change.experiment}): {change.knob}, before {change.before}"
