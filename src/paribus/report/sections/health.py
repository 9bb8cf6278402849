"""Section on the health of the machine: the states that were watched, and the trials that they voided."""

from collections.abc import Iterator

from paribus.findings import HealthSpan, HealthTimeline
from paribus.i18n import N_, gettext
from paribus.report.inputs import ReportInput
from paribus.report.section import findings_field, section
from paribus.report.view import numbers
from paribus.report.view.blocks import ItemList, ListItem, Place, Sparkline, WordTable

_NOTE = N_(
    "Looked at before each trial, every 10 s in it, and after it. A trial does not count while a state is not sound."
)
_MOST_SPANS = 6


@section(Place.CONDITIONS, 2, findings_field("health", HealthTimeline, "of each state that was watched: its course"))
def health(report_input: ReportInput) -> Iterator[WordTable | ItemList]:
    """A row for each state, and a line for each that is a number and moves."""
    if timelines := report_input.of(HealthTimeline):
        yield WordTable(
            title=gettext("Health of the machine"),
            note=gettext(_NOTE),
            head=(gettext("state"), gettext("over the trials"), gettext("voided trials")),
            figures=(False, False, False),
            rows=tuple(
                (timeline.name, _course(timeline), numbers.few(timeline.voided) if timeline.voided else "–")
                for timeline in timelines
            ),
        )
        moving = [line for line in timelines if min(line.course, default=-1) >= 0 and line.lowest != line.highest]
        if moving:
            yield ItemList(title=gettext("Course of these states"), items=tuple(map(_line, moving)))


def _line(timeline: HealthTimeline) -> ListItem:
    title = gettext("mean of each trial, in their order, from zero to the maximum")
    line = Sparkline(title=title, values=timeline.course)
    return ListItem(text=f"{timeline.name}: {_course(timeline)}", sparkline=line)


def _course(timeline: HealthTimeline) -> str:
    if timeline.lowest is not None and timeline.highest is not None:
        ends = f"{timeline.lowest:g}", f"{timeline.highest:g}"
        text = ends[0] if ends[0] == ends[1] else gettext("{low} to {high}", low=ends[0], high=ends[1])
        return f"{text} {timeline.unit}".strip()
    spans = [_span(span) for span in timeline.spans[:_MOST_SPANS]]
    omitted = len(timeline.spans) - len(spans)
    more = [gettext("{n} other values", n=omitted)] if omitted else []
    return gettext(", ").join([*spans, *more]) or gettext("not recorded")


def _span(span: HealthSpan) -> str:
    if span.first == span.last:
        return gettext("{state} in trial {first}", state=span.state, first=span.first)
    return gettext("{state} in trials {first} to {last}", state=span.state, first=span.first, last=span.last)
