"""Section on the best level of each factor with three levels or more, and on all levels that are as good."""

import re
from collections.abc import Iterator, Sequence

from paribus.findings import SelectedLevel, Selection
from paribus.i18n import N_, N_plural, gettext, ngettext
from paribus.model import Verdict
from paribus.report.inputs import ReportInput
from paribus.report.section import findings_field, section
from paribus.report.sections.verdicts import WORDS, title
from paribus.report.view import numbers
from paribus.report.view.blocks import ItemList, ListItem, Place, WordTable

_PLATEAU = N_("{levels} are within {margin} of the best, whichever that is")
_BEHIND = N_("{best} is {percent} % better than {level}")
_OPEN = N_plural("{levels} is undecided against the best", "{levels} are undecided against the best")
_UNITS = {"": 1.0, "%": 1.0, "b": 1.0, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_UNITS |= {f"{prefix}{end}": 2.0 ** (10 * n) for n, prefix in enumerate("kmgt", 1) for end in ("", "b", "ib")}
_NOTE = N_(
    "By how much the best of the other levels is better: at least 0. Each interval holds with a confidence of "
    "{confidence} %; those that decided for equivalent hold with one of 90 %."
)


@section(
    Place.OVERVIEW,
    3,
    findings_field("selections", Selection, "of each factor with three levels or more: which are the best"),
)
def best_levels(report_input: ReportInput) -> Iterator[ItemList]:
    """A sentence on each factor."""
    if selected := report_input.of(Selection):
        items = tuple(ListItem(text=f"{_subject(selection)}: {_sentence(selection)}") for selection in selected)
        yield ItemList(title=gettext("Best levels"), items=items)


@section(Place.COMPARISON, 5)
def losses(comparison: ReportInput) -> Iterator[WordTable]:
    """By how much the best of the others is better than each level."""
    for selection in comparison.of(Selection):
        yield WordTable(
            title=gettext("Each level against the best of the others, {response}", response=title(selection.response)),
            note=gettext(_NOTE, confidence=f"{selection.confidence * 100:g}"),
            head=(gettext("level"), gettext("the best is better by"), gettext("verdict")),
            figures=(False, True, False),
            rows=tuple((level.arm, _loss(level), _word(level)) for level in selection.levels),
        )


def listed(levels: Sequence[str], of: Sequence[str]) -> str:
    """Return the levels as a text: a range where they are numbers and no tested number between them is missing."""
    values = {level: _number(level) for level in of}
    if len(levels) > 2 and None not in values.values():
        ordered = sorted(of, key=lambda level: values[level] or 0.0)
        places = sorted(ordered.index(level) for level in levels)
        if places == list(range(places[0], places[-1] + 1)):
            return gettext("{first} to {last}", first=ordered[places[0]], last=ordered[places[-1]])
    return gettext(" and ").join([gettext(", ").join(levels[:-1]), levels[-1]] if len(levels) > 1 else levels)


def _number(level: str) -> float | None:
    """Return the value of a level that is a number, a size or a duration; None for words."""
    written = re.fullmatch(r"(-?\d+(?:\.\d+)?) *([A-Za-z%]*)", level)
    unit = _UNITS.get(written[2].lower()) if written else None
    return float(written[1]) * unit if written and unit else None


def _subject(selection: Selection) -> str:
    return gettext(
        "{factor} under {workload}, {response}",
        factor=selection.factor,
        workload=selection.workload,
        response=title(selection.response),
    )


def _sentence(selection: Selection) -> str:
    arms, plateau = [level.arm for level in selection.levels], selection.plateau
    margin = numbers.margin(selection.margin).removeprefix("±")
    parts = []
    if len(plateau) == 1:
        parts.append(gettext("{level} is the best", level=plateau[0]))
    elif plateau:
        parts.append(gettext(_PLATEAU, levels=listed(plateau, arms), margin=margin))
    if any(level.verdict is Verdict.DEPENDS_ON_LOAD for level in selection.levels):
        parts.append(gettext("which level is the best depends on the load"))
    if undecided := [level.arm for level in selection.levels if level.verdict in (Verdict.UNDECIDED, None)]:
        parts.append(ngettext(*_OPEN, len(undecided), levels=listed(undecided, arms)))
    parts += [
        gettext(_BEHIND, level=level.arm, percent=f"{numbers.percent_of(level.loss.value):.1f}", best=level.behind)
        for level in selection.levels
        if level.verdict is Verdict.WORSE and level.loss is not None and level.behind
    ]
    return gettext("; ").join(parts)


def _loss(level: SelectedLevel) -> str:
    if level.loss is None or level.loss.low is None or level.loss.high is None:
        return "–"
    text = numbers.effect(level.loss.value, level.loss.low, level.loss.high)
    return str(text)


def _word(level: SelectedLevel) -> str:
    if level.verdict is None:
        return gettext("still compared")
    return gettext("worse than {level}", level=level.behind) if level.behind else gettext(WORDS[level.verdict])
