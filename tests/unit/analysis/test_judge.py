"""Verdicts from trials."""

import dataclasses
import math
from collections.abc import Callable

import numpy as np
import pytest
import trial_samples as samples

from paribus.analysis.paired.effects import whole_blocks
from paribus.analysis.paired.finding import EffectInterval, Question
from paribus.analysis.paired.judge import Judgement, judge
from paribus.analysis.paired.reasons import verdict_reasons
from paribus.analysis.paired.take_looks import take_looks
from paribus.model import (
    RESPONSES,
    FailureClass,
    Measurement,
    Protocol,
    Tag,
    Trial,
    TrialState,
    Verdict,
    Workload,
)
from paribus.units import LoadLevel

PROTOCOL = Protocol(
    trial_s=60,
    settle_s=30,
    budget_s=3600,
    confidence=0.95,
    seed=1,
    margins={name: math.log1p(r.margin) for name, r in RESPONSES.items()},
    rounds=None,
)
LOADS = (1, 4, 16)
Effect = Callable[[int], float]


def _workload(response: str = "throughput_per_s") -> Workload:
    return Workload(
        name="w", kind="fileio", parameters={}, load_levels=LOADS, response=response, data="keep", cache="warm"
    )


def _experiment(
    effect: Effect, sd: float = 0.005, passes: int = 8, order_effect: float = 0.0
) -> tuple[list[Trial], dict[int, dict[str, Measurement]]]:
    rng = np.random.default_rng(11)
    trials: list[Trial] = []
    values: dict[int, dict[str, Measurement]] = {}
    for number in range(passes * len(LOADS)):
        load = LOADS[number % len(LOADS)]
        arms = ("a", "b") if (number // len(LOADS)) % 2 else ("b", "a")
        for position, arm in enumerate(arms, start=1):
            order = len(trials) + 1
            trials.append(samples.trial(order, arm, load, block=number + 1, position=position))
            log = math.log(1000 * load) + sd * rng.standard_normal() + order_effect * position
            log += effect(load) if arm == "b" else 0.0
            values[order] = {
                name: samples.measured(v, name)
                for name, v in (("throughput_per_s", math.exp(log)), ("response_p95_s", 1 / math.exp(log)))
            }
    return trials, values


def _judged(
    trials: list[Trial],
    values: dict[int, dict[str, Measurement]],
    response: str = "throughput_per_s",
    finished: bool = True,
) -> Judgement:
    """Judge the trials by one look."""
    workloads = [_workload(response)]
    looks = take_looks(trials, values, workloads, PROTOCOL, [], [("k", "w")], over=finished)
    return judge(trials, values, workloads, PROTOCOL, looks, baseline={}, finished=finished)


def _judge(effect: Effect, response: str = "throughput_per_s", **kind: float) -> Judgement:
    trials, values = _experiment(effect, **kind)  # type: ignore[arg-type]
    return _judged(trials, values, response)


def test_a_gain_beyond_the_margin_is_better_and_material() -> None:
    effect = _judge(lambda _load: 0.05).effects[0]
    assert (effect.verdict, effect.tags) == (Verdict.BETTER, (Tag.MATERIAL,))
    assert effect.low < 0.05 < effect.high
    assert effect.pairs == 24
    assert len(effect.trials) == 48


def test_lower_response_time_is_better() -> None:
    assert _judge(lambda _load: 0.2, "response_p95_s").effects[0].verdict is Verdict.BETTER
    assert _judge(lambda _load: -0.2, "response_p95_s").effects[0].verdict is Verdict.WORSE


def test_interval_within_the_margin_is_equivalent() -> None:
    effect = _judge(lambda _load: 0.0, passes=10).effects[0]
    assert effect.verdict is Verdict.EQUIVALENT
    assert -effect.margin < effect.low < effect.high < effect.margin


def test_too_few_pairs_to_show_stalls_are_not_equivalent() -> None:
    effect = _judge(lambda _load: 0.0, passes=8).effects[0]
    assert effect.verdict is Verdict.UNDECIDED
    assert any(reason.startswith("equivalence needs 29 pairs: an arm that loses 3.0%") for reason in effect.reasons)
    assert effect.would_decide.startswith("about 32 pairs instead of 24 would decide")


def test_the_interval_that_decides_equivalence_is_told_with_its_error() -> None:
    question = Question(margin=0.05, planned=16, claims=20)
    inner, wide = EffectInterval(-0.03, 0.04), EffectInterval(-0.07, 0.08)
    (reason,) = verdict_reasons(Verdict.EQUIVALENT, wide, inner, question)
    plain = reason.replace("\N{MINUS SIGN}", "-").replace(" %", "%")
    assert plain.endswith("-3.0% to +4.1% lies within ±5.1%; each errs in 5% at most")


def test_the_interval_of_a_verdict_is_the_one_that_decided() -> None:
    equal, better = (_judge(lambda _load, by=by: by, passes=12).effects[0] for by in (0.0, 0.3))
    assert equal.verdict is Verdict.EQUIVALENT and better.verdict is Verdict.BETTER
    assert equal.equivalence is not None
    assert equal.deciding == (equal.equivalence.low, equal.equivalence.high, pytest.approx(0.9))
    assert equal.low < equal.deciding[0] and equal.deciding[1] < equal.high
    assert better.deciding == (better.low, better.high, better.confidence)


def test_noise_is_undecided_and_never_called_equal() -> None:
    effect = _judge(lambda _load: 0.0, sd=0.2).effects[0]
    assert effect.verdict is Verdict.UNDECIDED
    for word in ("no difference", "same", "keep", "equal"):
        assert word not in " ".join(effect.reasons)


def test_opposite_effects_at_two_loads_are_not_called_equivalent() -> None:
    effect = _judge(lambda load: {1: 0.04, 4: 0.0, 16: -0.04}[load]).effects[0]
    assert effect.verdict is not Verdict.EQUIVALENT
    assert "differs between load levels" in " ".join(effect.reasons)


def test_each_load_level_has_its_interval_and_no_verdict() -> None:
    whole, *levels = _judge(lambda _load: 0.05).effects
    effect_width = whole.high - whole.low
    assert [effect.load for effect in levels] == [LoadLevel(n) for n in LOADS]
    assert all(effect.verdict is None and effect.pairs == 8 for effect in levels)
    assert levels[0].high - levels[0].low > effect_width


def test_an_effect_over_all_levels_has_the_change_of_each_pair() -> None:
    trials, values = _experiment(lambda _load: 0.05)
    whole, *levels = _judged(trials, values).effects
    assert len(whole.pair_changes) == whole.pairs
    assert sorted(order for pair in whole.pair_changes for order in pair.trials) == list(whole.trials)
    first = whole.pair_changes[0]
    baseline, compared = (values[order]["throughput_per_s"].mean for order in first.trials)
    assert first.log_ratio == pytest.approx(math.log(compared / baseline))
    by_order = {trial.order: trial for trial in trials}
    assert (first.block, first.load) == (by_order[first.trials[0]].block, by_order[first.trials[0]].load)
    assert not any(effect.pair_changes for effect in levels)


def test_too_few_valid_pairs_give_no_verdict() -> None:
    trials, values = _experiment(lambda _load: 0.05)
    broken = [
        dataclasses.replace(trial, state=TrialState.INVALID) if trial.block > 15 and trial.arm == "b" else trial
        for trial in trials
    ]
    judgement = _judged(broken, values)
    assert judgement.effects == ()
    assert judgement.unjudged == (
        "k = b under w was not judged: 16 valid pairs are needed (15 of 24 planned pairs are valid)",
    )


def test_superseded_trials_count_nowhere() -> None:
    trials, values = _experiment(lambda _load: 0.05)
    old = [dataclasses.replace(t, order=t.order + 100, state=TrialState.SUPERSEDED) for t in trials]
    values |= {t.order: values[1] for t in old}
    plain = _judged(trials, values)
    assert _judged(trials + old, values) == plain


def test_the_order_of_rows_changes_nothing() -> None:
    trials, values = _experiment(lambda _load: 0.05)
    forward, backward = (_judged(rows, values) for rows in (trials, trials[::-1]))
    for first, second in zip(forward.effects, backward.effects, strict=True):
        assert (first.estimate, first.low, first.high) == pytest.approx(
            (second.estimate, second.low, second.high), rel=1e-9
        )
        assert (first.verdict, first.trials) == (second.verdict, second.trials)


def test_zero_throughput_is_refused() -> None:
    trials, values = _experiment(lambda _load: 0.05)
    zero = dataclasses.replace(values[1]["throughput_per_s"], mean=0.0)
    judgement = _judged(trials, values | {1: {"throughput_per_s": zero}})
    assert judgement.effects == ()
    assert "no positive number" in judgement.unjudged[0]


def test_an_early_look_decides_a_clear_effect_and_never_changes() -> None:
    trials, values = _experiment(lambda _load: 0.05, passes=8)
    planned = [t if t.block <= 18 else dataclasses.replace(t, state=TrialState.PLANNED) for t in trials]
    (look,) = take_looks(planned, values, [_workload()], PROTOCOL, [], [("k", "w")])
    assert (look.arm, look.number, look.pairs, look.verdict) == ("b", 1, 18, Verdict.BETTER)
    assert look.alpha_spent == pytest.approx(0.05 * 18 / 24)
    assert take_looks(trials, values, [_workload()], PROTOCOL, [look], [("k", "w")], over=True) == []
    later_effects, planned_effects = (
        judge(rows, values, [_workload()], PROTOCOL, [look], baseline={}, finished=True).effects
        for rows in (trials, planned)
    )
    assert later_effects == planned_effects
    assert (planned_effects[0].low, planned_effects[0].high, planned_effects[0].pairs) == pytest.approx(
        (look.low, look.high, 18)
    )


def test_undecided_comparisons_are_looked_at_again_with_the_remaining_error() -> None:
    trials, values = _experiment(lambda _load: 0.0, sd=0.2)
    early = [t if t.block <= 18 else dataclasses.replace(t, state=TrialState.PLANNED) for t in trials]
    (first,) = take_looks(early, values, [_workload()], PROTOCOL, [], [("k", "w")])
    assert first.verdict is None
    effect = judge(early, values, [_workload()], PROTOCOL, [first], baseline={}, finished=False).effects[0]
    assert (effect.verdict, effect.tags) == (Verdict.UNDECIDED, ())
    assert effect.reasons[0] == "18 of 24 planned pairs so far; not decided yet"
    (last,) = take_looks(trials, values, [_workload()], PROTOCOL, [first], [("k", "w")], over=True)
    assert (last.number, last.pairs, last.alpha_spent) == (2, 24, pytest.approx(0.05))
    assert last.verdict is Verdict.UNDECIDED
    alone = judge(trials, values, [_workload()], PROTOCOL, [last], baseline={}, finished=True).effects[0]
    both = judge(trials, values, [_workload()], PROTOCOL, [first, last], baseline={}, finished=True).effects[0]
    assert both.low < alone.low


def test_a_look_is_repeated_from_its_own_pairs_despite_reruns() -> None:
    trials, values = _experiment(lambda _load: 0.0, sd=0.05)
    timed = [dataclasses.replace(t, started=float(t.order)) for t in trials]
    for number in (1, 2):  # the first block was made again within the first 18
        values[number + 1000] = values[number]
    rerun = [dataclasses.replace(t, order=t.order + 1000) if t.block == 1 else t for t in timed]
    early = [t for t in rerun if t.block <= 18]
    (look,) = take_looks(early, values, [_workload()], PROTOCOL, [], [("k", "w")], over=True)
    effect = judge(rerun, values, [_workload()], PROTOCOL, [look], baseline={}, finished=True).effects[0]
    assert (effect.low, effect.high) == pytest.approx((look.low, look.high))
    assert {1001, 1002} <= set(effect.trials)


def test_only_due_comparisons_are_looked_at() -> None:
    trials, values = _experiment(lambda _load: 0.05)
    assert take_looks(trials, values, [_workload()], PROTOCOL, [], [("other", "w")]) == []


def test_every_declared_response_is_judged_at_its_own_margin() -> None:
    trials, values = _experiment(lambda _load: 0.03)
    workload = dataclasses.replace(_workload(), also=("response_p95_s",))
    looks = take_looks(trials, values, [workload], PROTOCOL, [], [("k", "w")], over=True)
    effects = judge(trials, values, [workload], PROTOCOL, looks, baseline={}, finished=True).effects
    effects_by_response = {effect.response: effect for effect in effects if effect.load is None}
    assert effects_by_response["throughput_per_s"].verdict is Verdict.BETTER
    assert effects_by_response["response_p95_s"].verdict is Verdict.EQUIVALENT  # 3 % lie within 5 %
    assert {effect.confidence for effect in effects} == {0.975}  # two claims share the error


def test_before_any_look_nothing_is_judged() -> None:
    trials, values = _experiment(lambda _load: 0.05)
    judgement = judge(trials, values, [_workload()], PROTOCOL, [], baseline={}, finished=False)
    assert judgement.effects == ()
    assert "24 of 24 planned pairs are valid" in judgement.unjudged[0]


def test_an_arm_with_many_invalid_trials_is_suspect() -> None:
    trials, values = _experiment(lambda _load: 0.05)
    spoilt = [
        dataclasses.replace(t, order=t.order + 100, state=TrialState.SUPERSEDED, invalid_because=("errors",))
        for t in trials
        if t.arm == "b" and t.block <= 8
    ]
    effect = _judged(trials + spoilt, values).effects[0]
    assert Tag.SUSPECT in effect.tags
    assert any(reason.startswith("unusable trials: 8 of b, 0 of a") for reason in effect.reasons)


@pytest.mark.parametrize("arms", ["b", "ab"])
def test_pairs_that_one_arm_lost_count_at_their_worst(arms: str) -> None:
    trials, values = _experiment(lambda _load: 0.017, sd=0.015)
    lost = [
        dataclasses.replace(t, order=t.order - 100, state=TrialState.SUPERSEDED, invalid_because=("errors",))
        for t in trials
        if t.arm in arms and t.block <= 10
    ]
    alone, with_lost = (_judged(rows, values).effects[0] for rows in (trials, [*trials, *lost]))
    assert alone.verdict is Verdict.BETTER
    if arms == "ab":  # something else disturbed both arms alike
        assert with_lost == dataclasses.replace(alone, checks=with_lost.checks)
    else:
        assert with_lost.verdict is Verdict.UNDECIDED
        assert with_lost.low < alone.low
        assert with_lost.high > alone.high


def test_trials_lost_after_a_look_do_not_change_it() -> None:
    trials, values = _experiment(lambda _load: 0.05)
    early = [t for t in trials if t.block <= 18]
    spoilt = [
        dataclasses.replace(
            t, order=t.order + 1000, block=t.block, state=TrialState.INVALID, invalid_because=("errors",)
        )
        for t in trials
        if t.arm == "b" and t.block > 18
    ]
    (look,) = take_looks(early, values, [_workload()], PROTOCOL, [], [("k", "w")], over=True)
    effect = judge([*early, *spoilt], values, [_workload()], PROTOCOL, [look], baseline={}, finished=True).effects[0]
    assert (effect.low, effect.high) == pytest.approx((look.low, look.high))
    assert Tag.SUSPECT in effect.tags


def test_a_refused_arm_does_not_spoil_the_others() -> None:
    trials, values = _experiment(lambda _load: 0.05)
    third = [
        dataclasses.replace(
            t,
            order=t.order + 200,
            arm="c",
            state=TrialState.FAILED if t.block < 3 else TrialState.PLANNED,
            failure=FailureClass.SETTING_REJECTED if t.block < 3 else None,
        )
        for t in trials
        if t.arm == "b"
    ]
    judgement = _judged(trials + third, values)
    assert judgement.effects[0].verdict is Verdict.BETTER
    assert "k = c under w was not judged" in judgement.unjudged[0]


def test_one_refusal_among_several_trials_of_a_block_spoils_that_block_of_the_arm_only() -> None:
    trials, values = _experiment(lambda _load: 0.05)
    second_pass = [dataclasses.replace(t, order=t.order + 100, position=t.position + 2) for t in trials]
    values |= {t.order: values[t.order - 100] for t in second_pass}
    refused = next(t for t in second_pass if t.arm == "b" and t.block == 5)
    second_pass[second_pass.index(refused)] = dataclasses.replace(
        refused, state=TrialState.FAILED, failure=FailureClass.SETTING_REJECTED
    )
    blocks = whole_blocks([*trials, *second_pass])
    assert {trial.arm for trial in blocks[5]} == {"a"}
    assert len(blocks[4]) == 4
    assert _judged([*trials, *second_pass], values).effects[0].verdict is Verdict.BETTER


def test_an_arm_that_counts_twice_stops_everything() -> None:
    trials, values = _experiment(lambda _load: 0.05)
    with pytest.raises(AssertionError, match="counts twice"):
        _judged([*trials, dataclasses.replace(trials[0], order=999)], values)


def test_throughput_and_mean_response_time_of_a_closed_loop_are_one_test() -> None:
    """By Little's law they are the same quantity: the mean is shown in cells, but cannot be judged in addition."""
    assert "response_mean_s" not in RESPONSES
    trials, values = _experiment(lambda _load: 0.05)
    for measured in values.values():
        measured["response_mean_s"] = dataclasses.replace(measured["response_p95_s"], metric="response_mean_s")
    judgement = _judged(trials, values)
    assert {effect.response for effect in judgement.effects} == {"throughput_per_s"}
    assert "response_mean_s" in {cell.metric for cell in judgement.cells}


def test_a_verdict_states_the_time_that_it_covers() -> None:
    trials, values = _experiment(lambda _load: 0.05)
    timed = [dataclasses.replace(t, started=100.0 * t.order, ended=100.0 * t.order + 95) for t in trials]
    reasons = _judged(timed, values).effects[0].reasons
    assert any(reason.startswith("measured within 1 h 20 min, in trials of at most 1 min 35 s") for reason in reasons)
    assert not any("measured within" in reason for reason in _judged(trials, values).effects[0].reasons)
