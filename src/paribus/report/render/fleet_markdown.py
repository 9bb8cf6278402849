"""One question on several machines as Markdown: the mean first.

In: a view. Out: text. Called by `fleet report`.
"""

from paribus.i18n import gettext
from paribus.report.render.markdown import as_table, plain
from paribus.report.view.fleet_models import FleetRow, FleetView


def render(view: FleetView) -> str:
    """The whole report."""
    lines = [f"# {plain(view.title)}", ""]
    for row in view.effects:
        lines += _effect(row)
    return "\n".join([*lines, *(f"- {plain(note)}" for note in view.notes)]) + "\n"


def _effect(row: FleetRow) -> list[str]:
    head = [gettext("machine"), gettext("experiment"), gettext("effect"), gettext("verdict")]
    rows = [
        [plain(each.machine), plain(each.experiment), plain(f"{each.effect} {each.interval}"), each.verdict]
        for each in row.machines
    ]
    mean = f"{row.mean} {row.interval}"
    return [
        f"## {plain(row.question)}",
        "",
        f"{plain(row.under)}: **{row.verdict}**, {plain(mean)} ({row.margin}, {row.confidence})",
        "",
        *(f"- {plain(sentence)}" for sentence in row.sentences),
        "",
        *as_table(head, [False, False, True, False], rows),
    ]
