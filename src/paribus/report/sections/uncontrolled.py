"""Section on conditions that no trial sets and that should be the same in all."""

from collections.abc import Iterator

from paribus.findings import Constancy, Held
from paribus.i18n import N_, N_plural, gettext, ngettext
from paribus.report.inputs import ReportInput
from paribus.report.section import DocumentField, section
from paribus.report.view import numbers
from paribus.report.view.blocks import ItemList, ListItem, Place

_NOT_RECORDED = Constancy(same={}, differed={}, trials=())
_MOST_VALUES = 4
_IN_TRIALS = N_plural("{value} in trial {trials}", "{value} in trials {trials}")


def _constancy(report_input: ReportInput) -> Constancy:
    return next(iter(report_input.of(Constancy)), _NOT_RECORDED)


@section(
    Place.CONDITIONS,
    1,
    DocumentField("conditions", Constancy, _constancy, "what no trial sets and should be the same in all"),
)
def uncontrolled(report_input: ReportInput) -> Iterator[ItemList]:
    """A sentence on each condition that differed, and one on all others."""
    constancy = _constancy(report_input)
    differences = [
        gettext("{name} was {values}", name=gettext(name), values=_values(observed))
        for name, observed in constancy.differed.items()
    ]
    items = (*(ListItem(text=text, strong=True) for text in differences), ListItem(text=_constant(constancy)))
    yield ItemList(title=gettext("Uncontrolled differences between trials"), items=items)


def _values(observed: tuple[Held, ...]) -> str:
    texts = [
        ngettext(*_IN_TRIALS, len(value.trials), value=gettext(value.value), trials=numbers.few(value.trials))
        for value in observed[:_MOST_VALUES]
    ]
    omitted = len(observed) - len(texts)
    return gettext(", and ").join([*texts, *([gettext("{n} other values", n=omitted)] if omitted else [])])


def _constant(constancy: Constancy) -> str:
    if not constancy.trials:
        return gettext("uncontrolled settings were not recorded in any trial")
    conditions, trials = numbers.count(len(constancy.same), "condition"), numbers.count(len(constancy.trials), "trial")
    if constancy.differed:
        return gettext(
            "{conditions} outside the plan stayed constant in {trials}", conditions=conditions, trials=trials
        )
    pattern = N_("no drift: {conditions} outside the plan stayed constant in {trials}")
    return gettext(pattern, conditions=conditions, trials=trials)
