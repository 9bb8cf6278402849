"""Screens from trials to effects, and their confirmation."""

import dataclasses
import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import trial_samples as samples
from plan_samples import FILEIO, checked, simple

from paribus.analysis.paired.judge import Judgement, judge
from paribus.analysis.screening.screen import survivors
from paribus.experiment.after_screen import following
from paribus.experiment.interim_analysis import looks_at, underway
from paribus.model import Check, Effect, Look, Measurement, Plan, Purpose, Tag, Trial, TrialState, Verdict
from paribus.plan.schedule.design import schedule
from paribus.units import LoadLevel, LoadUnit

KEYS = ("vm.swappiness", "vm.dirty", "block.rq_affinity", "block.read_ahead_kb")
LEVELS = ("[60, 1]", '["20%", "10%"]', "[1, 2]", "[128, 0]")
FACTORS = "\n".join(f'"{key}" = {levels}' for key, levels in zip(KEYS, LEVELS, strict=True))
Values = dict[int, dict[str, Measurement]]


def _plan(protocol: str = "") -> Plan:
    return checked(simple(FACTORS, FILEIO, f'[protocol]\nbudget = "24h"\n{protocol}'))


def _made(plan: Plan, trials: Sequence[Trial], effects: Sequence[float], seed: int = 5) -> tuple[list[Trial], Values]:
    """Return the trials as done, with each factor's log effect at its index; the last two factors interact."""
    rng = np.random.default_rng(seed)
    values: Values = {}
    for trial in trials:
        high = [trial.settings[factor.key] == factor.levels[1] for factor in plan.factors]
        log_rate = 9 + trial.load.n / 10 + sum(effect for effect, is_high in zip(effects, high, strict=True) if is_high)
        rate = math.exp(log_rate + 0.3 * (high[2] == high[3]) + rng.normal(0, 0.01))
        values[trial.order] = {"throughput_per_s": samples.measured(rate, total=60 * rate)}
    start_s = {trial.order: 100.0 * trial.order for trial in trials}
    done = [
        dataclasses.replace(trial, state=TrialState.DONE, started=start_s[trial.order], ended=start_s[trial.order] + 90)
        for trial in trials
    ]
    return done, values


def _judge(plan: Plan, trials: Sequence[Trial], values: Values, looks: Sequence[Look]) -> Judgement:
    return judge(
        trials,
        values,
        plan.workloads,
        plan.protocol,
        looks,
        baseline=plan.baseline,
        finished=True,
        factors=plan.factors,
    )


def _screen(effects: Sequence[float]) -> tuple[Plan, list[Trial], Values, list[Look]]:
    plan = _plan()
    trials, values = _made(plan, schedule(plan, "e", 8), effects)
    return plan, trials, values, looks_at(underway(plan, trials), plan, trials, values, [], over=False)


def _by_factor(judged: Judgement) -> dict[str, Effect]:
    return {effect.factor: effect for effect in judged.effects if effect.load is None}


def test_every_factor_is_judged_from_the_same_pairs_despite_interactions() -> None:
    plan, trials, values, looks = _screen([0.04, -0.03, 0.0, 0.0])
    effects_by_factor = _by_factor(_judge(plan, trials, values, looks))
    assert {key: effects_by_factor[key].verdict for key in KEYS} == {
        KEYS[0]: Verdict.BETTER,
        KEYS[1]: Verdict.WORSE,
        KEYS[2]: Verdict.EQUIVALENT,
        KEYS[3]: Verdict.EQUIVALENT,
    }
    assert effects_by_factor[KEYS[0]].estimate == pytest.approx(0.04, abs=0.005)
    assert {effect.pairs for effect in effects_by_factor.values()} == {64}
    assert survivors(looks) == [(KEYS[0], "fileio"), (KEYS[1], "fileio")]


def _checks(factor: int, change: Callable[[list[Trial], Values, Plan], list[Trial]]) -> dict[str, Check]:
    """The checks of a factor after a change of the trials or of what they measured."""
    plan = _plan()
    trials, values = _made(plan, schedule(plan, "e", 8), [0.0] * 4)
    trials = change(trials, values, plan)
    looks = looks_at(underway(plan, trials), plan, trials, values, [], over=False)
    return {check.name: check for check in _by_factor(_judge(plan, trials, values, looks))[KEYS[factor]].checks}


