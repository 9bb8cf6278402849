"""The report on a terminal: readable at 80 columns, coloured only where an effect is decided.

In: a view and a rich console. Out: what is printed. Called by `report` and at the end of `run`. Names are not
trusted: they are printed as text, never read as rich markup or as control sequences.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ceteris.language import later, tr
from ceteris.report import numbers
from ceteris.report.shown import (
    Answer,
    EffectPoint,
    EffectTable,
    Figure,
    LevelTable,
    MatrixSection,
    MatrixTable,
    ReportView,
    Section,
)
from ceteris.report.shown_why import WordTable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

STYLES = {"better": "bold dark_cyan", "worse": "bold dark_orange3"}
_MOST_ROWS = 20
_GAP, _FIGURE = 3, 9
_NARROW = ("throughput_per_s", "response_p95_s")
_WIDE = (*_NARROW, "bytes_per_s", "load_1m", "cpu_iowait_share")


def plain(text: str, style: str = "") -> "Text":
    """Text as it is; what would steer the terminal is left out."""
    from rich.text import Text

    return Text("".join(c for c in text if c == "\n" or c.isprintable()), style=style)


def new_table(title: str = "") -> "Table":
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


def _sentence(answer: Answer) -> "Text":
    line = plain(f"{answer.factor}: ", "bold")
    line.append_text(plain(f"{answer.change}: "))
    line.append_text(plain(answer.conclusion, STYLES.get(answer.decided, "")))
    return line


def verdict_table(view: ReportView) -> "Table":
    """All verdicts as a rich table: under each factor a line per change and workload."""
    table = new_table()
    workloads = len({answer.workload for answer in view.answers}) > 1
    table.add_column(tr("factor, from → to"), overflow="fold", ratio=1)
    if workloads:
        table.add_column(tr("workload"), overflow="fold", max_width=12)
    table.add_column(tr("effect"), justify="right", no_wrap=True)
    table.add_column(tr("interval"), justify="right", no_wrap=True)
    table.add_column(tr("pairs"), justify="right", no_wrap=True)
    table.add_column(tr("verdict"), overflow="fold", max_width=18)
    judged = {id(row.answer): row for row in view.verdicts}
    before = ""
    for answer in view.answers:
        if answer.factor != before:
            table.add_row(plain(answer.factor, "bold"))
            before = answer.factor
        row = judged.get(id(answer))
        style = STYLES.get(answer.decided, "")
        cells: list[RenderableType] = [plain(f"  {answer.baseline} → {answer.arm}")]
        cells += [plain(answer.workload)] if workloads else []
        cells += [plain(row.effect, style), plain(row.interval)] if row else ["", ""]
        cells += [str(row.pairs) if row else "", plain(row.verdict if row else tr(answer.verdict), style)]
        table.add_row(*cells)
    return table


def _figure(figure: Figure | None) -> "Text":
    if figure is None:
        return plain(numbers.DASH, "dim")
    text = plain(figure.text)
    return text.append_text(plain(f" {figure.spread}", "dim")) if figure.spread else text


def _point(point: EffectPoint | None) -> "Text":
    if point is None:
        return plain("")
    text = plain(point.effect, STYLES.get(point.decided, ""))
    return text.append_text(plain(f" {point.interval}", "dim"))


def _measured(section: Section, shown: LevelTable, first: EffectTable | None, *, wide: bool) -> "Table":
    """Load levels down, and below each its arms: that fits a terminal, however many arms there are."""
    from rich import box

    places = [(i, c) for i, c in enumerate(shown.columns) if c.metric in (_WIDE if wide else _NARROW)]
    table = new_table()
    table.box, table.padding = box.SIMPLE_HEAD, (0, 1, 0, 0)
    table.add_column(tr("load"), justify="right", no_wrap=True)
    table.add_column(tr("arm"), overflow="fold")
    for _, column in places:
        table.add_column(f"{_short(column.title)} {column.unit}".strip(), justify="right", no_wrap=True)
    if first:
        table.add_column(tr("effect on {title}", title=_short(first.title)), justify="right", no_wrap=True)
    for row in shown.rows:
        for place, arm in enumerate(section.arms):
            cells: list[RenderableType] = [row.load.figure if place == 0 else "", plain(arm.name)]
            cells += [_figure(row.figures[i][place]) for i, _ in places]
            cells += [_point(first.point(arm.name, row.load))] if first else []
            table.add_row(*cells)
    return table


def _short(title: str) -> str:
    return title.replace(tr(" response time"), "").replace(tr(" average"), "")


def _section(section: Section, console: "Console") -> None:
    console.print()
    heading = plain(section.factor, "bold")
    console.print(heading.append_text(plain(tr(" under {workload}", workload=section.workload), "dim")))
    if section.empty:
        console.print(plain(section.empty))
    for reason in section.reasons:
        console.print(plain(reason, "dim"))
    for listed in section.checks:
        said = (
            later("checks of {title}: {summary}; {standing}")
            if listed.standing
            else later("checks of {title}: {summary}")
        )
        console.print(
            plain(tr(said, title=listed.title, summary=listed.summary, standing=listed.standing), "dim"),
        )
        for check in listed.checks:
            mark = tr("ok    ") if check.passed else tr("FAILED")
            console.print(plain(f"  {mark} {check.name}: {check.found}", "dim" if check.passed else ""))
    if section.table:
        first = section.effects[0] if section.effects else None
        console.print(_measured(section, section.table, first, wide=console.width >= 120))
    for words in section.why:
        console.print(plain(f"{words.title}: {words.note}", "dim"))
        if words.rows:
            console.print(_words(words, console.width))


def _words(shown: WordTable, room: int) -> "Table":
    """A table within so many columns: where it is too wide, text is wrapped first, and no number is torn apart."""
    table = new_table()
    columns = list(zip(shown.head, *shown.rows, strict=True))
    whole = [max(map(len, cells)) for cells in columns]
    least = [max((len(word) for cell in cells for word in cell.split()), default=1) for cells in columns]
    wrapped = [each if figures else word for each, word, figures in zip(whole, least, shown.figures, strict=True)]
    tight = sum(wrapped) + _GAP * len(columns) > room
    for cells, each, word, figures in zip(columns, whole, least, shown.figures, strict=True):
        width = (max(word, min(each, _FIGURE)) if tight else each) if figures else None
        table.add_column(plain(cells[0]), justify="right" if figures else "left", overflow="fold", width=width)
    for row in shown.rows:
        table.add_row(*map(plain, row))
    return table


def conclusions(view: ReportView, console: "Console") -> None:
    """Print what an experiment ends with: the answer of each matrix, and the verdicts."""
    for matrix in view.matrices:
        for sentence in [matrix.empty, *(s for share in matrix.shares for s in share.sentences)]:
            if sentence:
                console.print(plain(f"{matrix.name}: ", "bold").append_text(plain(sentence)))
    if view.answers or not view.matrices:
        console.print(verdict_table(view))
    _conditioned(view, console, only_missed=True)


def _conditioned(view: ReportView, console: "Console", *, only_missed: bool) -> None:
    """Print what preconditioning came to."""
    for one in view.trust.conditioned:
        if one.missed or not only_missed:
            console.print(
                plain(
                    tr("{sentence} (trial {trial})", sentence=one.sentence, trial=one.trial),
                    "bold" if one.missed else "",
                )
            )


def _grid(shown: MatrixTable) -> "Table":
    """Small operations outstanding down, large ones across."""
    table = new_table(f"{shown.title}, {shown.unit}" if shown.unit else shown.title)
    table.add_column(tr("small"), justify="right", no_wrap=True)
    for large in shown.columns:
        table.add_column(tr("{n} large", n=large), justify="right", no_wrap=True)
    for small, figures in shown.rows:
        table.add_row(str(small), *(_figure(f) for f in figures))
    return table


def _matrix(matrix: MatrixSection, console: "Console") -> None:
    console.print()
    console.print(plain(matrix.name, "bold"))
    console.print(plain(matrix.empty or matrix.reading, "dim"))
    for share in matrix.shares:
        console.print()
        console.print(plain(share.title, "bold"))
        for sentence in share.sentences:
            console.print(plain(sentence))
        for table in share.tables:
            console.print()
            console.print(_grid(table))


def render(view: ReportView, console: "Console") -> None:
    """Print the whole report: answers, verdicts, what to do, each factor, and what the trust rests on."""
    console.print(plain(view.title, "bold"))
    if view.question:
        console.print(plain(view.question))
    console.print(plain(f"{view.experiment} · {view.when}", "dim"))
    console.print(plain(view.headline))
    for matrix in view.matrices:
        _matrix(matrix, console)
    if view.sections or not view.matrices:
        _compared(view, console)
    console.print()
    for tally in view.trust.tallies:
        where = f" ({numbers.orders(tally.trials)})" if tally.reason else ""
        label = f"  {tally.reason}" if tally.reason else tr("trials {state}", state=tally.state)
        console.print(plain(f"{label}: {len(tally.trials)}{where}"))
    _conditioned(view, console, only_missed=False)
    question = tr("What differed between trials that should not have")
    answer = tr("; ").join([*view.trust.unlike, view.trust.alike])
    console.print(plain(f"{question}: {answer}"))
    for note in view.trust.notes:
        console.print(plain(note))
    _beside(view.files, console)


def _compared(view: ReportView, console: "Console") -> None:
    """Print what was found of the factors."""
    console.print()
    for answer in view.answers:
        console.print(_sentence(answer))
    console.print()
    console.print(verdict_table(view))
    console.print()
    for advice in view.advice:
        line = plain(f"{advice.factor}: ", "bold")
        console.print(line.append_text(plain(advice.text)))
        if advice.recipe:
            console.print(plain(tr("  set    {command}", command=advice.recipe.set)), soft_wrap=True)
            console.print(plain(tr("  check  {command}", command=advice.recipe.check)), soft_wrap=True)
            for how in advice.recipe.last.split("\n"):
                console.print(plain(tr("  last   {command}", command=how)), soft_wrap=True)
    _beside(view.field, console)
    for section in view.sections:
        _section(section, console)


def _beside(tables: Sequence[WordTable], console: "Console") -> None:
    """Print the first rows of tables that belong to no factor."""
    for table in tables:
        console.print()
        console.print(plain(table.title, "bold"))
        console.print(plain(table.note, "dim"))
        if table.rows:
            console.print(_words(replace(table, rows=table.rows[:_MOST_ROWS]), console.width))
        if len(table.rows) > _MOST_ROWS:
            said = later("{n:,} more: ceteris report --format markdown")
            console.print(plain(tr(said, n=len(table.rows) - _MOST_ROWS), "dim"))
