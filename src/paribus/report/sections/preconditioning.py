"""Section on preconditioning: whether the last rounds of each data set were steady."""

from collections.abc import Iterator

from paribus.findings import Preconditioned
from paribus.i18n import gettext
from paribus.model import TrialState
from paribus.report.inputs import ReportInput
from paribus.report.section import findings_field, section
from paribus.report.view import numbers
from paribus.report.view.blocks import ItemList, ListItem, Place, Sparkline
from paribus.report.view.terms import word
from paribus.units import show_duration


@section(Place.NOTES, 1, findings_field("preconditioned", Preconditioned))
def preconditioning(report_input: ReportInput) -> Iterator[ItemList]:
    """A sentence on each data set."""
    if results := report_input.of(Preconditioned):
        yield ItemList(items=tuple(map(_item, results)))


def _item(result: Preconditioned) -> ListItem:
    title = gettext("IOPS of each round, from zero to the maximum")
    return ListItem(
        text=_sentence(result),
        strong=not result.steady,
        trial=result.trial,
        sparkline=Sparkline(title=title, values=result.course) if result.course else None,
    )


def _sentence(result: Preconditioned) -> str:
    subject = result.workload
    if result.data:
        subject = gettext("{workload} with {data}", workload=result.workload, data=result.data)
    if result.average_per_s is None or result.spread is None or result.drift is None:
        suffix = f": {result.reason}" if result.reason else ""
        reason = gettext("not yet") if result.state is TrialState.PLANNED else f"{word(result.state)}{suffix}"
        return gettext("{what} was not preconditioned ({why})", what=subject, why=reason)
    protocol = result.asked
    sign = "+" if result.drift > 0 else numbers.MINUS if result.drift < 0 else ""
    return gettext(
        "{what} was {judged} after {fills} and {rounds} of {round}: {average:,.0f} IOPS on average of the last "
        "{window}, spread {spread:.1f} % (at most {most_spread:.3g} %), "
        "drift {sign}{drift:.1f} % (at most {most_drift:.3g} %)",
        what=subject,
        judged=gettext("steady") if result.steady else gettext("NOT STEADY"),
        fills=numbers.count(protocol.fills, "fill"),
        rounds=numbers.count(len(result.course), "round"),
        round=show_duration(protocol.round_s),
        average=result.average_per_s,
        window=protocol.window,
        spread=result.spread * 100,
        most_spread=protocol.most_spread * 100,
        sign=sign,
        drift=abs(result.drift) * 100,
        most_drift=protocol.most_drift * 100,
    )