def _scaled(values: Values, order: int, ratio: float) -> None:
    rate = values[order]["throughput_per_s"]
    values[order]["throughput_per_s"] = dataclasses.replace(rate, mean=rate.mean * ratio)


def _is_high(trial: Trial, plan: Plan, factor: int) -> bool:
    return trial.settings[KEYS[factor]] == plan.factors[factor].levels[1]


def test_a_level_of_one_factor_that_changes_the_next_trial_is_seen() -> None:
    def carry_over(trials: list[Trial], values: Values, plan: Plan) -> list[Trial]:
        for earlier, later in itertools.pairwise(trials):
            if _is_high(earlier, plan, 2):
                _scaled(values, later.order, 0.94)
        return trials

    check = _checks(2, carry_over)["carry-over"]
    assert not check.passed
    assert check.finding.startswith("a trial that follows 2 changes by −6")
    assert check.finding.endswith("would be seen: settle longer, or recreate the data for each application")
    assert _checks(3, carry_over)["carry-over"].passed


def test_stalls_at_a_level_of_one_factor_are_seen() -> None:
    def stall(trials: list[Trial], values: Values, plan: Plan) -> list[Trial]:
        for trial in [trial for trial in trials if _is_high(trial, plan, 1)][::6]:
            _scaled(values, trial.order, 0.7)
        return trials

    assert not _checks(1, stall)["outliers"].passed
    assert _checks(0, stall)["outliers"].passed


def test_unusable_trials_at_a_level_of_one_factor_are_seen() -> None:
    def disturb(trials: list[Trial], _values: Values, plan: Plan) -> list[Trial]:
        blocks = {trial.block for trial in trials if _is_high(trial, plan, 0)}
        for block in sorted(blocks)[:9]:
            (first, second) = (trial for trial in trials if trial.block == block)
            disturbed = first if _is_high(first, plan, 0) else second
            rerun = dataclasses.replace(disturbed, order=1000 + disturbed.order, attempt=2, supersedes=disturbed.order)
            trials = [trial for trial in trials if trial.order != disturbed.order] + [
                dataclasses.replace(disturbed, state=TrialState.SUPERSEDED, invalid_because=("disturbed",)),
                rerun,
            ]
            _values[rerun.order] = _values[disturbed.order]
        return trials

    check = _checks(0, disturb)["reruns"]
    assert not check.passed
    assert check.finding.startswith("unusable trials: 9 of 1, 0 of 60")


def test_an_unconfirmed_claim_is_suspect_and_equivalence_is_not() -> None:
    plan, trials, values, looks = _screen([0.04, 0.0, 0.0, 0.0])
    effects_by_factor = _by_factor(_judge(plan, trials, values, looks))
    assert Tag.SUSPECT in effects_by_factor[KEYS[0]].tags
    assert any(
        "not confirmed in separate trials; false discovery" in reason for reason in effects_by_factor[KEYS[0]].reasons
    )
    assert Tag.SUSPECT not in effects_by_factor[KEYS[2]].tags


def test_a_screen_says_for_how_long_it_holds_and_what_its_load_hides() -> None:
    plan, trials, values, looks = _screen([0.0, 0.0, 0.0, 0.0])
    effect = _by_factor(_judge(plan, trials, values, looks))[KEYS[0]]
    assert any(reason.startswith("measured within ") and "1 min 30 s" in reason for reason in effect.reasons)
    assert Tag.CAPPED not in effect.tags

    rated = [dataclasses.replace(trial, load=LoadLevel(trial.load.n, LoadUnit.RATE_PER_S)) for trial in trials]
    capped = _by_factor(_judge(plan, rated, values, looks))[KEYS[0]]
    assert Tag.CAPPED in capped.tags
    assert any("delivered the rate that was asked for" in reason for reason in capped.reasons)


