"""The document of `paribus doctor` as text."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from paribus.lab.machine.doctor import DoctorDocument
from paribus.model import Fitness

_MARKS = {Fitness.FIT: ("ok", "green"), Fitness.NOTE: ("note", "yellow"), Fitness.UNFIT: ("unfit", "red bold")}


def show(document: DoctorDocument, console: Console) -> None:
    """Print the document for a person."""
    console.print(f"{document.host}, Linux {document.kernel}, {document.path}", markup=False, soft_wrap=True)
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for condition in document.conditions:
        mark, style = _MARKS[condition.fitness]
        text = Text(condition.found)
        if condition.fix:
            text.append(f"\n→ {condition.fix}", style="dim")
        table.add_row(Text(mark, style=style), Text(condition.name), text)
    console.print(table)
    unfit = sum(condition.fitness is Fitness.UNFIT for condition in document.conditions)
    verdict = "this machine is fit to measure on" if not unfit else f"{unfit} of these would spoil measurements here"
    console.print(verdict, style="bold")
