"""Every check detects its fault, and passes without it."""

import dataclasses
import itertools
import math
import random
import re
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import trial_samples as samples
from test_judge import LOADS, PROTOCOL, _experiment, _judged, _workload

from paribus.analysis.paired.checks.carry_over import exposure
from paribus.analysis.paired.checks.check_context import Timeline
from paribus.analysis.paired.effects import pair_series
from paribus.analysis.paired.judge import judge
from paribus.analysis.paired.take_looks import take_looks
from paribus.model import Check, Effect, Measurement, Protocol, Purpose, Tag, Trial, TrialState, Verdict
from paribus.plan.schedule.design import blocks

Values = dict[int, dict[str, Measurement]]


def _timed(trials: list[Trial]) -> list[Trial]:
    return [dataclasses.replace(trial, started=60.0 * trial.order) for trial in trials]


def _scaled(values: Values, order: int, factor: float) -> None:
    measurement = values[order]["throughput_per_s"]
    values[order]["throughput_per_s"] = dataclasses.replace(measurement, mean=measurement.mean * factor)


def _time_series(trials: list[Trial], rise: float = 0.0, arm: str = "b") -> dict[int, Measurement]:
    rng = np.random.default_rng(3)
    series = {}
    for trial in trials:
        slope = rise if trial.arm == arm else 0.0
        points = tuple(1000 * (1 + slope * np.linspace(-1, 1, 30)) * np.exp(0.01 * rng.standard_normal(30)))
        series[trial.order] = samples.measured(1000, points=points)
    return series


def _checks(
    trials: list[Trial],
    values: Values,
    courses: dict[int, Measurement] | None = None,
    drives: dict[str, list[int]] | None = None,
    conditions: dict[int, dict[str, str]] | None = None,
    protocol: Protocol = PROTOCOL,
) -> tuple[dict[str, Check], tuple[Tag, ...]]:
    workloads = [_workload()]
    looks = take_looks(trials, values, workloads, protocol, [], [("k", "w")], over=True)
    series_by_response = {"throughput_per_s": courses} if courses else {}
    judgement = judge(
        trials,
        values,
        workloads,
        protocol,
        looks,
        baseline={},
        finished=True,
        courses=series_by_response,
        drives=drives or {},
        conditions=conditions or {},
    )
    effect = judgement.effects[0]
    return {check.name: check for check in effect.checks}, effect.tags


def _effect(trials: list[Trial], values: Values, protocol: Protocol) -> Effect:
    """The effect of the arm `b`."""
    workloads = [_workload()]
    looks = take_looks(trials, values, workloads, protocol, [], [("k", "w")], over=True)
    judgement = judge(trials, values, workloads, protocol, looks, baseline={}, finished=True)
    return next(effect for effect in judgement.effects if effect.arm == "b")


def test_good_data_pass_every_check() -> None:
    trials, values = _experiment(lambda _load: 0.0)
    trials = _timed(trials)
    checks, tags = _checks(trials, values, _time_series(trials))
    assert set(checks) == {
        "order",
        "carry-over",
        "settled",
        "steady",
        "outliers",
        "reruns",
        "the laws",
        "independence",
        "drift",
    }
    assert [check for check in checks.values() if not check.passed] == []
    assert Tag.SUSPECT not in tags


def test_every_check_that_can_fail_states_its_limit() -> None:
    trials, values = _experiment(lambda _load: 0.0)
    trials = _timed(trials)
    checks, _ = _checks(trials, values, _time_series(trials))
    limits = {name: check.limit for name, check in checks.items()}
    assert limits.pop("order") == limits.pop("drift") == ""
    assert limits["reruns"] == "p is 100 %, limit 5 %"
    assert limits["the laws"] == "limit 0"
    half_margin = f"limit {math.expm1(PROTOCOL.margins['throughput_per_s'] / 2) * 100:.1f} % with p below "
    assert re.fullmatch(rf"{half_margin}1 %; p is \S+ %", limits["carry-over"])
    assert re.fullmatch(rf"{half_margin}5 %; p is \S+ %", limits["settled"])
    assert re.fullmatch(r"limit \S+ % with p below 1 %; here \S+ %, p is \S+ %", limits["steady"])
    assert re.fullmatch(r"limit ±0\.\d\d", limits["independence"])
    assert re.fullmatch(r"p is \S+ %, limit 6\.2 %", limits["outliers"])


