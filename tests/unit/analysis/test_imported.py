"""Verdicts of imported runs: undecided without repetition, at the declared error rate with it."""

import dataclasses
import math

import numpy as np
import pytest
import trial_samples as samples

from paribus.analysis.imported.judgement import judge_set
from paribus.model import (
    Factor,
    Measurement,
    Protocol,
    Tag,
    Trial,
    Verdict,
    Workload,
)

LEVELS = (8, 16, 32, 64)
PROTOCOL = Protocol(
    trial_s=0,
    settle_s=0,
    budget_s=0,
    confidence=0.95,
    seed=0,
    margins={"throughput_per_s": math.log(1.02)},
    rounds=None,
)
WORKLOAD = Workload(
    name="w",
    kind="imported",
    parameters={},
    load_levels=LEVELS,
    response="throughput_per_s",
    data="keep",
    cache="warm",
)
FACTORS = (Factor(key="x", levels=("a", "b"), labels=("a", "b"), scope=("w",)),)


class RunSet:
    """Trials with what they measured."""

    def __init__(self) -> None:
        self.trials: list[Trial] = []
        self.summaries: dict[int, dict[str, Measurement]] = {}
        self.courses: dict[int, Measurement] = {}

    def add(self, arm: str, load: int, rate: float, points: tuple[float, ...] = (), **labels: str) -> None:
        order = len(self.trials) + 1
        self.trials.append(samples.trial(order, arm, load, factor="x", settings={"x": arm, **labels}))
        measured = samples.measured(rate, n=len(points) or 1, start_s=0.0, step_s=1.0, points=points)
        self.summaries[order] = {"throughput_per_s": measured}
        self.courses[order] = measured

    def judged(  # type: ignore[no-untyped-def]
        self, factors: tuple[Factor, ...] = FACTORS, conditions: dict[int, dict[str, str]] | None = None
    ):
        return judge_set(
            self.trials,
            self.summaries,
            [WORKLOAD],
            PROTOCOL,
            factors,
            courses={"throughput_per_s": self.courses},
            options={},
            conditions=conditions or {},
        )

    def whole(self, conditions: dict[int, dict[str, str]] | None = None):  # type: ignore[no-untyped-def]
        return next(effect for effect in self.judged(conditions=conditions).effects if effect.load is None)


def _simulated(rng: np.random.Generator, runs: int, delta: float, sd: float = 0.02) -> RunSet:
    """Return `runs` runs of each arm at the lowest and the highest load."""
    runs_by_arm = RunSet()
    for arm, shift in (("a", 0.0), ("b", delta)):
        for load in (LEVELS[0], LEVELS[-1]):
            for _ in range(runs):
                runs_by_arm.add(arm, load, 100 * load * math.exp(shift + rng.normal(0, sd)))
    return runs_by_arm


@pytest.mark.parametrize("delta", [0.0, 0.5, -0.5, 3.0])
def test_single_runs_are_never_decided(delta: float) -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        whole = _simulated(rng, 1, delta).whole()
        assert whole.verdict is Verdict.UNDECIDED
        assert whole.reasons[0].startswith("one run of each: no noise floor")
        assert whole.would_decide == "single runs cannot decide"
        assert whole.low < whole.estimate < whole.high


def test_a_single_pair_has_no_interval() -> None:
    run_set = RunSet()
    run_set.add("a", 8, 100.0)
    run_set.add("b", 8, 300.0)
    whole = run_set.whole()
    assert whole.verdict is Verdict.UNDECIDED
    assert (whole.low, whole.high) == (-math.inf, math.inf)
    assert whole.estimate == pytest.approx(math.log(3))


def test_the_estimate_is_the_geometric_mean_over_load_levels_with_its_spread() -> None:
    run_set = RunSet()
    ratios = (1.1, 1.2, 0.9, 1.4)
    for load, ratio in zip(LEVELS, ratios, strict=True):
        run_set.add("a", load, 100.0 * load)
        run_set.add("b", load, 100.0 * load * ratio)
    whole = run_set.whole()
    logs = np.log(ratios)
    half = 3.1824463 * logs.std(ddof=1) / 2
    assert whole.estimate == pytest.approx(logs.mean())
    assert (whole.low, whole.high) == pytest.approx((logs.mean() - half, logs.mean() + half), rel=1e-6)


def test_with_repetitions_the_error_rate_is_as_stated() -> None:
    rng = np.random.default_rng(2)
    effects = [_simulated(rng, 4, 0.0).whole() for _ in range(1000)]
    claims = sum(effect.verdict in (Verdict.BETTER, Verdict.WORSE, Verdict.DEPENDS_ON_LOAD) for effect in effects)
    covered = sum(effect.low <= 0 <= effect.high for effect in effects)
    assert claims <= 65
    assert 930 <= covered <= 970
    quiet = [_simulated(rng, 8, 0.0, 0.01).whole().verdict for _ in range(100)]
    assert quiet.count(Verdict.EQUIVALENT) > 80


