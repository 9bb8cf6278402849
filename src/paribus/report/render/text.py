"""The report on a terminal: readable at 80 columns, coloured only where an effect is decided.

In: a view and a rich console. Out: what is printed. Called by `report` and at the end of `run`. Names are not
trusted: they are printed as text, never read as rich markup or as control sequences.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from paribus.i18n import N_, gettext
from paribus.report.render.text_tables import STYLES, grid, level_tables, plain, verdict_table, word_table
from paribus.report.sections.verdicts import OPEN
from paribus.report.view import numbers
from paribus.report.view.blocks import Block, ItemList, ListItem, Place, WordTable
from paribus.report.view.view_models import Answer, MatrixSection, ReportView, Section

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_MOST_ROWS = 20


def _sentence(answer: Answer) -> "Text":
    line = plain(f"{answer.factor}: ", "bold")
    line.append_text(plain(f"{answer.change}: "))
    line.append_text(plain(answer.conclusion, STYLES.get(answer.decided, "")))
    return line


def _section(section: Section, console: "Console") -> None:
    console.print()
    heading = plain(section.factor, "bold")
    console.print(heading.append_text(plain(gettext(" under {workload}", workload=section.workload), "dim")))
    if section.empty:
        console.print(plain(section.empty))
    for reason in section.reasons:
        console.print(plain(reason, "dim"))
    for check_list in section.checks:
        pattern = (
            N_("checks of {title}: {summary}; {standing}")
            if check_list.standing
            else N_("checks of {title}: {summary}")
        )
        console.print(
            plain(
                gettext(pattern, title=check_list.title, summary=check_list.summary, standing=check_list.standing),
                "dim",
            ),
        )
        for check in check_list.checks:
            marks = {True: gettext("ok    "), False: gettext("FAILED"), None: gettext("unknown")}
            mark = marks[check.passed]
            console.print(plain(f"  {mark.strip():<7} {check.name}: {check.finding}", "dim" if check.passed else ""))
    if section.table:
        first = section.effects[0] if section.effects else None
        for table in level_tables(section, section.table, first, console.width):
            console.print(table)
    _blocks(section.blocks, console)


def conclusions(view: ReportView, console: "Console") -> None:
    """Print what an experiment ends with: the answer of each matrix, the verdicts, and what open questions need."""
    for matrix in view.matrices:
        for sentence in [matrix.empty, *(s for share in matrix.shares for s in share.sentences)]:
            if sentence:
                console.print(plain(f"{matrix.name}: ", "bold").append_text(plain(sentence)))
    if view.answers or not view.matrices:
        console.print(*verdict_table(view, console.width), sep="\n")
    for answer in view.answers:
        if answer.verdict in OPEN:
            console.print()
            console.print(_sentence(answer))
    notes = [block for block in view.blocks[Place.NOTES] if isinstance(block, ItemList)]
    _items([item for block in notes for item in block.items if item.strong], console)
    for advice in view.advice:
        if advice.kind == "set" and advice.recipe:
            console.print()
            console.print(plain(gettext("{factor}: {advice}", factor=advice.factor, advice=advice.text)))
            console.print(plain(gettext("  set    {command}", command=_aligned(advice.recipe.set))), soft_wrap=True)
    if view.recommendation:
        console.print()
        console.print(plain(view.recommendation, "bold"))
    _again(view, console)


def _aligned(command: str) -> str:
    """Commands on several lines, below the first."""
    return command.replace("\n", "\n         ")


def _again(view: ReportView, console: "Console") -> None:
    if view.again:
        console.print(plain(view.again_text))
        console.print(plain(f"  {view.again}"), soft_wrap=True)


def _items(items: Sequence[ListItem], console: "Console") -> None:
    for item in items:
        console.print(plain(item.with_trial(item.text), "bold" if item.strong else ""))


def _blocks(blocks: Sequence[Block], console: "Console") -> None:
    """Print the blocks of a place: a list with a title in one line, tables in full."""
    for block in blocks:
        if isinstance(block, WordTable):
            console.print(plain(f"{block.title}: {block.note}", "dim"))
            if block.rows:
                console.print(word_table(block, console.width))
        elif block.title:
            texts = gettext("; ").join(item.with_trial(item.text) for item in block.items)
            console.print(plain(f"{block.title}: {texts}"))
        else:
            _items(block.items, console)


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
            console.print(grid(table))


def render(view: ReportView, console: "Console") -> None:
    """Print the whole report: answers, verdicts, what to do, each factor, and what the trust rests on."""
    console.print(plain(view.title, "bold"))
    if view.question:
        console.print(plain(view.question))
    console.print(plain(f"{view.experiment} · {view.when}", "dim"))
    if view.recommendation:
        console.print(plain(view.recommendation, "bold"))
    console.print(plain(view.headline))
    for matrix in view.matrices:
        _matrix(matrix, console)
    if view.sections or not view.matrices:
        _compared(view, console)
    else:
        _parts(view.blocks[Place.OVERVIEW], console)
    console.print()
    for tally in view.trust.tallies:
        where = f" ({numbers.orders(tally.trials)})" if tally.reason else ""
        label = f"  {tally.reason}" if tally.reason else gettext("trials {state}", state=tally.state)
        console.print(plain(f"{label}: {len(tally.trials)}{where}"))
    _blocks(view.blocks[Place.NOTES], console)
    _blocks(view.blocks[Place.CONDITIONS], console)
    _parts(view.blocks[Place.APPENDIX], console)
    console.print()
    for name, value in (*view.trust.facts, *view.trust.machine):
        console.print(plain(f"{name}: {value}"))
    console.print()
    console.print(plain(gettext("The plan:")))
    console.print(plain(view.trust.plan_text.rstrip("\n")), soft_wrap=True)


def _compared(view: ReportView, console: "Console") -> None:
    """Print what to do about the factors, then the answers, the verdicts and each factor."""
    for advice in view.advice:
        console.print()
        line = plain(f"{advice.factor}: ", "bold")
        console.print(line.append_text(plain(advice.text)))
        if advice.recipe:
            console.print(plain(gettext("  set    {command}", command=_aligned(advice.recipe.set))), soft_wrap=True)
            console.print(plain(gettext("  check  {command}", command=_aligned(advice.recipe.check))), soft_wrap=True)
            for how in advice.recipe.last.split("\n"):
                console.print(plain(gettext("  last   {command}", command=how)), soft_wrap=True)
    _again(view, console)
    console.print()
    for answer in view.answers:
        console.print(_sentence(answer))
    console.print()
    console.print(*verdict_table(view, console.width), sep="\n")
    _parts(view.blocks[Place.OVERVIEW], console)
    if view.reading:
        console.print()
        console.print(plain(view.reading, "dim"))
    for section in view.sections:
        _section(section, console)


def _parts(blocks: Sequence[Block], console: "Console") -> None:
    """Print blocks as parts of the report: each below a heading, the first rows of a table."""
    for block in blocks:
        console.print()
        console.print(plain(block.title, "bold"))
        if isinstance(block, ItemList):
            _items(block.items, console)
            continue
        console.print(plain(block.note, "dim"))
        if block.rows:
            console.print(word_table(replace(block, rows=block.rows[:_MOST_ROWS]), console.width))
        if len(block.rows) > _MOST_ROWS:
            pattern = N_("{n:,} more: paribus report --format markdown")
            console.print(plain(gettext(pattern, n=len(block.rows) - _MOST_ROWS), "dim"))