def test_a_carry_over_beyond_its_limit_is_named_with_a_small_p() -> None:
    trials, values = _experiment(lambda _load: 0.0)
    checks, _ = _checks(_carried_over(trials, values, 0.95), values)
    assert not checks["carry-over"].passed
    assert checks["carry-over"].limit.endswith("p is under 0.01 %")


def test_a_trial_that_breaks_a_law_makes_the_verdict_suspect() -> None:
    trials, values = _experiment(lambda _load: 0.0)
    trials = _timed(trials)
    order = trials[7].order
    for metric, value in (("response_p50_s", 0.004), ("response_max_s", 0.002)):
        values[order][metric] = dataclasses.replace(values[order]["response_p95_s"], metric=metric, mean=value)
    checks, tags = _checks(trials, values)
    assert not checks["the laws"].passed
    assert checks["the laws"].finding.startswith(f"the figures of 1 of {len(trials)} trials contradict each other; ")
    assert f"[trial {order}, k" in checks["the laws"].finding
    assert Tag.SUSPECT in tags


def test_a_gain_of_the_later_trial_is_named_and_blamed_on_no_arm() -> None:
    trials, values = _experiment(lambda _load: 0.0, order_effect=0.05)
    checks, tags = _checks(_timed(trials), values)
    assert checks["order"].finding == "the later trial of a pair changes by +5.0 %, for which the effect is adjusted"
    assert checks["order"].passed
    assert Tag.SUSPECT not in tags


def _carried_over(trials: list[Trial], values: Values, factor: float) -> list[Trial]:
    trials = _timed(trials)
    for earlier, later in itertools.pairwise(trials):
        if earlier.arm == "b":
            _scaled(values, later.order, factor)
    return trials


def test_an_effect_on_the_next_trial_is_a_carry_over() -> None:
    trials, values = _experiment(lambda _load: 0.0)
    trials = _carried_over(trials, values, 0.95)
    checks, tags = _checks(trials, values)
    assert not checks["carry-over"].passed
    assert checks["carry-over"].finding.endswith("would be seen: set wash_out = true")
    assert Tag.SUSPECT in tags
    washed_out = dataclasses.replace(PROTOCOL, washed_out=("k",), trial_s=60.0)
    checks, _ = _checks(trials, values, protocol=washed_out)
    assert not checks["carry-over"].passed
    assert "after 1 min of wash-out" in checks["carry-over"].finding


def test_a_wash_out_for_longer_than_a_trial_says_for_how_long() -> None:
    trials, values = _experiment(lambda _load: 0.0)
    washed_out = dataclasses.replace(PROTOCOL, washed_out=("k",), trial_s=60.0, wash_s=180.0)
    checks, _ = _checks(_timed(trials), values, protocol=washed_out)
    assert "after 3 min of wash-out" in checks["carry-over"].finding
    assert "half of it lasts" not in checks["carry-over"].finding


def test_the_passed_check_says_which_carry_over_it_would_have_seen() -> None:
    trials, values = _experiment(lambda _load: 0.0)
    checks, _ = _checks(_timed(trials), values)
    visible = re.search(
        r"; (\S+) % would be seen, and (\S+) % where half of it lasts for each further trial$",
        checks["carry-over"].finding,
    )
    assert visible
    of_next, of_all = (1.3 * float(percent) / 100 for percent in visible.groups())
    trials, values = _experiment(lambda _load: 0.0)
    trials = _carried_over(trials, values, 1 - of_next)
    assert not _checks(trials, values)[0]["carry-over"].passed
    trials, values = _experiment(lambda _load: 0.0)
    left = 0.0
    for trial in trials:
        _scaled(values, trial.order, 1 - of_all * left)
        left = left / 2 + (trial.arm == "b")
    assert not _checks(_timed(trials), values)[0]["carry-over"].passed


@pytest.mark.parametrize("washes", [0, 1, 2])
def test_the_residue_of_trials_follows_their_order(washes: int) -> None:
    made, values = _experiment(lambda _load: 0.0)
    trials = _timed(made)
    residue, last, left = 0.0, "", {}
    for trial in trials:
        for _ in range(washes if trial.position == 1 and trial.arm != last else 0):
            residue = residue / 2 + (trial.arm == "b")
        left[trial.order] = residue
        residue, last = residue / 2 + (trial.arm == "b"), trial.arm
    (series,) = pair_series(trials, values, {"w": "throughput_per_s"})
    expected = [[left[pair.sides[1][0]], left[pair.sides[0][0]]] for pair in series.pairs]
    assert exposure(series, Timeline.of(trials).before, washes) == pytest.approx(np.array(expected))


