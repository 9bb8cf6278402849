"""Screens from trials to effects, and their confirmation."""

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
import pytest
import trial_samples as samples
from plan_samples import FILEIO, checked, simple

from paribus.analysis.paired.judge import Judgement, judge
from paribus.analysis.screening.screen import survivors
from paribus.experiment.interim_analysis import looks_at, to_confirm, underway
from paribus.model import Effect, Look, Measurement, Plan, Purpose, Tag, Trial, TrialState, Verdict
from paribus.plan.schedule.design import schedule

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


def test_an_unconfirmed_claim_is_suspect_and_equivalence_is_not() -> None:
    plan, trials, values, looks = _screen([0.04, 0.0, 0.0, 0.0])
    effects_by_factor = _by_factor(_judge(plan, trials, values, looks))
    assert Tag.SUSPECT in effects_by_factor[KEYS[0]].tags
    assert any(
        "not confirmed in separate trials; false discovery" in reason for reason in effects_by_factor[KEYS[0]].reasons
    )
    assert Tag.SUSPECT not in effects_by_factor[KEYS[2]].tags


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
    added, message = to_confirm(plan, trials, looks, {"fileio": 0.02})
    assert KEYS[0] in message
    assert {trial.purpose for trial in added} == {Purpose.CONFIRM}
    confirming, measured = _made(plan, added, [alone, 0.0, 0.0, 0.0], seed=6)
    assert to_confirm(plan, [*trials, *confirming], looks, {}) == ((), None)
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


def test_too_few_pairs_are_not_judged() -> None:
    plan = _plan()
    trials, values = _made(plan, schedule(plan, "e", 4), [0.04, 0.0, 0.0, 0.0])
    looks = looks_at(underway(plan, trials), plan, trials, values, [], over=True)
    assert looks == []
    judged = _judge(plan, trials, values, looks)
    assert judged.effects == ()
    assert "the screen of 4 factors under fileio was not judged: 48 valid pairs" in judged.unjudged[0]
