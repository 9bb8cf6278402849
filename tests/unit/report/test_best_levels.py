"""Best of several levels in a report: its sentences, its table and its advice."""

import io
from dataclasses import replace

import pytest
from report_samples import Bench
from rich.console import Console

from paribus.findings import Estimate, SelectedLevel, Selection
from paribus.model import Verdict
from paribus.report.experiment_view import view
from paribus.report.render import html, markdown, text
from paribus.report.render.document import document
from paribus.report.sections.best_levels import listed
from paribus.report.view.blocks import ItemList, Place, WordTable
from paribus.report.view.view_models import ReportView

FACTOR = "mysql.innodb_io_capacity"
GAINS = {"200": -0.08, "2000": 0.05, "4000": 0.055, "8000": 0.05, "16000": 0.02}


def _level(arm: str, loss: float, verdict: Verdict | None, behind: str = "") -> SelectedLevel:
    return SelectedLevel(
        arm=arm, loss=Estimate(loss, max(loss - 0.01, 0.0), loss + 0.01), verdict=verdict, behind=behind
    )


PLATEAU = (
    _level("1000", 0.055, Verdict.WORSE, "4000"),
    _level("200", 0.135, Verdict.WORSE, "4000"),
    _level("2000", 0.005, Verdict.EQUIVALENT),
    _level("4000", 0.0, Verdict.EQUIVALENT),
    _level("8000", 0.005, Verdict.EQUIVALENT),
    _level("16000", 0.035, Verdict.WORSE, "4000"),
)


def _view(*levels: SelectedLevel) -> ReportView:
    arms = {arm: (gain, 0.01, Verdict.BETTER if gain > 0 else Verdict.WORSE) for arm, gain in GAINS.items()}
    report_input = Bench().compare(FACTOR, "1000", arms).input()
    selection = Selection(
        factor=FACTOR, workload="mixed", response="throughput_per_s", margin=0.0198, confidence=0.95, best="4000",
        levels=levels,
    )  # fmt: skip
    return view(replace(report_input, findings=[*report_input.findings, selection]))


def _sentence(report: ReportView) -> str:
    (block,) = [block for block in report.blocks[Place.OVERVIEW] if block.title == "Best levels"]
    assert isinstance(block, ItemList)
    (item,) = block.items
    return item.text


def test_a_plateau_is_a_range_and_all_others_are_behind() -> None:
    report = _view(*PLATEAU)
    assert _sentence(report) == (
        "mysql.innodb_io_capacity under mixed, throughput: 2000 to 8000 are within 2 % of the best, whichever that is; "
        "4000 is 5.7 % better than 1000; 4000 is 14.5 % better than 200; 4000 is 3.6 % better than 16000"
    )
    (advice,) = report.advice
    assert advice.text == (
        "set 4000: better than 1000 under mixed; 2000 and 8000, as good: equivalent to the best; "
        "better too, but behind the best: 16000"
    )


def test_a_single_best_level_and_undecided_ones_are_named() -> None:
    sole = _view(_level("1000", 0.05, Verdict.WORSE, "4000"), _level("4000", 0.0, Verdict.EQUIVALENT))
    assert "throughput: 4000 is the best; 4000 is 5.1 % better than 1000" in _sentence(sole)
    unsure = _view(_level("1000", 0.01, Verdict.UNDECIDED), _level("4000", 0.0, None))
    assert _sentence(unsure).endswith("1000 and 4000 are undecided against the best")
    assert "also better, and undecided against 4000: 2000, 8000" in unsure.advice[0].text
    by_load = _view(_level("1000", 0.05, Verdict.DEPENDS_ON_LOAD), _level("4000", 0.0, Verdict.DEPENDS_ON_LOAD))
    assert _sentence(by_load).endswith("which level is the best depends on the load")


def test_every_form_has_the_levels() -> None:
    report = _view(*PLATEAU)
    (section,) = report.sections
    (table,) = [b for b in section.blocks if isinstance(b, WordTable) and "best of the others" in b.title]
    assert table.rows[0] == ("1000", "+5.7 % [+4.6, +6.7]", "worse than 4000")
    assert table.rows[3] == ("4000", "0.0 % [0.0, +1.0]", "equivalent")
    console = Console(file=io.StringIO(), width=100)
    text.render(report, console)
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    for form in (html.render(report), markdown.render(report), " ".join(printed.split())):
        assert "2000 to 8000 are within 2 % of the best" in form


@pytest.mark.parametrize(
    ("levels", "of", "expected"),
    [
        (["8000", "2000", "3000"], ["3000", "200", "2000", "8000"], "2000 to 8000"),
        (["64MB", "1GB", "256MB"], ["16MB", "64MB", "256MB", "1GB"], "64MB to 1GB"),
        (["200", "2000", "8000"], ["3000", "200", "2000", "8000"], "200, 2000 and 8000"),
        (["none", "bfq", "kyber"], ["none", "bfq", "kyber"], "none, bfq and kyber"),
        (["none"], ["none", "bfq", "kyber"], "none"),
    ],
)
def test_levels_are_listed_as_a_range_only_where_none_between_is_missing(
    levels: list[str], of: list[str], expected: str
) -> None:
    assert listed(levels, of) == expected


def test_the_document_has_every_level() -> None:
    arms = {"1": (0.05, 0.01, Verdict.BETTER)}
    report_input = Bench().compare(FACTOR, "1000", arms).input()
    selection = Selection(
        factor=FACTOR, workload="mixed", response="throughput_per_s", margin=0.0198, confidence=0.95, best="4000",
        levels=PLATEAU,
    )  # fmt: skip
    dumped = document(replace(report_input, findings=[selection])).model_dump(mode="json")
    assert [level["arm"] for level in dumped["selections"][0]["levels"]] == [level.arm for level in PLATEAU]
