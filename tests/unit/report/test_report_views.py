"""Views of reports: their content and its wording."""

import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_samples import RECIPES, Bench, many, typical
from rich.console import Console

from paribus.model import Check, Effect, ExperimentState, Purpose, Tag, TrialState, Verdict
from paribus.report import experiment_view
from paribus.report.charts import charts
from paribus.report.experiment_view import ReportView, view
from paribus.report.render import html, markdown, text
from paribus.units import LoadUnit

FORBIDDEN = ("no difference", "same", "keep default", "equal", "no effect")


def sentences(view: ReportView) -> dict[str, str]:
    return {f"{answer.factor}={answer.arm}": answer.sentence for answer in view.answers}


def test_a_better_level_is_told_with_effect_interval_and_workload() -> None:
    assert sentences(typical().view())["block.scheduler=none"] == (
        "block.scheduler: none instead of mq-deadline: +6.1 % [+3.9, +8.3] throughput under mixed, better, "
        "by more than the margin"
    )


def test_an_equivalent_level_means_keep_what_you_have_within_the_margin() -> None:
    told = sentences(typical().view())["block.read_ahead_kb=0"]
    assert "keep 128: equivalent within ±2 %" in told


def test_an_undecided_level_says_between_what_and_that_more_is_needed() -> None:
    told = sentences(typical().view())["block.nr_requests=1024"]
    assert "undecided: between −3.1 % and +4.1 %" in told
    assert "more trials are needed" in told


def test_an_effect_that_depends_on_load_shows_its_load_levels() -> None:
    told = sentences(typical().view())["vm.dirty=5%"]
    assert "depends on load" in told
    assert all(f"at {load} threads" in told for load in (8, 32, 128))


def test_an_arm_without_data_is_answered_with_the_reason() -> None:
    view = typical().view()
    told = sentences(view)["block.wbt_lat_usec=-5"]
    assert "no verdict under mixed: 2 trials failed (setting-rejected: the kernel refused -5" in told
    section = next(s for s in view.sections if s.factor == "block.wbt_lat_usec")
    assert section.table is None
    assert "setting-rejected" in section.empty


@given(
    low=st.floats(-3, 3, allow_nan=False),
    width=st.floats(0, 3, allow_nan=False),
    margin=st.floats(0.001, 0.5),
    suspect=st.booleans(),
)
def test_undecided_is_never_worded_as_if_nothing_differed(
    low: float, width: float, margin: float, suspect: bool
) -> None:
    bench = Bench()
    bench.compare("block.x", "a", {"b": (low + width / 2, width / 2, Verdict.UNDECIDED)}, loads=(8,), rounds=1)
    tags = (Tag.SUSPECT,) if suspect else ()
    bench.effects = [replace(e, margin=margin, tags=tags if e.verdict else ()) for e in bench.effects]
    shown = markdown.render(bench.view()).lower()
    assert "undecided" in shown
    assert not [word for word in FORBIDDEN if word in shown]
    assert "keep a" not in shown


def test_advice_for_average_equivalence_remarks_that_no_trial_was_alone() -> None:
    for tags, remark in ((), False), ((Tag.AVERAGE,), True):
        bench = Bench()
        bench.compare("block.x", "a", {"b": (0.0, 0.001, Verdict.EQUIVALENT)}, loads=(8,), rounds=1)
        bench.effects = [replace(effect, tags=tags if effect.verdict else ()) for effect in bench.effects]
        (row,), (kept,) = bench.view().verdicts, bench.view().advice
        assert kept.text.startswith("keep a: b is equivalent")
        assert ('not alone: design = "one-at-a-time" does that' in kept.text) is remark
        assert ("on average" in row.verdict) is remark


def test_decided_answers_come_first_and_a_factor_stays_together() -> None:
    factors = [answer.factor for answer in many(12).view().answers]
    verdicts = [answer.verdict for answer in many(12).view().answers]
    assert verdicts == ["better"] * 2 + ["worse"] * 2 + ["undecided"] * 2 + ["equivalent"] * 6
    assert len(set(factors)) == len(factors) == 12


@pytest.mark.parametrize("factors", [1, 10, 40])
def test_every_factor_has_an_answer_a_section_and_an_advice(factors: int) -> None:
    view = many(factors).view()
    assert len(view.answers) == len(view.verdicts) == len(view.sections) == len(view.advice) == factors
    assert {answer.anchor for answer in view.answers} == {section.anchor for section in view.sections}


def test_levels_of_one_state_are_named_together() -> None:
    states = {"1": Verdict.WORSE, "2": Verdict.WORSE} | {str(level): Verdict.UNDECIDED for level in range(3, 9)}
    bench = Bench().compare("io.depth", "0", {arm: (-0.05, 0.01, verdict) for arm, verdict in states.items()})
    (told,) = bench.view().advice
    assert told.text == "do not set 1, 2: worse; 3, 4, 5, … (6) are undecided: more trials are needed"