def test_several_arms_are_adjusted_for_carry_over() -> None:
    rng = np.random.default_rng(7)
    trials: list[Trial] = []
    values: Values = {}
    for number, (_, load, row) in enumerate(blocks(LOADS, 3, 12, random.Random(3)), start=1):
        for position, index in enumerate(row, start=1):
            order, follows_b = len(trials) + 1, bool(trials) and trials[-1].arm == "b"
            trials.append(samples.trial(order, "abc"[index], load, block=number, position=position))
            log_rate = 7 + 0.005 * rng.standard_normal() + math.log(0.97) * follows_b
            values[order] = {"throughput_per_s": samples.measured(math.exp(log_rate))}
    plain, adjusted = (
        _effect(_timed(trials), values, dataclasses.replace(PROTOCOL, washed_out=names)) for names in ((), ("k",))
    )
    assert plain.estimate > 0.005 > 2 * abs(adjusted.estimate)
    (check,) = (check for check in adjusted.checks if check.name == "carry-over")
    assert check.passed
    assert check.finding.endswith("for which the effect is adjusted")


def test_an_unsettled_arm_shows_within_its_trials() -> None:
    trials, values = _experiment(lambda _load: 0.0)
    trials = _timed(trials)
    checks, _ = _checks(trials, values, _time_series(trials, rise=0.03))
    assert not checks["settled"].passed
    assert "+4" in checks["settled"].finding


def test_an_effect_that_turns_is_told_by_phase() -> None:
    trials, values = _experiment(lambda _load: 0.0, passes=18)
    last = trials[-1].block
    for trial in trials:
        if trial.arm == "b":
            _scaled(values, trial.order, math.exp(-0.04 if trial.block <= last / 2 else 0.04))
    checks, tags = _checks(_timed(trials), values)
    assert not checks["steady"].passed
    phases = (
        "the effect of b is \N{MINUS SIGN}3.9 % in the first half and +3.9 % in the second: "
        "repeat the experiment in the phase that matters"
    )
    assert checks["steady"].finding == phases
    assert Tag.SUSPECT in tags


def test_a_steady_effect_passes_with_the_change_that_would_have_been_seen() -> None:
    trials, values = _experiment(lambda _load: 0.05, passes=18)
    checks, _ = _checks(_timed(trials), values)
    assert checks["steady"].passed
    assert checks["steady"].finding.endswith("would have been seen")


def test_small_changes_within_trials_pass() -> None:
    trials, values = _experiment(lambda _load: 0.0)
    trials = _timed(trials)
    checks, _ = _checks(trials, values, _time_series(trials, rise=0.005))
    assert checks["settled"].passed
    assert "+0." in checks["settled"].finding


def test_an_arm_that_stalls_again_and_again_has_the_outliers() -> None:
    trials, values = _experiment(lambda _load: 0.0, passes=18)
    for trial in trials:
        if trial.arm == "b" and trial.block % 6 == 0:
            _scaled(values, trial.order, 0.5)
    checks, tags = _checks(_timed(trials), values)
    assert not checks["outliers"].passed
    assert checks["outliers"].finding == "9 trials of b and 0 of a are outliers"
    assert {Tag.STALLS, Tag.SUSPECT} <= set(tags)


@pytest.mark.parametrize("response", ["throughput_per_s", "response_p95_s"])
@pytest.mark.parametrize("arm", ["a", "b"])
def test_stalls_are_named_with_their_share_and_size(arm: str, response: str) -> None:
    trials, values = _experiment(lambda _load: 0.0, passes=18)
    worse = 0.5 if response == "throughput_per_s" else 2.0
    for trial in trials:
        if trial.arm == arm and trial.block % 9 == 0:
            measurement = values[trial.order][response]
            values[trial.order][response] = dataclasses.replace(measurement, mean=measurement.mean * worse)
    effect = _judged(trials, values, response).effects[0]
    (stalls,) = [reason for reason in effect.reasons if reason.startswith("stalls")]
    other = "ab".replace(arm, "")
    assert stalls.startswith(f"stalls: 6 of 54 trials of {arm}, which change by ")
    assert ("\N{MINUS SIGN}50." in stalls or "\N{MINUS SIGN}49." in stalls) is (response == "throughput_per_s")
    assert stalls.endswith(f"and 0 of {other}")
    assert effect.verdict is not Verdict.EQUIVALENT