def test_with_repetitions_a_real_effect_is_decided_and_suspect() -> None:
    rng = np.random.default_rng(3)
    effects = [_simulated(rng, 4, math.log(1.08)).whole() for _ in range(200)]
    assert sum(effect.verdict is Verdict.BETTER for effect in effects) >= 190
    assert not any(effect.verdict is Verdict.WORSE for effect in effects)
    assert all(Tag.SUSPECT in effect.tags for effect in effects if effect.verdict is not Verdict.UNDECIDED)
    assert any("not interleaved" in reason for reason in effects[0].reasons)


def test_at_the_margin_equivalence_is_rarely_claimed() -> None:
    rng = np.random.default_rng(4)
    effects = [_simulated(rng, 6, math.log(1.02), 0.01).whole() for _ in range(500)]
    assert sum(effect.verdict is Verdict.EQUIVALENT for effect in effects) <= 35


def test_opposite_effects_depend_on_load() -> None:
    rng = np.random.default_rng(5)
    run_set = RunSet()
    for load, shift in zip(LEVELS, (0.1, 0.1, -0.1, -0.1), strict=True):
        for arm in ("a", "b"):
            for _ in range(5):
                run_set.add(arm, load, 100 * math.exp((shift if arm == "b" else 0) + rng.normal(0, 0.01)))
    assert run_set.whole().verdict is Verdict.DEPENDS_ON_LOAD


def _course(rng: np.random.Generator, mean: float, sd: float = 0.05, phi: float = 0.8) -> tuple[float, ...]:
    values, x = [], 0.0
    for noise in rng.normal(0, sd * math.sqrt(1 - phi**2), 600):
        x = phi * x + noise
        values.append(mean * math.exp(x))
    return tuple(values)


def _with_lines(rng: np.random.Generator, delta: float, run_sd: float, loads: tuple[int, ...] = LEVELS) -> RunSet:
    run_set = RunSet()
    for arm, shift in (("a", 0.0), ("b", delta)):
        for load in loads:
            points = _course(rng, 100 * load * math.exp(shift + rng.normal(0, run_sd)))
            run_set.add(arm, load, float(np.mean(points)), points)
    return run_set


def test_interval_lines_include_the_run_to_run_noise() -> None:
    rng = np.random.default_rng(6)
    effects = [_with_lines(rng, 0.0, 0.03).whole() for _ in range(100)]
    assert sum(effect.verdict in (Verdict.BETTER, Verdict.WORSE) for effect in effects) <= 2
    assert all("interval lines" in effect.reasons[0] for effect in effects)


def test_interval_lines_decide_large_effects_at_several_loads_only() -> None:
    rng = np.random.default_rng(7)
    assert _with_lines(rng, math.log(1.5), 0.02).whole().verdict is Verdict.BETTER
    assert _with_lines(rng, math.log(1.5), 0.02, (8,)).whole().verdict is Verdict.UNDECIDED


def test_zero_and_unmatched_figures_are_reported_and_left_out() -> None:
    run_set = RunSet()
    for load in LEVELS:
        run_set.add("a", load, 100.0)
    run_set.add("b", 8, 0.0)
    run_set.add("b", 16, 110.0)
    run_set.add("b", 32, 120.0)
    whole = run_set.whole()
    assert whole.pairs == 2
    assert "only one of the two was measured at 64" in whole.reasons
    assert "a figure is zero or no number at 8" in whole.reasons


def test_an_arm_without_its_baseline_is_reported() -> None:
    run_set = RunSet()
    run_set.add("a", 8, 100.0)
    run_set.add("b", 16, 100.0)
    judged = run_set.judged()
    assert not judged.effects
    assert "x = b under w was not judged" in judged.unjudged[0]


def test_two_factors_are_compared_each_at_equal_levels_of_the_other() -> None:
    run_set = RunSet()
    for y, rate in (("p", 100.0), ("q", 400.0)):
        run_set.add("a", 8, rate, y=y)
        run_set.add("b", 8, rate * 1.1, y=y)
    factors = (*FACTORS, Factor(key="y", levels=("p", "q"), labels=("p", "q"), scope=("w",)))
    whole = {e.factor: e for e in run_set.judged(factors).effects if e.load is None}
    assert whole["x"].estimate == pytest.approx(math.log(1.1))
    assert whole["y"].estimate == pytest.approx(math.log(4))
    assert {cell.factor for cell in run_set.judged(factors).cells} == {"x", "y"}


