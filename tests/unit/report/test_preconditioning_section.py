"""Section on preconditioning, in each form of a report."""

import io
import re
from dataclasses import replace

import pytest
from report_samples import typical
from rich.console import Console

from paribus.cli.progress import ProgressDisplay
from paribus.findings import Preconditioned
from paribus.model import Precondition, TrialState
from paribus.report.experiment_view import view
from paribus.report.render import html, markdown, text
from paribus.report.render.document import document
from paribus.report.view.blocks import ItemList, ListItem, Place
from paribus.report.view.view_models import ReportView
from paribus.stats.steady import steadiness

ASKED = Precondition(fills=2, round_s=60.0, most_rounds=25, window=5, most_spread=0.2, most_drift=0.1)
COURSE = (20_000.0, 14_000.0, 12_500.0, 12_400.0, 12_300.0, 12_300.0, 12_000.0)


def _found(**changes: object) -> Preconditioned:
    fields: dict[str, object] = {
        "trial": 1,
        "workload": "mixed",
        "data": "",
        "asked": ASKED,
        "state": TrialState.DONE,
        "reason": "",
        "course": COURSE,
        "average_per_s": 12_300.0,
        "spread": 0.0406,
        "drift": -0.0358,
        "steady": True,
    }
    return Preconditioned(**(fields | changes))  # type: ignore[arg-type]


UNSTEADY = _found(spread=0.31, drift=0.144, steady=False, course=COURSE[:5] * 5)
UNDONE = _found(
    state=TrialState.FAILED,
    reason="stopped while preconditioning",
    course=(),
    average_per_s=None,
    spread=None,
    drift=None,
    steady=False,
)


def _view(*found: Preconditioned) -> ReportView:
    return view(replace(typical().input(), findings=found))


def _items(view: ReportView) -> list[ListItem]:
    """The sentences on data sets, which stand before the other notes."""
    (notes,) = view.blocks[Place.NOTES]
    assert isinstance(notes, ItemList)
    return [item for item in notes.items if item.trial is not None]


@pytest.mark.parametrize(
    ("found", "told", "missed"),
    [
        (
            _found(),
            "mixed was steady after 2 fills and 7 rounds of 1 min: 12,300 IOPS on average of the last 5, "
            "spread 4.1 % (at most 20 %), drift −3.6 % (at most 10 %)",
            False,
        ),
        (
            UNSTEADY,
            "mixed was NOT STEADY after 2 fills and 25 rounds of 1 min: 12,300 IOPS on average of the last 5, "
            "spread 31.0 % (at most 20 %), drift +14.4 % (at most 10 %)",
            True,
        ),
        (UNDONE, "mixed was not preconditioned (failed: stopped while preconditioning)", True),
        (
            _found(state=TrialState.PLANNED, average_per_s=None, steady=False, data="w.files = 2"),
            "mixed with w.files = 2 was not preconditioned (not yet)",
            True,
        ),
    ],
)
def test_a_data_set_is_told_in_a_sentence(found: Preconditioned, told: str, missed: bool) -> None:
    (item,) = _items(_view(found))
    assert (item.text, item.strong) == (told, missed)


def _printed(seen: ReportView, how: object) -> str:
    out = io.StringIO()
    how(seen, Console(file=out, width=80))  # type: ignore[operator]
    return " ".join(out.getvalue().split())


def test_every_form_tells_each_data_set() -> None:
    seen = _view(_found(), UNSTEADY, UNDONE)
    page = " ".join(html.render(seen).split())
    forms = {"html": page, "markdown": markdown.render(seen), "text": _printed(seen, text.render)}
    for form, shown in forms.items():
        for item in _items(seen):
            assert item.text in shown, (form, item.text)
    assert f"<strong>{_items(seen)[1].text}</strong>" in page
    assert f"**{_items(seen)[1].text}**" in forms["markdown"]


def test_terminal_conclusions_name_only_unsteady_data() -> None:
    shown = _printed(_view(_found(), UNSTEADY), text.conclusions)
    assert "NOT STEADY" in shown
    assert "was steady" not in shown


def test_the_page_draws_the_course_within_its_picture() -> None:
    page = html.render(_view(_found(), UNDONE))
    (drawn,) = re.findall(r'<polyline points="([^"]+)"', page)
    points = [tuple(map(float, point.split(","))) for point in drawn.split()]
    assert len(points) == len(COURSE)
    assert points[0] == (0.0, 1.5)
    assert all(0 <= x <= 132 and 1.5 <= y <= 17.5 for x, y in points)
    assert points[-1][1] > points[0][1], "the slowest round stands lower"


def test_a_document_holds_the_course_and_what_was_asked() -> None:
    bench = typical()
    made = document(replace(bench.input(), findings=[_found()]))
    (one,) = made.model_dump(mode="json")["preconditioned"]
    assert one["course"] == list(COURSE)
    assert one["asked"]["most_spread"] == 0.2


def test_whoever_watches_sees_each_round() -> None:
    out = io.StringIO()
    watch = ProgressDisplay(Console(file=out, width=80))
    watch.on_fill_progress("mixed", 2**20, 2**22)
    watch.on_round("mixed", 1, 15_000.4, None)
    watch.on_round("mixed", 7, 12_300.0, steadiness([10_000.0, 13_900.0], 2, 0.2, 0.1))
    assert out.getvalue().splitlines() == [
        "preconditioning mixed: round 1, 15,000 IOPS",
        "preconditioning mixed: round 7, 12,300 IOPS, spread 33 %",
    ]
