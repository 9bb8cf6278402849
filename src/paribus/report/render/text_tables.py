"""Tables of a report on a terminal: none is wider than it has columns, and no number is torn apart.

In: parts of a view. Out: rich tables and texts. Names are not trusted: they are printed as text, never read as rich
markup or as control sequences.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from paribus.i18n import gettext
from paribus.report.view import numbers
from paribus.report.view.blocks import WordTable
from paribus.report.view.view_models import (
    Answer,
    EffectPoint,
    EffectTable,
    Judged,
    LevelColumn,
    LevelTable,
    MatrixTable,
    ReportView,
    Section,
    TableFigure,
)

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

STYLES = {"better": "bold dark_cyan", "worse": "bold dark_orange3"}
_GAP, _FIGURE = 3, 9
_NARROW = ("throughput_per_s", "response_p95_s")
_WIDE = (*_NARROW, "bytes_per_s", "run_queue", "load_1m", "cpu_iowait_share")

_ROOMY, _AT_ONCE = 120, 3


def plain(text: str, style: str = "") -> "Text":
    """Text as it is; what would steer the terminal is left out."""
    from rich.text import Text

    return Text("".join(c for c in text if c == "\n" or c.isprintable()), style=style)


def new_table(title: str = "") -> "Table":
    """Return an empty table in the style of reports."""
    from rich import box
    from rich.table import Table

    return Table(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1),
        title=plain(title) if title else None,
        title_justify="left",
        title_style="not italic",
        header_style="dim",
    )


def verdict_table(view: ReportView, width: int) -> Iterator["RenderableType"]:
    """All verdicts within so many columns: under each factor, workload and response a line per change.

    The name of a factor is a line of its own, so that no column tears it.
    """
    judged = {id(row.answer): row for row in view.verdicts}
    head = (gettext("from → to"), gettext("effect"), gettext("interval"), gettext("pairs"), gettext("verdict"))
    rows = [(answer, _verdict_cells(answer, judged.get(id(answer)))) for answer in view.answers]
    widths = _verdict_widths([head, *(cells for _, cells in rows)], width)
    yield _verdict_rows(widths, head, [])
    workloads, responses = ({answer.workload for answer in view.answers}, {answer.response for answer in view.answers})
    groups: dict[tuple[str, str, str], list[tuple[Answer, tuple[str, ...]]]] = {}
    for answer, cells in rows:
        groups.setdefault((answer.factor, answer.workload, answer.response), []).append((answer, cells))
    for (factor, workload, response), group in groups.items():
        heading = plain(factor, "bold")
        if len(responses) > 1 and response:
            heading.append_text(plain(f" {response}", "dim"))
        if len(workloads) > 1:
            heading.append_text(plain(gettext(" under {workload}", workload=workload), "dim"))
        yield heading
        yield _verdict_rows(widths, (), [(cells, STYLES.get(answer.decided, "")) for answer, cells in group])


def _verdict_cells(answer: Answer, row: Judged | None) -> tuple[str, ...]:
    change = f"  {answer.baseline} → {answer.arm}"
    if row is None:
        return change, "", "", "", gettext(answer.verdict)
    return change, row.effect, row.interval, str(row.pairs), row.verdict


def _verdict_widths(rows: Sequence[tuple[str, ...]], width: int) -> list[int]:
    """The width of each column: figures stay whole, the change and the verdict share the rest."""
    from rich.cells import cell_len

    change, *figures, verdict = (max(map(cell_len, cells)) for cells in zip(*rows, strict=True))
    room = width - sum(figures) - _GAP * (len(figures) + 1)
    verdict = min(verdict, max(room - change, room // 2))
    return [min(change, room - verdict), *figures, verdict]


def _verdict_rows(widths: Sequence[int], head: Sequence[str], rows: Sequence[tuple[tuple[str, ...], str]]) -> "Table":
    table = new_table()
    table.show_header = bool(head)
    for number, column_width in enumerate(widths):
        is_figure = 0 < number < len(widths) - 1
        table.add_column(
            head[number] if head else "",
            justify="right" if is_figure else "left",
            overflow="fold",
            width=column_width,
        )
    for (change, effect, interval, pairs, verdict), style in rows:
        table.add_row(plain(change), plain(effect, style), plain(interval), pairs, plain(verdict, style))
    return table


def _figure(figure: TableFigure | None) -> "Text":
    if figure is None:
        return plain(numbers.DASH, "dim")
    text = plain(figure.text)
    return text.append_text(plain(f" {figure.spread}", "dim")) if figure.spread else text


def _point(point: EffectPoint | None) -> "Text":
    if point is None:
        return plain("")
    text = plain(point.effect, STYLES.get(point.decided, ""))
    return text.append_text(plain(f" {point.interval}", "dim"))


def level_tables(section: Section, table: LevelTable, first: EffectTable | None, width: int) -> Iterator["Table"]:
    """Load levels down, and below each its arms, however many; what there is no room for in a table of its own."""
    columns = list(enumerate(table.columns))
    main_metrics = _WIDE if width >= _ROOMY else _NARROW
    yield _measured(section, table, [(i, c) for i, c in columns if c.metric in main_metrics], first)
    remaining = [(i, c) for i, c in columns if c.metric not in main_metrics]
    for start in range(0, len(remaining), _AT_ONCE):
        yield _measured(section, table, remaining[start : start + _AT_ONCE], None)


def _measured(
    section: Section, levels: LevelTable, indexed_columns: Sequence[tuple[int, LevelColumn]], first: EffectTable | None
) -> "Table":
    from rich import box

    table = new_table()
    table.box, table.padding = box.SIMPLE_HEAD, (0, 1, 0, 0)
    table.add_column(gettext("load"), justify="right", no_wrap=True)
    table.add_column(gettext("arm"), overflow="fold")
    for _, column in indexed_columns:
        table.add_column(f"{_short(column.title)} {column.unit}".strip(), justify="right", no_wrap=True)
    if first:
        table.add_column(gettext("effect on {title}", title=_short(first.title)), justify="right", no_wrap=True)
    points = first.by_place() if first else {}
    for row in levels.rows:
        for arm_index, arm in enumerate(section.arms):
            cells: list[RenderableType] = [row.load.figure if arm_index == 0 else "", plain(arm.name)]
            cells += [_figure(row.figures[i][arm_index]) for i, _ in indexed_columns]
            cells += [_point(points.get((arm.name, row.load)))] if first else []
            table.add_row(*cells)
    return table


def _short(title: str) -> str:
    return title.replace(gettext(" response time"), "")


def word_table(words: WordTable, width: int) -> "Table":
    """A table within so many columns: where it is too wide, text is wrapped first, and no number is torn apart."""
    table = new_table()
    rows = [tuple(map(str, row)) for row in words.rows]
    columns = list(zip(words.head, *rows, strict=True))
    whole = [max(map(len, cells)) for cells in columns]
    narrowest = [max((len(word) for cell in cells for word in cell.split()), default=1) for cells in columns]
    wrapped = [
        widest if figures else word for widest, word, figures in zip(whole, narrowest, words.figures, strict=True)
    ]
    tight = sum(wrapped) + _GAP * len(columns) > width
    for cells, widest, word, figures in zip(columns, whole, narrowest, words.figures, strict=True):
        column_width = (max(word, min(widest, _FIGURE)) if tight else widest) if figures else None
        table.add_column(plain(cells[0]), justify="right" if figures else "left", overflow="fold", width=column_width)
    for row in rows:
        table.add_row(*map(plain, row))
    return table


def grid(matrix: MatrixTable) -> "Table":
    """Small operations outstanding down, large ones across."""
    table = new_table(f"{matrix.title}, {matrix.unit}" if matrix.unit else matrix.title)
    table.add_column(gettext("small"), justify="right", no_wrap=True)
    for large in matrix.columns:
        table.add_column(gettext("{n} large", n=large), justify="right", no_wrap=True)
    for small, figures in matrix.rows:
        table.add_row(str(small), *(_figure(f) for f in figures))
    return table
