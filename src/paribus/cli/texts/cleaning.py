"""The document of `paribus clean` as text."""

import time

from rich.console import Console
from rich.table import Table
from rich.text import Text

from paribus.cli.store_hints import with_store
from paribus.lab.cleaning import REMOVABLE, CleanDocument, LeftoverState
from paribus.units import show_size


def show(document: CleanDocument, console: Console) -> None:
    """Print the document for a person."""
    _show_data(document, console)
    for folder in document.temporary:
        text = (
            f"removed {folder.path}"
            if folder.removed
            else f"left by a killed program: {folder.path} (remove with --all)"
        )
        console.print(text, markup=False, soft_wrap=True)


def _show_data(document: CleanDocument, console: Console) -> None:
    removed = [leftover for leftover in document.leftovers if leftover.removed]
    for leftover in removed:
        console.print(f"removed {leftover.path} ({show_size(leftover.size_bytes)})", markup=False, soft_wrap=True)
    remaining = [leftover for leftover in document.leftovers if not leftover.removed]
    if not remaining:
        console.print(f"no data of experiments is {'left ' if removed else ''}in {document.path}", markup=False)
        return
    table = Table(box=None, pad_edge=False)
    for title in ("experiment", "plan", "size", "made", "by", "state"):
        table.add_column(title, justify="right" if title == "size" else "left", overflow="fold")
    for leftover in remaining:
        created = time.strftime("%Y-%m-%d %H:%M", time.localtime(leftover.made)) if leftover.made else ""
        name = leftover.experiment or leftover.path
        table.add_row(
            *map(
                Text,
                (name, leftover.plan, show_size(leftover.size_bytes), created, leftover.controller, leftover.state),
            )
        )
    console.print(table)
    for leftover in remaining:
        if leftover.state is LeftoverState.RESUMABLE:
            hint = with_store(f"continue with: paribus resume {leftover.experiment}")
            console.print(hint, markup=False, soft_wrap=True)
    if any(leftover.state in REMOVABLE for leftover in remaining):
        console.print(
            "remove the data of one with --remove EXPERIMENT; --all removes that of all that are done, or yours and "
            "not in the store"
        )
