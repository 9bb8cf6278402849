"""The sections of a report: how they are registered, and that every form prints what they are made of."""

import io
from collections import Counter
from dataclasses import replace

import pytest
from report_samples import EXPERIMENT, Bench, typical
from rich.console import Console
from test_matrix_report import matrix

from paribus.report.contents import SECTIONS, blocks_at
from paribus.report.experiment_view import view
from paribus.report.inputs import ReportInput
from paribus.report.render import html, markdown, text
from paribus.report.render.document import ExperimentFields, ReportDocument, document
from paribus.report.section import ReportSection
from paribus.report.view.blocks import Block, ItemList, ListItem, Place, Sparkline, WordTable
from paribus.report.view.view_models import ReportView

BLOCKS: tuple[Block, ...] = (
    ItemList(
        title="Listed",
        items=(
            ListItem(text="a plain item"),
            ListItem(text="a strong item", strong=True, trial=7, sparkline=Sparkline(title="line", values=(2.0, 1.0))),
        ),
    ),
    WordTable(
        title="Tabled", note="how to read it", head=("name", "figure"), figures=(False, True), rows=(("<row>", "12"),)
    ),
)


def test_sections_of_a_place_have_positions_of_their_own() -> None:
    assert max(Counter((section.place, section.position) for section in SECTIONS).values()) == 1


def test_every_field_of_a_section_is_in_the_document_once() -> None:
    names = [*ExperimentFields.model_fields, *(field.name for section in SECTIONS for field in section.fields)]
    assert list(ReportDocument.model_fields) == names
    assert len(set(names)) == len(names)
    assert list(document(typical().input()).model_dump()) == names


def test_lists_without_a_title_become_one(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, titled = (ItemList(items=(ListItem(text="a"),), title=title) for title in ("", "title"))
    section = ReportSection(Place.NOTES, 1, lambda _: [plain, plain, titled, plain], ())
    monkeypatch.setattr("paribus.report.contents.SECTIONS", (section,))
    assert blocks_at(Place.NOTES, typical().input()) == (ItemList(items=plain.items * 2), titled, plain)
    assert blocks_at(Place.APPENDIX, typical().input()) == ()


def _with_blocks(shown: ReportView, place: Place) -> ReportView:
    if place is Place.COMPARISON:
        return replace(shown, sections=tuple(replace(section, blocks=BLOCKS) for section in shown.sections))
    return replace(shown, blocks={**shown.blocks, place: BLOCKS})


def _printed(shown: ReportView) -> str:
    out = io.StringIO()
    text.render(shown, Console(file=out, width=100))
    return out.getvalue()


@pytest.mark.parametrize("place", Place)
def test_every_form_prints_lists_and_tables_at_every_place(place: Place) -> None:
    shown = _with_blocks(typical().view(), place)
    forms = {
        _printed(shown): ("<row>", "a strong item (trial 7)"),
        markdown.render(shown): ("\\<row\\>", "**a strong item** (trial 7)"),
        html.render(shown): ("&lt;row&gt;", "<strong>a strong item</strong>"),
    }
    for form, texts in forms.items():
        for expected in ("Listed", "a plain item", "Tabled", "how to read it", "12", *texts):
            assert expected in form, expected


@pytest.mark.parametrize("show", [_printed, markdown.render, html.render])
def test_sections_of_the_overview_are_shown_where_nothing_is_compared(show: object) -> None:
    shown = _with_blocks(view(ReportInput(experiment=EXPERIMENT, findings=[matrix()])), Place.OVERVIEW)
    assert "a plain item" in show(shown)  # type: ignore[operator]


def test_a_place_without_sections_leaves_no_trace() -> None:
    shown = Bench().view()
    empty = replace(shown, blocks=dict.fromkeys(Place, ()))
    assert "## Trust\n\n|" in markdown.render(empty)
    assert 'id="field"' not in html.render(empty)
