"""Factors with more levels than tables and charts can show."""

import re
from dataclasses import replace

import pytest
from report_samples import typical

from paribus.report.charts import charts
from paribus.report.experiment_view import view
from paribus.report.inputs import ReportInput
from paribus.report.many_arms import MOST_ARMS, with_fewer_arms
from paribus.report.render import html
from paribus.units import LoadLevel, LoadUnit

PAIR = ("factor", "load")
OF_ALL, *_ = [effect for effect in typical().effects if effect.load is None]


def _input(arms: int) -> ReportInput:
    """A comparison of so many arms; a later one differs more."""
    effects = [
        replace(OF_ALL, factor=PAIR[0], workload=PAIR[1], arm=f"L{n}", estimate=0.001 * n, low=0.0, high=0.1)
        for n in range(1, arms + 1)
    ]
    return ReportInput(experiment=typical().experiment, effects=effects)


def test_arms_that_differ_most_are_kept_with_the_baseline() -> None:
    whole = _input(MOST_ARMS + 5).comparisons([PAIR])[PAIR]
    fewer, (others,) = with_fewer_arms(whole)
    assert list(fewer.arms) == [OF_ALL.baseline, *(f"L{n}" for n in range(6, MOST_ARMS + 6))]
    assert {effect.arm for effect in fewer.effects} == set(fewer.arms) - {OF_ALL.baseline}
    assert others.startswith(f"of {MOST_ARMS + 5} levels, tables and charts have the {MOST_ARMS} that differ most")


def test_as_many_arms_as_a_plan_may_have_are_all_shown() -> None:
    whole = _input(MOST_ARMS).comparisons([PAIR])[PAIR]
    assert with_fewer_arms(whole) == (whole, ())


def test_a_report_answers_for_every_arm_and_draws_some() -> None:
    shown = view(_input(200))
    assert len(shown.answers) == 200
    [section] = shown.sections
    assert len(section.arms) == MOST_ARMS + 1
    assert "of 200 levels" in section.reasons[0]


def test_a_forest_of_many_load_levels_has_the_effect_over_all() -> None:
    by_level = [
        replace(OF_ALL, load=LoadLevel(n, LoadUnit.OUTSTANDING), verdict=None, factor=PAIR[0], workload=PAIR[1])
        for n in range(1, 101)
    ]
    whole = replace(OF_ALL, factor=PAIR[0], workload=PAIR[1])
    shown = view(ReportInput(experiment=typical().experiment, effects=[whole, *by_level]))
    [table] = shown.sections[0].effects
    assert len(table.loads) == 101
    assert [row["load"] for row in charts.forest(table)["vconcat"][0]["data"]["values"]] == ["all levels"]


def test_a_page_has_so_many_effects_and_trials_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    view = typical().view()
    whole = html.render(view)
    assert "are on this page" not in whole
    monkeypatch.setattr(html, "_MAX_EFFECTS", 2)
    monkeypatch.setattr(html, "_MAX_TRIALS", 10)
    page = html.render(view)
    assert f"2 of {len(view.answers)} are on this page" in page
    assert f"10 of {len(view.trust.trials)} are on this page" in page
    assert page.count('<tr id="trial-') == 10
    assert set(re.findall(r'href="#trial-(\d+)"', page)) <= set(re.findall(r'<tr id="trial-(\d+)"', page))
    assert whole.count('<tr id="trial-') == len(view.trust.trials)
