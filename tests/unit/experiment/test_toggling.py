"""Settings that leave nothing behind are toggled under one load: each block is one pair of two sides."""

import math

import numpy as np
import pytest
from plan_samples import FILEIO, checked, simple
from scripted import MACHINE, Bench, make_trials
from sqlalchemy.engine import Engine as Store

from paribus.analysis.diagnostics.noise import calibrations
from paribus.analysis.paired.effects import metrics_of_pairs, pair_series
from paribus.experiment import walk
from paribus.experiment.evidence import analyse, evidence
from paribus.experiment.noise import known_pair_sds
from paribus.model import Effect, Experiment, Purpose, Trial, TrialState, Verdict
from paribus.plan.schedule.budget import block_s, cost_s
from paribus.plan.schedule.comparisons import comparisons
from paribus.plan.schedule.design import schedule
from paribus.store import read

LEAVES_NOTHING = '"block.rq_affinity" = [1, 2]'
SEGMENT = '[protocol]\nsegment = "6s"\nsettle = "10s"\nbudget = "9h"\n'
FOUR = """
"block.rq_affinity" = [1, 2]
"block.scheduler" = ["none", "bfq"]
"block.read_ahead_kb" = [128, 0]
"vm.swappiness" = [60, 1]
"""


def _begin(store: Store, factors: str = LEAVES_NOTHING, protocol: str = SEGMENT) -> Experiment:
    return walk.begin(checked(simple(factors, FILEIO, protocol)), {}, MACHINE, {}, store)


def _effects(store: Store, begun: Experiment) -> dict[str, Effect]:
    effects = analyse(evidence(store, begun.id), begun, store, finished=True).effects
    return {effect.factor: effect for effect in effects if effect.load is None}


def test_a_block_is_mirrored_and_costs_little() -> None:
    plan = checked(simple(LEAVES_NOTHING, FILEIO, SEGMENT))
    (compared,) = comparisons(plan)
    trials = schedule(plan, "e", 2)
    orders = {"".join(trial.arm for trial in trials if trial.block == block) for block in range(1, 17)}
    assert orders == {"1221", "2112"}
    assert block_s(compared, plan) == pytest.approx(6 + 3 * 2 + 4 * 6, rel=0.02)
    assert cost_s(plan, trials) == pytest.approx(16 * block_s(compared, plan))


def test_three_arms_have_two_segments_each() -> None:
    plan = checked(simple('"block.rq_affinity" = [0, 1, 2]', FILEIO, SEGMENT))
    block = [trial.arm for trial in schedule(plan, "e", 2) if trial.block == 1]
    assert sorted(block) == ["0", "0", "1", "1", "2", "2"]
    assert block == block[::-1]


@pytest.mark.parametrize(
    ("factors", "protocol", "toggled"),
    [
        (LEAVES_NOTHING, SEGMENT, True),
        (LEAVES_NOTHING, "", True),
        (LEAVES_NOTHING, '[protocol]\ntrial = "60s"\n', False),
        (LEAVES_NOTHING, '[protocol]\nsettle = "10s"\n', False),
        (LEAVES_NOTHING, "[protocol]\nrounds = 4\n", False),
        (LEAVES_NOTHING, "[protocol]\nwash_out = false\n", False),
        (LEAVES_NOTHING, '[protocol]\nresponse = "response_p99_s"\n', False),
        (LEAVES_NOTHING, '[protocol]\nresponse = "response_p99_s"\nsegment = "6s"', True),
        (LEAVES_NOTHING, SEGMENT + "in_flight = false", False),
        ('"vm.swappiness" = [60, 1]', SEGMENT, False),
        ('"vm.swappiness" = [60, 1]', SEGMENT + "wash_out = false", True),
        (LEAVES_NOTHING, SEGMENT + "wash_out = true", False),
        ('"fileio.direct" = [false, true]', SEGMENT, False),
    ],
)
def test_only_what_acts_at_once_and_leaves_nothing_is_toggled(factors: str, protocol: str, toggled: bool) -> None:
    plan = checked(simple(factors, FILEIO, protocol))
    assert comparisons(plan)[0].toggled is toggled
    notes = [note for note in plan.notes if note.startswith("segment is not used")]
    assert len(notes) == (SEGMENT in protocol and not toggled)


def test_a_block_gives_one_pair_of_geometric_means(store: Store) -> None:
    begun = _begin(store, protocol=SEGMENT + "rounds = 2")
    drift = {1: 0.0, 2: 0.1, 3: 0.2, 4: 0.3}  # by position: mirrored orders cancel it
    bench = Bench(store, lambda trial: drift[trial.position] + 0.05 * (trial.arm == "2"), noise=1e-9, wobble=1e-9)
    trials = make_trials(store, begun, bench)
    plan = read.plan(store, begun.id)
    summaries = read.summaries(store, begun.id, metrics=metrics_of_pairs(plan.workloads))
    (series,) = pair_series(trials, summaries, {"fileio": "throughput_per_s"})
    assert len(series.pairs) == series.units == 16
    assert not series.split
    assert {pair.later for pair in series.pairs} == {-1, 1}
    for pair in series.pairs:
        assert math.log(pair.compared / pair.baseline) == pytest.approx(0.05, abs=1e-6)
        assert len(pair.trials) == 4