def test_a_drift_is_told_and_is_no_fault() -> None:
    trials, values = _experiment(lambda _load: 0.0)
    trials = _timed(trials)
    for trial in trials:
        _scaled(values, trial.order, math.exp(-0.2 * trial.order / len(trials)))
    checks, _ = _checks(trials, values)
    assert checks["drift"].passed
    assert "drifted by −1" in checks["drift"].finding


@pytest.mark.parametrize(("apart", "passed"), [(0.0, True), (0.05, False)])
def test_a_baseline_that_differs_from_itself_makes_all_suspect(apart: float, passed: bool) -> None:
    trials, values = _experiment(lambda _load: 0.0)
    equals, measured = _experiment(lambda _load: apart)
    for trial in equals:
        order = trial.order + 1000
        values[order] = measured[trial.order]
        arm = "baseline" if trial.baseline else "baseline again"
        trials.append(
            dataclasses.replace(
                trial, order=order, block=trial.block + 1000, factor="noise floor", arm=arm, purpose=Purpose.NOISE_FLOOR
            )
        )
    checks, tags = _checks(trials, values)
    assert checks["noise floor"].passed is passed
    assert (Tag.SUSPECT in tags) is not passed


def test_an_arm_with_many_invalid_trials_is_suspect() -> None:
    trials, values = _experiment(lambda _load: 0.0)
    spoilt = [
        dataclasses.replace(t, order=t.order - 1000, state=TrialState.SUPERSEDED, invalid_because=("errors",))
        for t in trials
        if t.arm == "b" and t.block <= 8
    ]
    checks, _ = _checks(trials + spoilt, values)
    assert not checks["reruns"].passed
    assert checks["reruns"].finding == (
        "unusable trials: 8 of b, 0 of a; the interval allows for 8 lost pairs that are all as low, or all as high, as "
        "the most extreme one"
    )


@pytest.mark.parametrize(
    ("of_b", "of_a", "passed"),
    [
        (range(1, 5), (), True),
        (range(1, 6), (), False),  # five to none
        ((), range(1, 6), False),
        (range(1, 6), range(1, 6), True),  # the same blocks, where something else happened
        ((), range(500, 520), True),  # blocks that this arm was not in
    ],
)
def test_unusable_trials_are_compared_in_the_blocks_of_the_arm(
    of_b: Sequence[int], of_a: Sequence[int], passed: bool
) -> None:
    trials, values = _experiment(lambda _load: 0.0)
    model = {trial.arm: trial for trial in trials}
    spoilt = [
        dataclasses.replace(
            model[arm], order=1000 + 100 * "ab".index(arm) + block, block=block, state=TrialState.SUPERSEDED,
            invalid_because=("errors",),
        )
        for arm, blocks in (("b", of_b), ("a", of_a))
        for block in blocks
    ]  # fmt: skip
    checks, _ = _checks(trials + spoilt, values)
    assert checks["reruns"].passed is passed


@pytest.mark.parametrize(("operations", "passed"), [(2000.0, False), (20_000.0, True)])
def test_a_percentile_needs_enough_completions(operations: float, passed: bool) -> None:
    trials, values = _experiment(lambda _load: 0.0)
    for measured in values.values():
        measured["throughput_per_s"] = dataclasses.replace(measured["throughput_per_s"], total=operations)
        measured["response_p99_s"] = dataclasses.replace(measured["response_p95_s"], metric="response_p99_s")
    workloads = [_workload("response_p99_s")]
    looks = take_looks(trials, values, workloads, PROTOCOL, [], [("k", "w")], over=True)
    effect = judge(trials, values, workloads, PROTOCOL, looks, baseline={}, finished=True).effects[0]
    completions = {check.name: check for check in effect.checks}["completions"]
    assert completions.passed is passed
    assert passed or "lengthen trial" in completions.finding


def _set_machine_metric(values: Values, metric: str, value: Callable[[int], float]) -> None:
    """Set the sampler's metric in each trial, by its number."""
    for order, measured in values.items():
        reading = value(order)
        measured[metric] = dataclasses.replace(
            measured["throughput_per_s"],
            metric=metric,
            source="sample",
            mean=reading,
            low=reading,
            high=reading,
            total=reading,
        )


