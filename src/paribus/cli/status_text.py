"""The document of `paribus status` as text."""

import time
from typing import Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from paribus.lab.status import OpenChange, StatusDocument


def show(found: StatusDocument, console: Console) -> None:
    """Print the document for a person."""
    console.print(f"store: {found.store}", markup=False, soft_wrap=True)
    if not found.experiments:
        console.print("no experiment yet: paribus run PLAN")
    else:
        table = Table(box=None, pad_edge=False)
        for title in ("experiment", "plan", "state", "trials done", "invalid", "started"):
            justify: Literal["left", "right"] = "right" if title in ("trials done", "invalid") else "left"
            table.add_column(title, justify=justify, no_wrap=title == "experiment", overflow="fold")
        for one in found.experiments:
            started = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.started))
            running = one.state + (f" ({one.trial})" if one.trial and one.state == "running" else "")
            state = "cut off" if one.cut_off else running
            done = f"{one.done} of {one.planned}" + (f", {one.spared} spared" if one.spared else "")
            table.add_row(one.id, Text(one.name), Text(state), done, str(one.invalid), started)
        console.print(table)
    for one in found.experiments:
        if one.cut_off:
            console.print(f"go on with what was cut off: paribus resume {one.id}", markup=False, soft_wrap=True)
    for change in found.open_changes:
        console.print(_words(change), markup=False)
    if any(not change.running and not change.applied for change in found.open_changes):
        console.print("restore the machine with: paribus undo", style="bold")
    elif any(change.applied for change in found.open_changes):
        console.print("take back what was applied with: paribus undo")
    elif not found.open_changes and not found.problems:
        console.print(nothing_changed(found.journals, found.other_journals), markup=False, soft_wrap=True)


def nothing_changed(folder: str, other_folder: str) -> str:
    """The words for a machine where no journal is open, with the place that was looked at."""
    words = f"no setting is changed (journals: {folder})"
    if other_folder:
        words += f"; those of root in {other_folder} were not looked at: sudo paribus status"
    return words


def _words(change: OpenChange) -> str:
    if change.applied:
        ended = ", gone with the last boot" if change.expired else ""
        return f"applied from {change.experiment}: {change.knob} = {change.wanted}, before {change.before}{ended}"
    owner = "a running experiment" if change.running else "an experiment that was cut off"
    return f"changed by {owner} ({change.experiment}): {change.knob}, before {change.before}"
