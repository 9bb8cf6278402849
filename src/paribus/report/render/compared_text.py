"""Two experiments beside each other on a terminal: what differed first.

In: a view and a rich console. Out: what is printed. Called by `compare`.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from paribus.i18n import gettext
from paribus.report.render.text_tables import STYLES, new_table, plain
from paribus.report.view.comparison_models import BaselineRow, ComparedView, FormattedDifference

if TYPE_CHECKING:
    from rich.console import Console


def render(view: ComparedView, console: "Console") -> None:
    """Print it."""
    console.print(plain(view.title, "bold"))
    console.print(plain(view.experiments, "dim"))
    console.print(plain(view.headline))
    console.print()
    if view.differences:
        _table(console, (gettext("differences"), view.first, view.second), view.differences, figures=())
    else:
        console.print(gettext("nothing else differs"))
    if view.baseline:
        head = (
            gettext("baseline, workload"),
            gettext("response"),
            gettext("load"),
            gettext("change"),
            gettext("margin"),
            gettext("verdict"),
        )
        styles = [STYLES.get(row.change.decided, "") for row in view.baseline]
        _table(console, head, map(_row, view.baseline), figures=(2, 3, 4), styles=styles)
    if view.effects:
        head = (gettext("effect"), gettext("under"), view.first, view.second, gettext("difference"), "")
        rows = [
            (f"{row.factor}: {row.arms}", row.workload, row.first, row.second, _both(row.difference), row.conclusion)
            for row in view.effects
        ]
        _table(console, head, rows, figures=(2, 3, 4))
    for note in view.notes:
        console.print(plain(note, "dim"))


def _row(row: BaselineRow) -> tuple[str, ...]:
    return (row.workload, row.response, row.load, _both(row.change), row.change.margin, row.verdict)


def _both(change: FormattedDifference) -> str:
    return f"{change.effect} {change.interval}"


def _table(
    console: "Console",
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    figures: Sequence[int],
    styles: Sequence[str] = (),
) -> None:
    """A table whose columns of `figures` stand to the right; a row's style colours its last word."""
    table = new_table()
    for index, name in enumerate(head):
        table.add_column(plain(name), justify="right" if index in figures else "left", overflow="fold")
    for index, row in enumerate(rows):
        style = styles[index] if styles else ""
        table.add_row(*(plain(cell) for cell in row[:-1]), plain(row[-1], style))
    console.print(table)
    console.print()
