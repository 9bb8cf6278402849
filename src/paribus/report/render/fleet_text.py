"""One question on several machines, on a terminal: the mean first.

In: a view and a rich console. Out: what is printed. Called by `fleet report`.
"""

from typing import TYPE_CHECKING

from paribus.i18n import gettext
from paribus.report.render.text_tables import STYLES, new_table, plain
from paribus.report.view.fleet_models import FleetRow, FleetView

if TYPE_CHECKING:
    from rich.console import Console


def render(view: FleetView, console: "Console") -> None:
    """Print it."""
    console.print(plain(view.title, "bold"))
    for row in view.effects:
        console.print()
        console.print(plain(f"{row.question} ({row.under})", "bold"))
        console.print(
            plain(
                f"{row.verdict}: {row.mean} {row.interval} ({row.margin}, {row.confidence})",
                STYLES.get(row.decided, ""),
            )
        )
        for sentence in row.sentences:
            console.print(plain(f"  {sentence}"))
        _machines(row, console)
    for note in view.notes:
        console.print(plain(note, "dim"))


def _machines(row: FleetRow, console: "Console") -> None:
    table = new_table()
    heads = (gettext("machine"), gettext("experiment"), gettext("effect"), gettext("verdict"))
    for number, head in enumerate(heads):
        table.add_column(plain(head), justify="right" if number == 2 else "left", overflow="fold")
    for machine in row.machines:
        cells = (machine.machine, machine.experiment, f"{machine.effect} {machine.interval}", machine.verdict)
        table.add_row(*(plain(cell) for cell in cells))
    console.print(table)
