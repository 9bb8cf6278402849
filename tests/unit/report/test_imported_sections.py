"""Sections for an imported set: inconsistencies, claims and files, in each form."""

import io
from dataclasses import replace

import pytest
from report_samples import EXPERIMENT, Bench, typical
from rich.console import Console

from paribus import model
from paribus.findings import Breach
from paribus.model import Claim, ClaimEvidence, ExperimentState, Origin, Source, Standing
from paribus.report.contents import blocks_at
from paribus.report.experiment_view import view
from paribus.report.inputs import ReportInput
from paribus.report.render import html, markdown, text
from paribus.report.render.document import document
from paribus.report.sections.verdicts import unanswered
from paribus.report.view.blocks import Place

FINDINGS = (
    *(Breach(law="little", where="", cells=(n,), words=f"figure {n}", grave=n == 2) for n in (1, 2)),
    *(
        model.Tested(
            claim=Claim(id=f"C-{standing}", factor="f", claim="better", statement="none is better"),
            standing=standing,
            reason="because",
            evidence=(
                ClaimEvidence(
                    workload="w", level="none", other="bfq", estimate=0.1, low=0.02, high=0.2, places=3, repeated=True
                ),
            ),
        )
        for standing in (Standing.SUPPORTED, Standing.CONTRADICTED)
    ),
    Source(
        number=1, path="a.log", sha256="ab" * 32, size_bytes=10, format="sysbench", runs=2,
        not_understood=((3, "x | y"),), remarks=("odd",),
    ),
    *(Origin(trial=n, source=1, lines=(n, 9), missing="its end" if n == 2 else "", said={}) for n in (1, 2, 3)),
)  # fmt: skip
IMPORTED = ReportInput(experiment=replace(EXPERIMENT, state=ExperimentState.IMPORTED), findings=FINDINGS)


def test_contradictions_come_first() -> None:
    inconsistencies, claims = view(IMPORTED).blocks[Place.OVERVIEW]
    assert [row[0] for row in inconsistencies.rows] == ["figure 2", "figure 1"]  # type: ignore[union-attr]
    assert [row[0] for row in claims.rows] == ["C-contradicted", "C-supported"]  # type: ignore[union-attr]


def test_files_are_listed_with_their_trials_and_what_is_missing() -> None:
    files, remarks, cut_off, lines = view(IMPORTED).blocks[Place.APPENDIX]
    assert files.rows == (("a.log", "sysbench", "1–3", "1", "ab" * 6),)  # type: ignore[union-attr]
    assert remarks.rows == (("a.log", "odd"),)  # type: ignore[union-attr]
    assert cut_off.rows == (("2", "a.log:2", "its end"),)  # type: ignore[union-attr]
    assert lines.rows == (("a.log:3", "x | y"),)  # type: ignore[union-attr]


def test_levels_without_a_run_of_the_baseline_say_so() -> None:
    bench = Bench()
    for workload, arms in {"apart": ["b", "c"], "both": ["a", "b"]}.items():
        for arm in arms:
            bench.trial("x", arm, baseline=arm == "a", workload=workload, load=8)
    anchors = {("x", workload): "" for workload in ("apart", "both")}
    answers = unanswered(bench.trials, (), anchors, {}, imported=True)
    assert [(answer.arm, answer.conclusion) for answer in answers] == [
        ("b", "no verdict under apart: no run of the baseline has this workload"),
        ("c", "no verdict under apart: no run of the baseline has this workload"),
        ("b", "no verdict under both: no measure is named that runs of both have"),
    ]


@pytest.mark.parametrize(
    ("ours", "theirs", "load", "reason"),
    [
        ({"version": "8.4"}, {"version": "11.8"}, 8, "have no level of version in common"),
        ({"version": "8.4"}, {}, 8, "have no level of version in common"),
        ({}, {}, 16, "have no load level in common"),
    ],
)
def test_levels_that_match_no_run_of_the_baseline_say_why(
    ours: dict[str, str], theirs: dict[str, str], load: int, reason: str
) -> None:
    bench = Bench()
    bench.trial("x", "b", baseline=False, workload="w", load=8, settings={"x": "b", **ours})
    bench.trial("x", "a", baseline=True, workload="w", load=load, settings={"x": "a", **theirs})
    (answer,) = unanswered(bench.trials, (), {("x", "w"): ""}, {}, imported=True)
    assert answer.conclusion == f"no verdict under w: its runs and those of the baseline {reason}"


def test_levels_without_a_combination_of_the_baseline_say_so() -> None:
    bench = Bench()
    for arm, versions in {"a": ("8.0 x", "8.4 y"), "b": ("8.0 y", "8.4 x")}.items():
        for version, disk in map(str.split, versions):
            settings = {"x": arm, "version": version, "disk": disk}
            bench.trial("x", arm, baseline=arm == "a", workload="w", load=8, settings=settings)
    (answer, *_) = unanswered(bench.trials, (), {("x", "w"): ""}, {}, imported=True)
    assert answer.conclusion.endswith("have no combination of disk, version and load level in common")


def test_every_form_shows_them() -> None:
    out = io.StringIO()
    text.render(view(IMPORTED), Console(file=out, width=100))
    for shown in (out.getvalue(), markdown.render(view(IMPORTED)), html.render(view(IMPORTED))):
        for title in ("Inconsistencies", "Claims beside the numbers", "Files", "Remarks", "Cut off", "Not understood"):
            assert title in shown
    written = document(IMPORTED).model_dump(mode="json")
    counts = {name: len(written[name]) for name in ("breaches", "claims", "sources", "origins")}
    assert counts == {"breaches": 2, "claims": 2, "sources": 1, "origins": 3}
    assert written["claims"][0]["evidence"][0]["log_ratio"] == {"estimate": 0.1, "low": 0.02, "high": 0.2}


def test_an_experiment_of_our_own_has_none() -> None:
    assert blocks_at(Place.OVERVIEW, typical().input()) == blocks_at(Place.APPENDIX, typical().input()) == ()