def test_lower_response_times_are_better() -> None:
    rng = np.random.default_rng(8)
    run_set = _simulated(rng, 5, math.log(1.2))
    workload = Workload(
        name="w", kind="i", parameters={}, load_levels=LEVELS, response="response_p95_s", data="keep", cache="warm"
    )
    summaries = {
        order: {"response_p95_s": measurements["throughput_per_s"]} for order, measurements in run_set.summaries.items()
    }
    judged = judge_set(run_set.trials, summaries, [workload], PROTOCOL, FACTORS, courses={}, options={}, conditions={})
    assert next(e for e in judged.effects if e.load is None).verdict is Verdict.WORSE


def _repeated(conditions_by_arm: dict[str, dict[str, str]], effect: float = 0.5):  # type: ignore[no-untyped-def]
    """Effect of four runs of each arm at two loads, with the arms' conditions; and its check of the options."""
    runs = _simulated(np.random.default_rng(3), 4, effect, sd=0.005)
    whole = runs.whole({trial.order: conditions_by_arm[trial.arm] for trial in runs.trials})
    return whole, {check.name: check for check in whole.checks}["options"]


@pytest.mark.parametrize(
    ("first", "second", "difference"),
    [
        ({"scale": "3000"}, {"scale": "7000"}, "scale 3000 / 7000"),
        ({"writes per transaction": "4"}, {"writes per transaction": "0"}, "writes per transaction 4 / 0"),
        ({"reads per transaction": "14.1"}, {"reads per transaction": "0"}, "reads per transaction 14.1 / 0"),
        ({"duration (s)": "600"}, {"duration (s)": "60"}, "duration (s) 600 / 60"),
    ],
)
def test_two_different_tests_get_no_verdict(first: dict[str, str], second: dict[str, str], difference: str) -> None:
    whole, check = _repeated({"a": first, "b": second})
    assert (whole.verdict, whole.tags, check.passed) == (Verdict.UNDECIDED, (), False)
    assert difference in whole.reasons[0]
    assert whole.would_decide == "two different tests cannot be compared"
    assert _repeated({"a": first, "b": first})[0].verdict is Verdict.BETTER


@pytest.mark.parametrize(
    ("first", "second", "passed"),
    [
        ({"table-size": "100"}, {"table-size": "100"}, True),
        ({"table-size": "100"}, {}, None),
        ({}, {}, None),
        ({"reads per transaction": "14"}, {"reads per transaction": "14.9"}, None),  # retries; no option is known
        ({"duration (s)": "600"}, {"duration (s)": "601"}, None),
        ({"x": "1"}, {"x": "2"}, None),  # the setting itself
        ({"mode": "a", "time": "60"}, {"mode": "b", "time": "60"}, True),  # likewise, by its levels
    ],
)
def test_the_check_of_options_is_unknown_without_a_shared_one(
    first: dict[str, str], second: dict[str, str], passed: bool | None
) -> None:
    whole, check = _repeated({"a": first, "b": second})
    assert (whole.verdict, check.passed) == (Verdict.BETTER, passed)
    assert ("unknown" in check.finding) is (passed is None)
    assert (check.finding in whole.reasons) is (passed is None)


def test_a_level_in_another_notation_states_its_size() -> None:
    runs = RunSet()
    for arm in ("4K", "16KiB"):
        runs.add(arm, 8, 100.0)
    factors = (Factor(key="block", levels=("4K", "16KiB"), labels=("4K", "16KiB"), scope=("w",)),)
    for trial in runs.trials:
        runs.trials[trial.order - 1] = dataclasses.replace(trial, factor="block", settings={"block": trial.arm})
    judged = runs.judged(factors, {1: {"block size": "4096"}, 2: {"block size": "16384"}})
    checks = {check.name: check.passed for check in judged.effects[0].checks}
    assert checks["options"] is None


def _sweeps(rng: np.random.Generator) -> RunSet:
    """Return three runs of each arm over all loads; what sets a run apart is in all of its loads."""
    sweeps = RunSet()
    for arm in ("a", "b"):
        for _ in range(3):
            shift = rng.normal(0, 0.03)
            for load in LEVELS:
                sweeps.add(arm, load, 100 * math.exp(shift + rng.normal(0, 0.005)))
    return sweeps


def test_runs_that_are_off_as_a_whole_are_compared_as_wholes() -> None:
    verdicts = [_sweeps(np.random.default_rng(seed)).whole().verdict for seed in range(200)]
    assert sum(verdict in (Verdict.BETTER, Verdict.WORSE) for verdict in verdicts) <= 20
    by_level = [_sweeps(np.random.default_rng(seed)) for seed in range(20)]
    for runs in by_level:
        runs.add("a", LEVELS[0], 100.0)  # a fourth run of one load: nothing is whole
    claims = [runs.whole().verdict in (Verdict.BETTER, Verdict.WORSE) for runs in by_level]
    assert sum(claims) <= 3