def test_every_number_lists_the_trials_behind_it() -> None:
    view = typical().view()
    known = {row.order for row in view.trust.trials}
    for section in view.sections:
        for table in section.effects:
            assert all(point.trials and set(point.trials) <= known for point in table.points)
        rows = section.table.rows if section.table else ()
        figures = [f for row in rows for group in row.figures for f in group if f]
        assert all(figure.trials and set(figure.trials) <= known for figure in figures)


def test_missing_metrics_leave_their_columns_out() -> None:
    bench = Bench().compare("vm.x", "0", {"1": (0.05, 0.01, Verdict.BETTER)}, metrics=["throughput_per_s"])
    section = bench.view().sections[0]
    assert section.table is not None
    assert [column.metric for column in section.table.columns] == ["throughput_per_s"]
    assert section.table.columns[0].unit == "/s"
    assert [curve.title for curve in section.curves] == ["throughput"]


def test_a_metric_of_one_arm_alone_leaves_a_gap() -> None:
    bench = typical()
    bench.cells = [c for c in bench.cells if (c.arm, c.metric) != ("bfq", "response_p95_s")]
    table = bench.view().sections[0].table
    assert table is not None
    place = [column.metric for column in table.columns].index("response_p95_s")
    assert [figure is None for figure in table.rows[0].figures[place]] == [False, False, True]


def test_one_trial_alone_has_no_interval() -> None:
    table = many(1).view().sections[0].table
    alone = Bench().compare("vm.x", "0", {"1": (0.0, 0.01, Verdict.UNDECIDED)}, rounds=1).view().sections[0].table
    assert table is not None and table.rows[0].figures[0][0].spread.startswith("±")  # type: ignore[union-attr]
    assert alone is not None and alone.rows[0].figures[0][0].spread == ""  # type: ignore[union-attr]


def test_trials_are_counted_by_state_and_reason() -> None:
    tallies = {(t.state, t.reason): t.trials for t in typical().view().trust.tallies}
    assert tallies["invalid", "foreign I/O on the device: 31 % of its time"] == (59,)
    assert len(tallies["failed", ""]) == 2
    assert len(tallies["superseded", ""]) == 2
    assert sum(len(trials) for (_, reason), trials in tallies.items() if not reason) == 60


def test_a_rerun_names_what_it_replaces_and_the_other_way_round() -> None:
    rows = {row.order: row.remark for row in typical().view().trust.trials}
    assert "replaced by 60" in rows[59]
    assert rows[60] == "in place of 59"


def test_trials_that_compare_nothing_get_no_section() -> None:
    bench = many(1)
    bench.trial("", "", baseline=True, workload="mixed", load=8, purpose=Purpose.CALIBRATE)
    bench.trial("noise", "a", baseline=False, workload="mixed", load=8, purpose=Purpose.NOISE_FLOOR)
    view = bench.view()
    assert len(view.sections) == len(view.answers) == 1
    assert len(view.trust.trials) == len(bench.trials)


def test_an_experiment_that_is_not_done_says_so() -> None:
    bench = Bench(replace(typical().experiment, state=ExperimentState.INTERRUPTED, ended=None))
    bench.trial("vm.x", "0", baseline=True, workload="w", load=1, state=TrialState.PLANNED)
    bench.trial("vm.x", "1", baseline=False, workload="w", load=1, state=TrialState.PLANNED)
    view = bench.view()
    assert view.headline == "1 no verdict; the experiment is interrupted"
    assert view.sections[0].empty == "no trial has been run yet"
    assert "not ended" in view.when


def test_empty_experiment_has_a_report() -> None:
    view = Bench().view()
    assert view.headline == "nothing was compared"
    assert "No effect could be judged" in markdown.render(view)


def test_a_setting_that_cannot_act_is_a_verdict_of_its_own_in_every_form() -> None:
    bench = Bench().compare("vm.x", "0", {"1": (0.01, 0.03, Verdict.NO_EFFECT_POSSIBLE)})
    reason = "vm.x needs swap space, and the machine has no swap space"
    bench.effects = [replace(effect, reasons=(reason,)) if effect.verdict else effect for effect in bench.effects]
    view = bench.view()
    assert view.headline == "1 no effect possible"
    assert view.answers[0].sentence.startswith(f"vm.x: 1 instead of 0: no effect possible here: {reason}; +1")
    assert view.advice[0].text == "keep 0: 1 is without a possible effect"
    assert view.answers[0].decided == ""
    buffer = io.StringIO()
    text.render(view, Console(file=buffer, width=100))
    for rendered in (html.render(view), markdown.render(view), buffer.getvalue()):
        assert "no effect possible here" in " ".join(rendered.split())


