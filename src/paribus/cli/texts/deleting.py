"""The document of `paribus delete` as text."""

import time
from typing import Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from paribus.lab.store.deleting import DeleteDocument
from paribus.units import show_size


def show_selected(document: DeleteDocument, console: Console) -> None:
    """Print what is to be deleted, and what stays although it was selected."""
    if document.experiments:
        table = Table(box=None, pad_edge=False)
        for title in ("experiment", "plan", "state", "date", "trials", "report"):
            justify: Literal["left", "right"] = "right" if title == "trials" else "left"
            table.add_column(title, justify=justify, no_wrap=title == "experiment", overflow="fold")
        for each in document.experiments:
            date = time.strftime("%Y-%m-%d %H:%M", time.localtime(each.ended or each.started))
            has_report = "yes" if each.report else "no"
            table.add_row(each.id, Text(each.name), each.state, date, str(each.trials), has_report)
        console.print(table)
    else:
        console.print("no experiment is selected")
    for left in document.left:
        console.print(f"{left.id} ({left.name}) stays: {left.reason}", markup=False, soft_wrap=True)
    size = "" if document.size_bytes is None else f" ({show_size(document.size_bytes)})"
    console.print(f"store: {document.store}{size}", markup=False, soft_wrap=True)


def show_deleted(document: DeleteDocument, console: Console) -> None:
    """Print what was deleted, and the size of the store."""
    reports = sum(bool(each.report) for each in document.experiments)
    with_reports = f" and {_counted(reports, 'report')}" if reports else ""
    console.print(f"deleted {_counted(len(document.experiments), 'experiment')}{with_reports}")
    for note in document.notes:
        console.print(f"note: {note}", markup=False, soft_wrap=True)
    if document.size_bytes is not None and document.size_after_bytes is not None:
        before, after = show_size(document.size_bytes), show_size(document.size_after_bytes)
        console.print(f"size of the store: {before} before, {after} now")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
