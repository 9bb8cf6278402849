"""Section on the files that an imported set is from."""

from collections.abc import Iterator, Sequence

from pydantic import Field

from paribus.i18n import gettext
from paribus.model import ExperimentState, Origin, Source
from paribus.report.document_parts import StrictDocument
from paribus.report.inputs import ReportInput
from paribus.report.section import DocumentField, section
from paribus.report.view import numbers
from paribus.report.view.blocks import Place, WordTable

_MOST_LINES = 200
_MOST_FILES = 500
_HASH = 12


class SourceDocument(StrictDocument):
    """A file that a set is from."""

    number: int
    path: str
    sha256: str = Field(description="of its bytes as found")
    size_bytes: int
    format: str
    runs: int
    not_understood: list[tuple[int, str]] = Field(description="lines that no reader understood, with their numbers")
    remarks: list[str]


class OriginDocument(StrictDocument):
    """Origin of a trial of a set."""

    trial: int
    source: int
    lines: tuple[int, int]
    missing: str = Field(description="what a text that was cut off lacks; empty where it is whole")


def _sources(report_input: ReportInput) -> list[SourceDocument]:
    return [
        SourceDocument(**{name: getattr(source, name) for name in SourceDocument.model_fields})
        for source in report_input.of(Source)
    ]


def _origins(report_input: ReportInput) -> list[OriginDocument]:
    return [
        OriginDocument(trial=origin.trial, source=origin.source, lines=origin.lines, missing=origin.missing)
        for origin in report_input.of(Origin)
    ]


@section(
    Place.APPENDIX,
    1,
    DocumentField("sources", list[SourceDocument], _sources, "the files of a set that was imported"),
    DocumentField("origins", list[OriginDocument], _origins, "where each of its trials comes from"),
)
def files(report_input: ReportInput) -> Iterator[WordTable]:
    """The files of a set, remarks on them, what is cut off, and lines that no reader understood."""
    if report_input.experiment.state is not ExperimentState.IMPORTED:
        return
    sources, origins = report_input.of(Source), report_input.of(Origin)
    of_source: dict[int, list[int]] = {}
    for origin in origins:
        of_source.setdefault(origin.source, []).append(origin.trial)
    rows = [
        (
            source.path,
            source.format,
            numbers.orders(of_source.get(source.number, [])),
            str(len(source.not_understood)) if source.not_understood else "",
            source.sha256[:_HASH],
        )
        for source in sources[:_MOST_FILES]
    ]
    omitted = len(sources) - len(rows)
    note = gettext("stored as read, without passwords, with a hash of the original bytes")
    if omitted > 0:
        note += gettext("; {n} more are not shown", n=omitted)
    head = (gettext("file"), gettext("format"), gettext("trials"), gettext("lines not understood"), "SHA-256")
    figures = (False, False, False, True, False)
    yield WordTable(title=gettext("Files"), note=note, head=head, figures=figures, rows=tuple(rows))
    yield from _remarks(sources)
    yield from _cut_off(sources, origins)
    yield from _lines(sources)


def _remarks(sources: Sequence[Source]) -> Iterator[WordTable]:
    rows = tuple((source.path, remark) for source in sources for remark in source.remarks)[:_MOST_LINES]
    if not rows:
        return
    note = gettext("remarks of the parsers")
    head = (gettext("file"), gettext("remark"))
    yield WordTable(title=gettext("Remarks"), note=note, head=head, figures=(False, False), rows=rows)


def _cut_off(sources: Sequence[Source], origins: Sequence[Origin]) -> Iterator[WordTable]:
    paths = {source.number: source.path for source in sources}
    broken = [origin for origin in origins if origin.missing]
    if not broken:
        return
    rows = tuple(
        (str(origin.trial), f"{paths[origin.source]}:{origin.lines[0]}", origin.missing)
        for origin in broken[:_MOST_LINES]
    )
    yield WordTable(
        title=gettext("Cut off"),
        note=gettext("runs with truncated text: the available part is used"),
        head=(gettext("trial"), gettext("where"), gettext("missing")),
        figures=(True, False, False),
        rows=rows,
    )


def _lines(sources: Sequence[Source]) -> Iterator[WordTable]:
    lines = [(source.path, number, text) for source in sources for number, text in source.not_understood]
    if not lines:
        return
    note = gettext("{n:,} lines were not understood by any parser; none of their figures is used", n=len(lines))
    if len(lines) > _MOST_LINES:
        note += gettext("; the first {n:,}", n=_MOST_LINES)
    yield WordTable(
        title=gettext("Not understood"),
        note=note,
        head=(gettext("where"), gettext("line")),
        figures=(False, False),
        rows=tuple((f"{path}:{number}", text.strip()[:200]) for path, number, text in lines[:_MOST_LINES]),
    )
