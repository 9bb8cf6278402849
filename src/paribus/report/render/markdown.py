"""The report as Markdown, to be kept in a repository or sent as text.

In: a view, and the file names of pictures by chart key where they were drawn (`charts.write_pictures`). Out: text.
Called by the command line. Names and plans are not trusted: they cannot end a table row, a code block or become markup.
"""

import re
from collections.abc import Mapping, Sequence

from paribus.i18n import N_, gettext
from paribus.report.view import numbers
from paribus.report.view.blocks import Block, ItemList, ListItem, Place, WordTable
from paribus.report.view.view_models import Answer, EffectPoint, MatrixSection, ReportView, Section, TableFigure

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~$])")


def plain(text: str) -> str:
    """Text that Markdown and the HTML made from it show as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _code(text: str, info: str = "") -> list[str]:
    """A code block whose fence is longer than any within."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return [f"{fence}{info}", *text.rstrip("\n").split("\n"), fence]


def as_table(head: Sequence[str], right: Sequence[bool], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table, and an empty line after it."""
    marks = ["---:" if to_right else "---" for to_right in right]
    return [f"| {' | '.join(row)} |" for row in (head, marks, *rows)] + [""]


def _head(text: str) -> list[str]:
    return [f"## {text}", ""]


def _answer(answer: Answer) -> str:
    text = f"{plain(answer.change)}: {plain(answer.conclusion)}"
    return f"- **{plain(answer.factor)}**: {text}"


def _verdicts(view: ReportView) -> list[str]:
    if not view.verdicts:
        return [gettext("No effect could be judged."), ""]
    rows = [
        [
            plain(row.answer.factor),
            f"{plain(row.answer.baseline)} → {plain(row.answer.arm)}",
            plain(row.answer.workload),
            f"{row.effect} {plain(row.interval)}",
            row.margin,
            f"**{row.verdict}**" if row.answer.decided else row.verdict,
            str(row.pairs),
            plain("; ".join(row.reasons)),
            numbers.few(row.trials),
        ]
        for row in view.verdicts
    ]
    rows += [
        [
            plain(answer.factor),
            f"{plain(answer.baseline)} → {plain(answer.arm)}",
            plain(answer.workload),
            *(numbers.DASH, "", gettext(answer.verdict), "", plain(answer.conclusion), ""),
        ]
        for answer in view.unanswered
    ]
    head = [
        gettext("factor"),
        gettext("from → to"),
        gettext("workload"),
        gettext("effect"),
        gettext("margin"),
        gettext("verdict"),
        gettext("pairs"),
        gettext("reasons"),
        gettext("trials"),
    ]
    return as_table(head, [False, False, False, True, True, False, True, False, False], rows)


def _figure(figure: TableFigure | None) -> str:
    if figure is None:
        return numbers.DASH
    return f"{figure.text} {plain(figure.spread)}".rstrip()


def _point(point: EffectPoint | None) -> str:
    return f"{point.effect} {plain(point.interval)}" if point else numbers.DASH


def _effects(section: Section) -> list[str]:
    lines = []
    for table in section.effects:
        caption = gettext(
            "Effect on {title}, {confidence} interval, margin {margin}{judged}:",
            title=plain(table.title),
            confidence=table.confidence,
            margin=table.margin,
            judged="" if table.judged else gettext(", not judged"),
        )
        lines += [caption, ""]
        points = table.by_place()
        rows = [
            [gettext("all") if load is None else load.figure, *(_point(points.get((arm, load))) for arm in table.arms)]
            for load in table.loads
        ]
        changes = (gettext("{arm} instead of {baseline}", arm=arm, baseline=table.baseline) for arm in table.arms)
        head = [gettext("load level"), *map(plain, changes)]
        lines += as_table(head, [True] * len(head), rows)
    return lines


def _levels(section: Section) -> list[str]:
    """One table per metric: Markdown has no heads over several columns."""
    if section.table is None:
        return []
    lines = []
    for index, column in enumerate(section.table.columns):
        name = f"{column.title}, {column.unit}" if column.unit else column.title
        rows = [[row.load.figure, *(_figure(f) for f in row.figures[index])] for row in section.table.rows]
        head = [name, *(plain(arm.name) for arm in section.arms)]
        lines += as_table(head, [True] * len(head), rows)
    rows = [
        [row.load.figure, *(numbers.orders(f.trials) if f else numbers.DASH for f in row.figures[0])]
        for row in section.table.rows
    ]
    head = [gettext("trials at load level"), *(plain(arm.name) for arm in section.arms)]
    return lines + as_table(head, [True, *[False] * len(section.arms)], rows)


def _section(section: Section, pictures: Mapping[str, str]) -> list[str]:
    heading = gettext("{factor} under {workload}", factor=plain(section.factor), workload=plain(section.workload))
    lines = [f"### {heading}", ""]
    if section.empty:
        return [*lines, plain(section.empty), ""]
    lines += [_answer(answer) for answer in section.answers]
    lines += [f"- {plain(reason)}" for reason in section.reasons] + [""]
    failed = gettext("failed")
    for check_list in section.checks:
        pattern = (
            N_("Checks of {title}: {summary}; {standing}")
            if check_list.standing
            else N_("Checks of {title}: {summary}")
        )
        lines += [
            gettext(
                pattern, title=plain(check_list.title), summary=check_list.summary, standing=plain(check_list.standing)
            ),
            "",
        ]
        words = {True: gettext("ok"), False: f"**{failed}**", None: gettext("unknown")}
        marks = [(check, words[check.passed]) for check in check_list.checks]
        lines += [f"- {mark}, {check.name}: {plain(check.finding)}" for check, mark in marks] + [""]
    charts = [(table.key, gettext("effect on {title}", title=table.title)) for table in section.effects]
    charts += [(chart.key, gettext("{title} in each pair", title=chart.title)) for chart in section.pairs]
    charts += [(curve.key, f"{curve.title}, {curve.unit}") for curve in section.curves]
    charts += [(section.path.key, gettext("response time over throughput"))] if section.path else []
    charts += [(section.quantiles.key, gettext("response time by percentile"))] if section.quantiles else []
    charts += [(section.drift.key, gettext("{title} over time", title=section.drift.title))] if section.drift else []
    pictures_shown = [f"![{plain(title)}](<{pictures[key]}>)" for key, title in charts if key in pictures]
    return (
        lines
        + ([*pictures_shown, ""] if pictures_shown else [])
        + _effects(section)
        + _levels(section)
        + _blocks(section.blocks)
    )


def _items(items: Sequence[ListItem]) -> list[str]:
    texts = [(item, plain(item.text)) for item in items]
    return [*(f"- {item.with_trial(f'**{text}**' if item.strong else text)}" for item, text in texts), ""]


def _blocks(blocks: Sequence[Block]) -> list[str]:
    """The blocks of a place, each below a line with its title."""
    lines = []
    for block in blocks:
        if isinstance(block, ItemList):
            lines += [*([f"{plain(block.title)}:", ""] if block.title else []), *_items(block.items)]
            continue
        trials = gettext("; trials {trials}", trials=numbers.few(block.trials)) if block.trials else ""
        lines += [f"{plain(block.title)}: {plain(block.note)}{trials}", "", *_rows(block)]
    return lines


def _parts(blocks: Sequence[Block]) -> list[str]:
    """Blocks as parts of the report, each below a heading."""
    lines = []
    for block in blocks:
        content = _items(block.items) if isinstance(block, ItemList) else [plain(block.note), "", *_rows(block)]
        lines += [*_head(plain(block.title)), *content]
    return lines


def _rows(table: WordTable) -> list[str]:
    if not table.rows:
        return []
    rows = [[plain(str(cell)) for cell in row] for row in table.rows]
    return as_table([plain(name) for name in table.head], table.figures, rows)


def _matrix(matrix: MatrixSection, pictures: Mapping[str, str]) -> list[str]:
    lines = [f"### {plain(matrix.name)}", "", plain(matrix.empty or matrix.reading), ""]
    for share in matrix.shares:
        lines += [f"#### {share.title}", "", *(f"- {plain(sentence)}" for sentence in share.sentences), ""]
        if share.key in pictures:
            title = gettext("response time over rate, {share}", share=share.title)
            lines += [f"![{title}](<{pictures[share.key]}>)", ""]
        for table in share.tables:
            name = f"{table.title}, {table.unit}" if table.unit else table.title
            rows = [[str(small), *(_figure(f) for f in figures)] for small, figures in table.rows]
            head = [
                gettext("{name}: small outstanding", name=name),
                *(gettext("{n} large", n=large) for large in table.columns),
            ]
            lines += as_table(head, [True] * len(head), rows)
    return lines


def _trust(view: ReportView) -> list[str]:
    trust, lines = view.trust, _blocks(view.blocks[Place.NOTES])
    rows = [
        [tally.state, plain(tally.reason), str(len(tally.trials)), numbers.orders(tally.trials)]
        for tally in trust.tallies
    ]
    lines += as_table(
        [gettext("trials"), gettext("reason"), gettext("count"), gettext("which")], [False, False, True, False], rows
    )
    lines += _blocks(view.blocks[Place.CONDITIONS])
    facts = [[plain(name), plain(value)] for name, value in (*trust.facts, *trust.machine)]
    lines += as_table([gettext("experiment and machine"), ""], [False, False], facts)
    return [*lines, gettext("The plan:"), "", *_code(trust.plan_text, "toml"), ""]


def render(view: ReportView, pictures: Mapping[str, str] | None = None) -> str:
    """The whole report as Markdown; `pictures` gives the file name of each chart that was drawn."""
    lines = [
        f"# {plain(view.title)}",
        "",
        *([plain(view.question), ""] if view.question else []),
        gettext("Experiment {experiment}, {when}.", experiment=plain(view.experiment), when=view.when),
        "",
    ]
    if view.recommendation:
        lines += [f"**{plain(view.recommendation)}.**", ""]
    lines += [gettext("{sentence}.", sentence=view.headline), ""]
    if view.matrices:
        lines += _head(gettext("I/O matrices"))
    for matrix in view.matrices:
        lines += _matrix(matrix, pictures or {})
    if view.sections or not view.matrices:
        lines += _compared(view, pictures or {})
    else:
        lines += _parts(view.blocks[Place.OVERVIEW])
    lines += [*_head(gettext("Trust")), *_trust(view), *_parts(view.blocks[Place.APPENDIX])]
    return "\n".join(lines).rstrip("\n").replace("\n\n\n", "\n\n") + "\n"


def _compared(view: ReportView, pictures: Mapping[str, str]) -> list[str]:
    """Advice on the factors, then answers, verdicts, and each factor."""
    lines = _head(gettext("What to do"))
    for advice in view.advice:
        lines.append(f"- **{plain(advice.factor)}**: {plain(advice.text)}")
        if advice.recipe:
            block = _code(f"{advice.recipe.set}\n{advice.recipe.check}", "sh")
            lines += ["", *(f"  {line}" for line in block), ""]
            lines += [f"  {gettext('To keep it after a restart:')}", ""]
            lines += [*(f"  {line}" for line in _code(advice.recipe.last, "")), ""]
    if view.again:
        lines += ["", view.again_text, "", *_code(view.again, "sh")]
    lines += ["", *_head(gettext("Answers")), *map(_answer, view.answers), ""]
    lines += [*_head(gettext("Verdicts")), *_verdicts(view)]
    lines += ["", *_parts(view.blocks[Place.OVERVIEW]), *_head(gettext("Factor by factor"))]
    lines += [view.reading, ""] if view.reading else []
    for section in view.sections:
        lines += _section(section, pictures)
    return lines