def test_short_trials_need_no_settle_runs_and_say_nothing_of_the_noise_of_others(store: Store) -> None:
    begun = _begin(store, protocol=SEGMENT.replace('settle = "10s"', ""))
    trials = make_trials(store, begun, Bench(store, lambda _trial: 0.0))
    plan = read.plan(store, begun.id)
    assert {trial.purpose for trial in trials} == {Purpose.COMPARE}
    assert any(str(note).startswith("noise under fileio") for note in read.find(store, begun.id).notes)
    assert known_pair_sds(store, plan, MACHINE) == {}
    assert calibrations(trials, read.summaries(store, begun.id), plan.workloads, plan.protocol, "host", 0.0) == []


def test_an_effect_is_found_and_the_check_of_carry_over_passes(store: Store) -> None:
    begun = _begin(store)
    make_trials(store, begun, Bench(store, lambda trial: 0.03 * (trial.arm == "2"), noise=0.02))
    effect = _effects(store, begun)["block.rq_affinity"]
    assert effect.verdict is Verdict.BETTER
    carry_over = next(check for check in effect.checks if check.name == "carry-over")
    assert carry_over.passed


def test_carry_over_between_segments_is_detected(store: Store) -> None:
    begun, previous = _begin(store), [""]

    def effect(trial: Trial) -> float:
        after, previous[0] = previous[0], trial.arm
        return -0.05 * (after == "2" and trial.position > 1)

    make_trials(store, begun, Bench(store, effect, noise=0.01))
    carry_over = next(c for c in _effects(store, begun)["block.rq_affinity"].checks if c.name == "carry-over")
    assert not carry_over.passed
    assert "set wash_out = true" in carry_over.finding


def test_a_screen_is_toggled_and_confirmed(store: Store) -> None:
    noisy = np.random.default_rng(5)
    begun = _begin(store, FOUR, SEGMENT + "wash_out = false")

    def effect(trial: Trial) -> float:
        return 0.05 * (trial.settings["block.scheduler"] == "bfq") + noisy.normal(0, 0.01)

    trials = make_trials(store, begun, Bench(store, effect))
    screened = [trial for trial in trials if trial.purpose is Purpose.SCREEN]
    assert {trial.position for trial in screened} == {1, 2, 3, 4}
    effects = _effects(store, begun)
    assert effects["block.scheduler"].verdict is Verdict.BETTER
    others = {key: effect.verdict for key, effect in effects.items() if key != "block.scheduler"}
    assert set(others.values()) == {Verdict.EQUIVALENT}
    checks = [
        check for effect in effects.values() for check in effect.checks if check.name in ("carry-over", "settled")
    ]
    assert all(check.passed for check in checks if check.name in ("carry-over", "settled"))


def test_claims_of_a_toggled_screen_are_confirmed_against_one_baseline(store: Store) -> None:
    gains = {"block.rq_affinity": 0.08, "block.scheduler": 0.025}
    begun = _begin(store, FOUR, SEGMENT + "wash_out = false\n")
    baseline = read.plan(store, begun.id).baseline
    bench = Bench(
        store,
        lambda trial: sum(gain for key, gain in gains.items() if trial.settings[key] != baseline[key]),
        noise=0.02,
    )
    trials = make_trials(store, begun, bench)
    confirmed = [trial for trial in trials if trial.purpose is Purpose.CONFIRM]
    assert {trial.factor for trial in confirmed} == {"screened factors confirmed"}
    blocks = {trial.block: [t.arm for t in confirmed if t.block == trial.block] for trial in confirmed}
    assert {tuple(sorted(arms)) for arms in blocks.values()} == {
        ("baseline", "baseline", "block.rq_affinity = 2", "block.rq_affinity = 2") + ("block.scheduler = bfq",) * 2
    }
    made = {arm: sum(t.arm == arm and t.state is TrialState.DONE for t in confirmed) for arm in blocks[min(blocks)]}
    assert made["block.rq_affinity = 2"] == 32 <= made["block.scheduler = bfq"] == made["baseline"]
    effects = _effects(store, begun)
    assert effects.keys() == {"block.rq_affinity", "block.scheduler", "block.read_ahead_kb", "vm.swappiness"}
    for key, gain in gains.items():
        assert effects[key].verdict is Verdict.BETTER
        assert effects[key].low < gain < effects[key].high
        assert any("before, a screen showed" in reason for reason in effects[key].reasons)