def second_workload(bench: Bench, verdict: Verdict) -> Bench:
    return bench.compare("vm.x", "0", {"1": (0.0, 0.03, verdict)}, workload="oltp")


@pytest.mark.parametrize(
    ("under_mixed", "under_oltp", "kind"),
    [
        (Verdict.BETTER, Verdict.BETTER, "set"),
        (Verdict.BETTER, Verdict.EQUIVALENT, "set"),
        (Verdict.BETTER, Verdict.UNDECIDED, "set"),
        (Verdict.BETTER, Verdict.WORSE, "choose"),
        (Verdict.DEPENDS_ON_LOAD, Verdict.EQUIVALENT, "wait"),
        (Verdict.UNDECIDED, Verdict.EQUIVALENT, "wait"),
        (Verdict.WORSE, Verdict.UNDECIDED, "wait"),
        (Verdict.WORSE, Verdict.EQUIVALENT, "keep"),
        (Verdict.EQUIVALENT, Verdict.EQUIVALENT, "keep"),
        (Verdict.BETTER, Verdict.NO_EFFECT_POSSIBLE, "set"),
        (Verdict.NO_EFFECT_POSSIBLE, Verdict.EQUIVALENT, "keep"),
    ],
)
def test_advice_follows_all_workloads(under_mixed: Verdict, under_oltp: Verdict, kind: str) -> None:
    bench = Bench().compare("vm.x", "0", {"1": (0.04, 0.03, under_mixed)})
    (advice,) = second_workload(bench, under_oltp).view().advice
    assert advice.kind == kind
    if kind == "wait":
        assert "keep" not in advice.text


def test_a_level_that_is_better_at_some_load_is_chosen_by_load() -> None:
    arms = {"1": (0.02, 0.01, Verdict.DEPENDS_ON_LOAD), "2": (-0.05, 0.01, Verdict.DEPENDS_ON_LOAD)}
    view = Bench().compare("vm.x", "0", arms, tilt=0.05).view()
    assert (view.advice[0].kind, view.advice[0].text) == (
        "choose",
        "choose by your load: 1 depends on load under mixed",
    )
    assert view.recommendation == "Choose vm.x by your load"
    falling = Bench().compare("vm.x", "0", {"2": (-0.05, 0.01, Verdict.DEPENDS_ON_LOAD)}, tilt=0.05).view()
    assert falling.advice[0].text == "keep 0: 2 is shown to be better at no load level"
    assert falling.recommendation == "Keep vm.x at 0"


def test_a_report_begins_with_what_to_do() -> None:
    assert typical().view().recommendation == (
        "Set block.scheduler to none (+6.1 % throughput); choose vm.dirty by your load; "
        "keep block.read_ahead_kb at 128; 2 questions are open"
    )
    bench = typical()
    bench.experiment = replace(bench.experiment, fingerprint={"cpu": "QEMU TCG CPU version 2.5+"})
    assert bench.view().recommendation.startswith("Nothing to act on")
    assert many(4).view().recommendation


def test_a_setting_that_is_faster_and_less_safe_has_its_price_beside_it() -> None:
    recipe = replace(RECIPES["block.scheduler=none"], losses=("a power cut can destroy the database",))
    view = typical().view({"block.scheduler=none": recipe})
    assert view.recommendation.startswith(
        "Set block.scheduler to none (+6.1 % throughput) only if you accept its price: "
        "a power cut can destroy the database; choose"
    )
    assert view.advice[0].text.endswith("; its price: a power cut can destroy the database")


def test_open_arms_have_their_command_in_every_form() -> None:
    shown_view = experiment_view.view(replace(typical().input(), open_arms={"block.nr_requests": {"1024"}}))
    command = f"paribus again {shown_view.experiment}"
    assert shown_view.again == command
    out = io.StringIO()
    text.conclusions(shown_view, Console(file=out, width=80))
    for shown in (out.getvalue(), markdown.render(shown_view), html.render(shown_view)):
        assert command in shown
    assert typical().view().again == ""


def test_an_open_question_names_why_its_trials_do_not_count() -> None:
    bench = Bench().compare("vm.x", "0", {"1": (0.01, 0.03, Verdict.UNDECIDED)})
    unusable = {"state": TrialState.INVALID, "invalid_because": ("apt-get used the disk",)}
    bench.trials = [replace(trial, **(unusable if trial.order <= 4 else {})) for trial in bench.trials]
    assert bench.view().recommendation == (
        "1 question is open: vm.x, since 4 of 12 trials do not count, most for this: apt-get used the disk"
    )


def test_of_two_better_levels_the_one_with_the_surer_gain_is_set() -> None:
    arms = {"1": (0.05, 0.049, Verdict.BETTER), "2": (0.04, 0.01, Verdict.BETTER)}
    (advice,) = Bench().compare("vm.x", "0", arms).view().advice
    assert advice.text == "set 2: better than 0 under mixed; also better, but not compared with 2: 1"


