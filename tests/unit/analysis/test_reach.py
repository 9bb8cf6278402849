"""The reach test: mechanisms that no trial shows, and the verdict about them."""

import math

import numpy as np
import pytest
import trial_samples as samples

from paribus.analysis.paired.judge import judge
from paribus.analysis.paired.reach import counters_of, unreached
from paribus.analysis.paired.take_looks import take_looks
from paribus.model import RESPONSES, Measurement, Protocol, Requirement, Trial, TrialState, Verdict, Workload

PROTOCOL = Protocol(
    trial_s=60,
    settle_s=30,
    budget_s=3600,
    confidence=0.95,
    seed=1,
    margins={name: math.log1p(r.margin) for name, r in RESPONSES.items()},
    rounds=None,
)
WORKLOAD = Workload(
    name="w", kind="fileio", parameters={}, load_levels=(1,), response="throughput_per_s", data="keep", cache="warm"
)
KEY = ("k", "w", "b")
Experiment = tuple[list[Trial], dict[int, dict[str, Measurement]]]


def need(mechanism: str = "buffered reads", knob: str = "k", **fields: object) -> Requirement:
    return Requirement(factor="k", arm="b", workload="w", knob=knob, mechanism=mechanism, **fields)  # type: ignore[arg-type]


def experiment(reads: tuple[float, float] | None = (0.0, 0.0), effect: float = 0.0, pairs: int = 16) -> Experiment:
    """Pairs with an effect, and with device reads at the baseline and in the compared arm."""
    rng = np.random.default_rng(7)
    trials, summaries = [], {}
    for block in range(1, pairs + 1):
        for position, arm in enumerate("ab" if block % 2 else "ba"):
            order = 2 * block + position
            trials.append(samples.trial(order, arm, block=block, position=position, started=order, ended=order + 0.5))
            rate = math.exp(9 + (effect if arm == "b" else 0.0) + rng.normal(0, 0.01))
            summaries[order] = {"throughput_per_s": samples.measured(rate)}
            if reads:
                summaries[order]["device_reads_per_s"] = samples.measured(reads["ab".index(arm)], "device_reads_per_s")
    return trials, summaries


@pytest.mark.parametrize(
    ("reads", "expected"), [((0.0, 0.0), True), ((3.0, 0.0), False), ((0.0, 3.0), False), (None, False)]
)
def test_a_counter_of_zero_in_every_trial_of_both_arms_means_not_reached(
    reads: tuple[float, float] | None, expected: bool
) -> None:
    trials, summaries = experiment(reads, pairs=4)
    assert (KEY in unreached(trials, summaries, [need()])) is expected


def test_an_obstacle_needs_no_counter_and_every_knob_of_an_arm_must_be_unreached() -> None:
    trials, summaries = experiment((3.0, 3.0), pairs=4)
    excluded = need(obstacle="{setting}", values={"setting": "w.direct = true"})
    assert unreached(trials, summaries, [excluded]) == {KEY: (excluded,)}
    assert unreached(trials, summaries, [need(), excluded]) == {KEY: (excluded,)}
    assert not unreached(trials, summaries, [excluded, need(knob="other")])
    assert not unreached([], {}, [excluded])


def test_only_blocks_of_the_arm_itself_count() -> None:
    """Reads of the baseline beside another arm, after this one was given up, say nothing about it."""
    trials, summaries = experiment(pairs=4)
    later = [samples.trial(98, "a", block=90), samples.trial(99, "c", block=90)]
    summaries |= {trial.order: {"device_reads_per_s": samples.measured(5.0, "device_reads_per_s")} for trial in later}
    assert KEY in unreached([*trials, *later], summaries, [need()])


def _verdict(found: Experiment, requirements: list[Requirement]) -> tuple[Verdict | None, tuple[str, ...]]:
    trials, summaries = found
    absent = unreached(trials, summaries, requirements)
    looks = take_looks(trials, summaries, [WORKLOAD], PROTOCOL, [], {("k", "w")}, over=True, absent=absent)
    planned = [samples.trial(200 + n, "ab"[n % 2], block=200 + n // 2, state=TrialState.SPARED) for n in range(8)]
    judgement = judge(
        [*trials, *planned],
        summaries,
        [WORKLOAD],
        PROTOCOL,
        looks,
        baseline={},
        finished=True,
        requirements=requirements,
    )
    (effect,) = [effect for effect in judgement.effects if effect.load is None]
    return effect.verdict, effect.reasons


def test_arms_without_reach_are_no_effect_possible_and_others_equivalent() -> None:
    verdict, reasons = _verdict(experiment(), [need()])
    assert verdict is Verdict.NO_EFFECT_POSSIBLE
    assert reasons[0] == "k needs buffered reads, which no trial of either arm shows (device_reads_per_s)"
    assert reasons[-1] == "8 planned trials were not run for that reason, which saved about 4 s"
    assert _verdict(experiment((1.0, 1.0), pairs=32), [need()])[0] is Verdict.EQUIVALENT
    assert _verdict(experiment(None, pairs=32), [need()])[0] is Verdict.EQUIVALENT
    assert _verdict(experiment(pairs=32), [])[0] is Verdict.EQUIVALENT


@pytest.mark.parametrize(("effect", "verdict"), [(0.2, Verdict.BETTER), (-0.2, Verdict.WORSE)])
def test_evidence_of_an_effect_prevails(effect: float, verdict: Verdict) -> None:
    assert _verdict(experiment(effect=effect), [need()])[0] is verdict


def test_the_caveat_of_a_short_trial_is_a_reason() -> None:
    limit = need("dirty memory near the limit", threshold=2**20, least_bytes=2**20, constant="vm.dirty")
    trials, summaries = experiment()
    values = {
        "memory_dirty_bytes": 0.0,
        "memory_available_bytes": 2.0**30,
        "device_written_bytes_per_s": 2.0**16,
        "memory_dirtied_bytes_per_s": 2.0**18,
    }
    for measured in summaries.values():
        measured |= {name: samples.measured(value, name) for name, value in values.items()}
    _, reasons = _verdict((trials, summaries), [limit])
    assert reasons[1] == (
        "a trial must write at least 1 MiB to show an effect of vm.dirty: at the measured speed it must last 4 s"
    )


def test_without_a_measured_speed_the_amount_alone_is_a_reason() -> None:
    _, reasons = _verdict(experiment(), [need(least_bytes=2**20, constant="vm.dirty")])
    assert reasons[1] == "a trial must write at least 1 MiB to show an effect of vm.dirty"


def test_counters_are_read_with_what_scales_their_threshold() -> None:
    assert counters_of([need()]) == {"device_reads_per_s"}
    assert counters_of([need("dirty memory near the limit", threshold=0.1)]) == {
        "memory_dirtied_bytes_per_s",
        "memory_dirty_bytes",
        "device_written_bytes_per_s",
        "memory_available_bytes",
    }