def test_cells_show_each_factors_levels_over_all_settings_of_the_others() -> None:
    plan, trials, values, looks = _screen([0.5, 0.0, 0.0, 0.0])
    means = {
        (cell.factor, cell.arm, cell.load.n): cell.mean
        for cell in _judge(plan, trials, values, looks).cells
        if cell.metric == "throughput_per_s"
    }
    assert math.log(means[KEYS[0], "1", 4] / means[KEYS[0], "60", 4]) == pytest.approx(0.5, abs=0.02)
    assert math.log(means[KEYS[2], "2", 4] / means[KEYS[2], "1", 4]) == pytest.approx(0.0, abs=0.2)


@pytest.mark.parametrize(("alone", "verdict"), [(0.04, Verdict.BETTER), (-0.04, Verdict.UNDECIDED)])
def test_confirmation_replaces_the_claim_and_a_contradiction_is_undecided(alone: float, verdict: Verdict) -> None:
    plan, trials, values, looks = _screen([0.04, 0.0, 0.0, 0.0])
    added, message = following(plan, trials, looks, {"fileio": 0.02})
    assert KEYS[0] in message
    assert {trial.purpose for trial in added} == {Purpose.CONFIRM}
    confirming, measured = _made(plan, added, [alone, 0.0, 0.0, 0.0], seed=6)
    assert following(plan, [*trials, *added], looks, {}) == ((), None)
    all_trials, all_values = [*trials, *confirming], {**values, **measured}
    confirming_looks = looks_at(underway(plan, all_trials), plan, all_trials, all_values, looks, over=True)
    assert {look.purpose for look in confirming_looks} == {Purpose.CONFIRM}
    judged = _judge(plan, all_trials, all_values, [*looks, *confirming_looks])
    effects_by_factor = _by_factor(judged)
    assert effects_by_factor[KEYS[0]].verdict is verdict
    assert effects_by_factor[KEYS[0]].pairs == 32
    assert any("before, a screen showed +4" in reason for reason in effects_by_factor[KEYS[0]].reasons)
    assert len([effect for effect in judged.effects if effect.load is None]) == 4
    assert not judged.unjudged


@pytest.mark.parametrize(
    ("alone", "verdict", "reason"),
    [
        (0.05, Verdict.BETTER, "before, a screen showed"),
        (0.0, Verdict.EQUIVALENT, "settings of the other factors; alone, 16 pairs show between"),
    ],
)
def test_factors_equivalent_on_average_are_tried_alone_once(alone: float, verdict: Verdict, reason: str) -> None:
    plan, trials, values, looks = _screen([0.0, 0.0, 0.0, 0.0])
    added, message = following(plan, trials, looks, {"fileio": 0.02})
    assert message == f"equivalent on average in the screen, and tried alone from here on: {', '.join(sorted(KEYS))}"
    assert {trial.purpose for trial in added} == {Purpose.ALONE}
    assert len({trial.arm for trial in added}) == 5, "four factors share the trials of the baseline"
    assert len({trial.block for trial in added}) == 16
    tried, measured = _made(plan, added, [alone, 0.0, 0.0, 0.0], seed=6)
    all_trials, all_values = [*trials, *tried], {**values, **measured}
    assert following(plan, all_trials, looks, {}) == ((), None)
    alone_looks = looks_at(underway(plan, all_trials), plan, all_trials, all_values, looks, over=True)
    assert {look.purpose for look in alone_looks} == {Purpose.ALONE}
    judged = _judge(plan, all_trials, all_values, [*looks, *alone_looks])
    effects_by_factor = _by_factor(judged)
    assert effects_by_factor.keys() == set(KEYS)
    assert effects_by_factor[KEYS[0]].verdict is verdict
    assert any(reason in text for text in effects_by_factor[KEYS[0]].reasons)
    assert Tag.AVERAGE not in effects_by_factor[KEYS[0]].tags
    assert Tag.AVERAGE in _by_factor(_judge(plan, trials, values, looks))[KEYS[0]].tags


def test_too_few_pairs_are_not_judged() -> None:
    plan = _plan()
    trials, values = _made(plan, schedule(plan, "e", 4), [0.04, 0.0, 0.0, 0.0])
    looks = looks_at(underway(plan, trials), plan, trials, values, [], over=True)
    assert looks == []
    judged = _judge(plan, trials, values, looks)
    assert judged.effects == ()
    assert "the screen of 4 factors under fileio was not judged: 48 valid pairs" in judged.unjudged[0]