def test_a_suspect_verdict_is_neither_coloured_nor_recommended() -> None:
    bench = Bench().compare("vm.x", "0", {"1": (0.05, 0.01, Verdict.BETTER)}, tags=(Tag.SUSPECT,))
    view = bench.view()
    assert view.answers[0].decided == ""
    assert view.answers[0].sentence.endswith("better, suspect")
    assert view.advice[0].kind == "wait"


def test_a_sound_gain_is_recommended_though_a_larger_one_is_suspect() -> None:
    found = {"1": (0.03, 0.01, Verdict.BETTER), "2": (0.09, 0.01, Verdict.BETTER)}
    bench = Bench().compare("vm.x", "0", found)
    bench.effects = [replace(e, tags=(Tag.SUSPECT,)) if e.arm == "2" else e for e in bench.effects]
    (advice,) = bench.view().advice
    assert (advice.kind, advice.arm) == ("set", "1")
    assert "2 seems better too, but the verdict is suspect" in advice.text


def test_an_open_question_says_why_it_is_suspect() -> None:
    bench = Bench().compare("vm.x", "0", {"1": (0.01, 0.05, Verdict.UNDECIDED)}, tags=(Tag.SUSPECT,))
    checks = (Check("drift", passed=False, finding="it drifts by 9 %"),)
    bench.effects = [replace(effect, checks=checks) for effect in bench.effects]
    assert "undecided, suspect (it drifts by 9 %): between " in sentences(bench.view())["vm.x=1"]


def test_advice_says_why_a_verdict_is_suspect() -> None:
    bench = Bench().compare("vm.x", "0", {"1": (0.05, 0.01, Verdict.BETTER)}, tags=(Tag.SUSPECT,))
    checks = (Check("order", passed=True, finding="no order"), Check("drift", passed=False, finding="it drifts by 9 %"))
    bench.effects = [replace(effect, checks=checks) for effect in bench.effects]
    (advice,) = bench.view().advice
    assert advice.text.endswith("but the verdict is suspect: repeat it first (it drifts by 9 %)")


def test_no_command_keeps_what_was_measured_on_emulated_processors() -> None:
    measured = replace(typical().input(), recipes=RECIPES)
    emulated = replace(measured.experiment, fingerprint={"cpu": "QEMU TCG CPU version 2.5+"})
    assert any(advice.recipe for advice in view(measured).advice)
    assert not any(advice.recipe for advice in view(replace(measured, experiment=emulated)).advice)


def test_a_recipe_goes_with_the_setting_that_is_recommended() -> None:
    advice = {a.factor: a for a in typical().view(RECIPES).advice}
    assert advice["block.scheduler"].recipe == RECIPES["block.scheduler=none"]
    assert advice["block.read_ahead_kb"].recipe is None


def test_a_second_response_without_a_verdict_is_shown_as_not_judged() -> None:
    bench = many(1)
    bench.effects += [as_p95(effect) for effect in bench.effects]
    section = bench.view().sections[0]
    assert [(table.title, table.judged) for table in section.effects] == [
        ("throughput", True),
        ("p95 response time", False),
    ]
    assert len(bench.view().verdicts) == 1


def as_p95(effect: Effect) -> Effect:
    return replace(effect, response="response_p95_s", verdict=None, estimate=-effect.estimate)


def test_all_trials_are_told_in_one_unit() -> None:
    assert {row.p95.split()[-1] for row in typical().view().trust.trials if row.p95} == {"ms"}


def test_the_load_levels_of_an_open_loop_are_told_as_rates() -> None:
    bench = Bench(unit=LoadUnit.RATE_PER_S)
    bench.compare("k", "a", {"b": (0.0, 0.05, Verdict.DEPENDS_ON_LOAD)}, loads=(500, 2000), tilt=0.2)
    view = bench.view()
    (section,) = view.sections
    assert "at 500/s" in sentences(view)["k=b"] and "at 2,000/s" in sentences(view)["k=b"]
    assert section.table is not None
    assert [row.load.figure for row in section.table.rows] == ["500/s", "2,000/s"]
    assert "load level (operations per second)" in str(charts.of_section(section))
    assert "| 2,000/s |" in markdown.render(view)
    assert {row.load for row in view.trust.trials} == {"500/s", "2,000/s"}


def test_measures_that_are_not_shown_are_not_passed_over_in_silence() -> None:
    bench = typical()
    odd = [replace(cell, factor="drive health", metric="wear_share") for cell in bench.cells[:2]]
    bench.cells += odd
    section = next(one for one in bench.view().sections if one.factor == "drive health")
    assert section.empty.startswith("none of its metrics appear in a report")