@pytest.mark.parametrize(
    ("metric", "base", "arm", "name"),
    [
        ("cpu_clock_hz", 3.0e9, 2.9e9, "clock"),
        ("cpu_steal_share", 0.0, 0.05, "steal"),
        ("cpu_throttled", 0.0, 1.0, "throttling"),
        ("device_errors", 0.0, 1.0, "disk errors"),
    ],
)
def test_a_machine_that_differs_between_arms_is_reported(metric: str, base: float, arm: float, name: str) -> None:
    trials, values = _experiment(lambda _load: 0.0)
    trials = _timed(trials)
    arms = {trial.order: trial.arm for trial in trials}
    rng = np.random.default_rng(1)
    noise = {order: rng.normal(1, 0.001) for order in values}
    _set_machine_metric(values, metric, lambda order: (arm if arms[order] == "b" else base) * noise[order])
    checks, tags = _checks(trials, values)
    assert not checks[name].passed
    assert Tag.SUSPECT in tags
    _set_machine_metric(values, metric, lambda order: base * noise[order])
    checks, tags = _checks(trials, values)
    assert name not in checks or checks[name].passed
    assert Tag.SUSPECT not in tags


def test_a_constant_difference_of_the_clock_is_reported() -> None:
    trials, values = _experiment(lambda _load: 0.0)
    arms = {trial.order: trial.arm for trial in trials}
    _set_machine_metric(values, "cpu_clock_hz", lambda order: 2.0e9 if arms[order] == "b" else 3.0e9)
    assert not _checks(_timed(trials), values)[0]["clock"].passed


def test_a_factor_of_the_processors_may_change_their_clock() -> None:
    trials, values = _experiment(lambda _load: 0.0)
    arms = {trial.order: trial.arm for trial in trials}
    _set_machine_metric(values, "cpu_clock_hz", lambda order: (2.0e9 if arms[order] == "b" else 3.0e9) + order)
    trials = [dataclasses.replace(trial, factor="cpu.governor") for trial in _timed(trials)]
    workloads = [_workload()]
    looks = take_looks(trials, values, workloads, PROTOCOL, [], [("cpu.governor", "w")], over=True)
    (effect, *_) = judge(trials, values, workloads, PROTOCOL, looks, baseline={}, finished=True).effects
    (clock,) = [check for check in effect.checks if check.name == "clock"]
    assert clock.passed
    assert "33" in clock.finding


def test_drift_has_a_point_for_each_block() -> None:
    trials, values = _experiment(lambda _load: 0.05)
    for trial in trials:
        _scaled(values, trial.order, math.exp(-0.1 * trial.order / len(trials)))
    (drift,) = judge(_timed(trials), values, [_workload()], PROTOCOL, [], baseline={}, finished=True).drifts
    assert (drift.factor, drift.workload, drift.response) == ("k", "w", "throughput_per_s")
    assert len(drift.points) == len(drift.course) == len(trials) // 2
    assert drift.course[0] - drift.course[-1] == pytest.approx(0.1, abs=0.03)
    assert {point.first for point in drift.points} == {"a", "b"}
    assert [point.hours for point in drift.points] == sorted(point.hours for point in drift.points)
    assert judge(trials[:8], values, [_workload()], PROTOCOL, [], baseline={}, finished=True).drifts == ()


def test_an_arm_that_is_spared_later_shows_no_drift() -> None:
    trials, values = _experiment(lambda _load: 0.3)
    half = len(trials) // 2
    spared = [
        dataclasses.replace(t, state=TrialState.SPARED) if t.arm == "b" and t.order > half else t
        for t in _timed(trials)
    ]
    (drift,) = judge(spared, values, [_workload()], PROTOCOL, [], baseline={}, finished=True).drifts
    assert max(abs(value) for value in drift.course) < 0.01


@pytest.mark.parametrize(
    ("drives", "message"),
    [
        ({"sda pending_sectors": [1, 1], "sda failing": [0, 0]}, ""),
        ({"sda pending_sectors": [1, 3], "sda failing": [0, 0]}, "sda pending_sectors from 1 to 3"),
        ({"sda pending_sectors": [1, 1], "sda failing": [1, 1]}, "sda reports that it is failing"),
    ],
)
def test_drive_errors_make_the_verdict_suspect(drives: dict[str, list[int]], message: str) -> None:
    trials, values = _experiment(lambda _load: 0)
    checks, tags = _checks(_timed(trials), values, drives=drives)
    assert checks["SMART"].passed == (message == "") == (Tag.SUSPECT not in tags)
    assert message in checks["SMART"].finding
