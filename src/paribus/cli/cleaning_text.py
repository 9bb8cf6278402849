"""The document of `paribus clean` as text."""

import time

from rich.console import Console
from rich.table import Table
from rich.text import Text

from paribus.lab.cleaning import REMOVABLE, CleanDocument, LeftoverState
from paribus.units import show_size


def show(found: CleanDocument, console: Console) -> None:
    """Print the document for a person."""
    removed = [one for one in found.leftovers if one.removed]
    for one in removed:
        console.print(f"removed {one.path} ({show_size(one.size_bytes)})", markup=False, soft_wrap=True)
    left = [one for one in found.leftovers if not one.removed]
    if not left:
        console.print(f"no data of experiments is {'left ' if removed else ''}in {found.path}", markup=False)
        return
    table = Table(box=None, pad_edge=False)
    for title in ("experiment", "plan", "size", "made", "by", "state"):
        table.add_column(title, justify="right" if title == "size" else "left", overflow="fold")
    for one in left:
        made = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.made)) if one.made else ""
        name = one.experiment or one.path
        table.add_row(*map(Text, (name, one.plan, show_size(one.size_bytes), made, one.controller, one.state)))
    console.print(table)
    for one in left:
        if one.state is LeftoverState.RESUMABLE:
            console.print(f"go on with: paribus resume {one.experiment}", markup=False, soft_wrap=True)
    if any(one.state in REMOVABLE for one in left):
        console.print(
            "remove the data of one with --remove EXPERIMENT; --all takes those done, or yours and not in the store"
        )
