"""Two experiments beside each other as Markdown: what differed first.

In: a view. Out: text. Called by `compare`.
"""

from paribus.i18n import gettext
from paribus.report.render.markdown import as_table, plain
from paribus.report.view import numbers
from paribus.report.view.comparison_models import BaselineRow, ComparedView, EffectRow


def render(view: ComparedView) -> str:
    """The whole comparison."""
    lines = [
        f"# {plain(view.title)}",
        "",
        plain(view.experiments),
        "",
        gettext("{sentence}.", sentence=plain(view.headline)),
        "",
    ]
    lines += [f"## {gettext('Other differences')}", ""]
    if view.differences:
        rows = [[plain(cell) for cell in row] for row in view.differences]
        lines += as_table([gettext("differences"), plain(view.first), plain(view.second)], [False] * 3, rows)
    else:
        lines += [gettext("nothing else differs"), ""]
    if view.baseline:
        head = [
            gettext("workload"),
            gettext("response"),
            gettext("load"),
            gettext("change"),
            gettext("margin"),
            gettext("verdict"),
            gettext("rounds"),
        ]
        head += [gettext("trials")]
        right = [False, False, True, True, True, False, True, False]
        lines += [f"## {gettext('Change of the baseline')}", "", *as_table(head, right, [*map(_row, view.baseline)])]
    if view.effects:
        head = [
            gettext("factor"),
            gettext("effect"),
            gettext("workload"),
            gettext("response"),
            plain(view.first),
            plain(view.second),
        ]
        head += [gettext("difference"), ""]
        right = [False, False, False, False, True, True, True, False]
        lines += [
            f"## {gettext('Agreement of effects')}",
            "",
            *as_table(head, right, [*map(_effect, view.effects)]),
        ]
    return "\n".join([*lines, *(f"- {plain(note)}" for note in view.notes)]) + "\n"


def _row(row: BaselineRow) -> list[str]:
    return [
        plain(row.workload),
        row.response,
        row.load,
        plain(f"{row.change.effect} {row.change.interval}"),
        row.change.margin,
        f"**{row.verdict}**" if row.change.decided else row.verdict,
        "; ".join(map(str, row.rounds)),
        "; ".join(numbers.few(trials) for trials in row.trials),
    ]


def _effect(row: EffectRow) -> list[str]:
    difference = f"{row.difference.effect} {row.difference.interval}"
    cells = (row.factor, row.arms, row.workload, row.response, row.first, row.second, difference, row.conclusion)
    return [plain(cell) for cell in cells]
