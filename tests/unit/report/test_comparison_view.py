"""Two experiments beside each other, in the forms that are kept: what differed, the baseline, the effects."""

import dataclasses
import io
import math
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest
from plan_samples import checked, simple
from report_samples import EXPERIMENT, Bench
from rich.console import Console

from paribus.findings import Between, EffectBetween, Estimate
from paribus.model import Verdict
from paribus.report import comparison_view
from paribus.report.comparison_view import ComparedDocument, ExperimentDifference
from paribus.report.render import compared_html, compared_markdown, compared_text, junit
from paribus.report.view.comparison_models import ComparedView
from paribus.units import LoadLevel

GOLDEN = Path(__file__).parents[2] / "golden" / "report"
EVIL = "</title><script>alert(1)</script>|[red]"


def _between(load: int | None, estimate: float, half: float, verdict: Verdict | None) -> Between:
    return Between(
        workload="mixed",
        response="throughput_per_s",
        load=None if load is None else LoadLevel(load),
        estimate=estimate,
        low=estimate - half,
        high=estimate + half,
        confidence=0.95,
        margin=math.log(1.02),
        rounds=(4, 5),
        verdict=verdict,
        trials=((1, 4, 5), (2, 3, 6)),
    )


def _effect(difference: float, *, alike: bool | None) -> EffectBetween:
    first, second = 0.03, 0.03 + difference
    return EffectBetween(
        factor="block.scheduler",
        baseline="mq-deadline",
        arm="none",
        workload="mixed",
        response="throughput_per_s",
        first=Estimate(first, first - 0.01, first + 0.01),
        second=Estimate(second, second - 0.01, second + 0.01),
        difference=Estimate(difference, difference - 0.014, difference + 0.014),
        margin=math.log(1.02),
        alike=alike,
    )


def _document(**changes: object) -> ComparedDocument:
    whole = ComparedDocument(
        first="20261120-0914-1111",
        second="20261121-0914-2222",
        names=("before", "after"),
        differences=[
            ExperimentDifference(what="kernel", first="6.1.0", second="6.12.48"),
            ExperimentDifference(what="vm.swappiness", first="60", second=""),
        ],
        between=[
            _between(None, 0.059, 0.021, Verdict.BETTER),
            _between(8, 0.012, 0.03, None),
            _between(128, 0.11, 0.03, None),
        ],
        effects=[_effect(0.001, alike=True), _effect(0.05, alike=False), _effect(0.01, alike=None)],
        notes=["repeat both before buying anything"],
    )
    return whole.model_copy(update=changes)


def _view(**changes: object) -> ComparedView:
    return comparison_view.view(_document(**changes))


@pytest.mark.parametrize(
    ("verdict", "outcome"),
    [(Verdict.WORSE, "failure"), (Verdict.UNDECIDED, "skipped"), (None, "skipped"), (Verdict.EQUIVALENT, "system-out")],
)
def test_a_baseline_is_a_test_of_continuous_integration(verdict: Verdict | None, outcome: str) -> None:
    document = _document(between=[_between(None, -0.059, 0.021, verdict), _between(8, -0.1, 0.03, None)])
    [suite] = ElementTree.fromstring(junit.of_comparison(document, comparison_view.view(document)))  # noqa: S314  made here
    [case] = suite.iterfind("testcase")
    assert case.get("classname") == "baseline under mixed"
    assert [child.tag for child in case] == [outcome]


def test_markdown_is_as_it_was_agreed() -> None:
    assert compared_markdown.render(_view()) == (GOLDEN / "compared.md").read_text(encoding="utf-8")


def test_the_page_has_what_markdown_has_and_colours_only_what_is_decided() -> None:
    page = compared_html.render(_view())
    for words in ("6.12.48", "vm.swappiness", "+6.1 %", "[+3.9, +8.3]", "differs", "repeat both before"):
        assert words in page
    assert page.count('class="n better"') == 1
    assert "script-src 'none'" in unescape(page) and "<script" not in page


def test_empty_comparison_is_stated() -> None:
    nothing = _view(differences=[], between=[], effects=[])
    for told in (compared_markdown.render(nothing), compared_html.render(nothing)):
        assert "nothing else differs" in told
        assert "no baseline could be compared" in told


def test_names_of_others_stay_names() -> None:
    view = _view(differences=[ExperimentDifference(what=EVIL, first=EVIL, second=EVIL)])
    assert "<script" not in compared_html.render(view)
    (row,) = [line for line in compared_markdown.render(view).split("\n") if "alert" in line]
    assert row.count("\\|") == 3
    shown = io.StringIO()
    compared_text.render(view, Console(file=shown, width=200))
    assert EVIL in shown.getvalue()


def test_settings_that_neither_plan_names_are_compared_where_both_tell() -> None:
    stayed = {"vm.swappiness": "60", "boot": "a"}, {"vm.swappiness": "10", "boot": "b"}
    other = dataclasses.replace(EXPERIMENT, id="other")
    plan = checked(simple('"vm.dirty" = ["20%", "5%"]'))
    found = comparison_view.document((EXPERIMENT, other), (plan, plan), [], [], stayed)
    assert [(one.what, one.first, one.second) for one in found.differences] == [("vm.swappiness", "60", "10")]
    assert comparison_view.document((EXPERIMENT, other), (plan, plan), [], [], (stayed[0], {})).differences == []


def test_experiments_of_one_name_are_called_by_their_ids() -> None:
    assert (_view().title, _view().experiments) == (
        "after against before",
        "before is 20261120-0914-1111, after is 20261121-0914-2222",
    )
    same = _view(names=("nightly", "nightly"))
    assert (same.title, same.experiments) == ("20261121-0914-2222 against 20261120-0914-1111", "nightly")


def test_omitted_comparisons_are_named() -> None:
    other = dataclasses.replace(EXPERIMENT, id="other")
    plan = checked(simple('"vm.dirty" = ["20%", "5%"]'))
    asked = [("mixed", "throughput_per_s"), ("mixed", "response_p95_s")]
    alone = Bench().compare("vm.dirty", "20%", {"5%": (0.03, 0.01, Verdict.BETTER)}, loads=(8,)).effects
    effect = next(one for one in alone if one.load is None)
    notes = comparison_view.document(
        (EXPERIMENT, other),
        (plan, plan),
        [_between(None, 0.0, 0.1, None)],
        [],
        planned_pairs=asked,
        unmatched_effects=((), (effect,)),
    ).notes
    assert notes[:2] == [
        "p95 response time under mixed is not compared: its baseline lacks three complete rounds in both experiments",
        "vm.dirty: 5% instead of 20% under mixed is judged in other alone",
    ]
    assert "nothing is compared" in comparison_view.document((EXPERIMENT, other), (plan, plan), [], []).notes[0]
