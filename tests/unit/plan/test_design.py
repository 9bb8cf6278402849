"""The run order: balanced, random, the same from one seed."""

import dataclasses
import math
from collections import Counter, defaultdict
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_samples import FILEIO, checked, simple

from paribus.errors import PlanError
from paribus.model import Plan, Purpose, Trial
from paribus.plan.protocol import with_usual_margin
from paribus.plan.schedule.budget import Extent, block_s, extent, rounds_needed, time_for
from paribus.plan.schedule.comparisons import comparisons, is_in_flight, noise_comparisons
from paribus.plan.schedule.design import balanced_orders, schedule, schedule_hash
from paribus.plan.schedule.rounds import passes_per_round
from paribus.units import LoadLevel, LoadUnit


def _plan(levels: int, arms: int = 2, seed: int = 1, rest: str = "") -> Plan:
    values = ", ".join(str(value) for value in range(60, 60 + arms))
    threads = ", ".join(str(2**n) if levels <= 10 else str(n + 1) for n in range(levels))
    workload = FILEIO.replace("threads = [1, 4]", f"threads = [{threads}]")
    return checked(simple(f'"vm.swappiness" = [{values}]', workload, f"[protocol]\nseed = {seed}\n{rest}"))


def _blocks(trials: tuple[Trial, ...]) -> dict[int, list[Trial]]:
    blocks = defaultdict(list)
    for trial in trials:
        blocks[trial.block].append(trial)
    return blocks


@pytest.mark.parametrize(("levels", "passes"), [(1, 8), (2, 4), (3, 4), (4, 2), (7, 2), (8, 2), (12, 2)])
def test_a_round_is_the_least_even_number_of_passes_with_eight_blocks(levels: int, passes: int) -> None:
    assert passes_per_round(levels) == passes


@given(st.integers(1, 12), st.integers(0, 10**9))
@settings(max_examples=100, deadline=None)
def test_two_arms_are_balanced_in_eight_passes_at_each_level(levels: int, seed: int) -> None:
    rounds = 2 * 8 // passes_per_round(levels)
    first = [(t.load, t.arm) for t in schedule(_plan(levels, seed=seed), "e", rounds) if t.position == 1]
    for start in (0, 8 * levels):
        counted = Counter(first[start : start + 8 * levels])
        assert set(counted.values()) == {4}
        assert len(counted) == 2 * levels


@pytest.mark.parametrize("levels", [1, 2, 3, 8])
def test_neighbouring_blocks_do_not_mirror_each_other(levels: int) -> None:
    """A disturbance with a period of three trials has one sign in both of two mirrored blocks."""
    mirrored = []
    for seed in range(60):
        trials = schedule(_plan(levels, seed=seed), "e", 8 // passes_per_round(levels))
        first = [trial.arm for trial in trials if trial.position == 1]
        mirrored += [one != next_ for one, next_ in pairwise(first)]
    assert 0.44 < sum(mirrored) / len(mirrored) < 0.64


@pytest.mark.parametrize("arms", [2, 3, 4, 5, 6])
def test_more_arms_follow_a_williams_square(arms: int) -> None:
    rows = [row for couple in balanced_orders(arms) for row in couple]
    positions = Counter((place, arm) for row in rows for place, arm in enumerate(row))
    followers = Counter(pair for row in rows for pair in pairwise(row))
    assert len(set(positions.values())) == 1 and len(positions) == arms * arms
    assert len(set(followers.values())) == 1 and len(followers) == arms * (arms - 1)


@given(st.integers(1, 8), st.integers(2, 6), st.integers(0, 10**9))
@settings(max_examples=50, deadline=None)
def test_any_two_arms_are_balanced_at_every_level_once_all_orders_were_run(levels: int, arms: int, seed: int) -> None:
    orders = 2 * len(balanced_orders(arms))
    passes = orders * -(-8 // orders)
    rounds = -(-passes // passes_per_round(levels))
    trials = schedule(_plan(levels, arms, seed, "placebo = false"), "e", rounds)
    before: Counter[tuple[LoadLevel, str, str]] = Counter()
    for block in list(_blocks(trials).values())[: passes * levels]:
        for place, one in enumerate(block):
            for other in block[place + 1 :]:
                before[one.load, one.arm, other.arm] += 1
    for (load, one, other), count in before.items():
        assert before[load, other, one] == count


@given(st.integers(1, 5), st.integers(2, 5), st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
def test_every_arm_is_once_in_every_block(levels: int, arms: int, seed: int) -> None:
    trials = schedule(_plan(levels, arms, seed, "placebo = false"), "e", 2)
    assert [trial.order for trial in trials] == list(range(1, len(trials) + 1))
    for block in _blocks(trials).values():
        assert len({trial.arm for trial in block}) == len(block) == arms
        assert [trial.position for trial in block] == list(range(1, arms + 1))
        assert len({(t.load, t.round, t.workload, t.factor) for t in block}) == 1
        assert sum(trial.baseline for trial in block) == 1


def test_the_same_seed_gives_the_same_schedule_and_another_does_not() -> None:
    one, same, other = (
        schedule_hash(schedule(_plan(3, seed=seed), name, 2)) for seed, name in ((7, "a"), (7, "b"), (8, "c"))
    )
    assert one == same != other


def test_a_schedule_is_pinned_across_releases_and_machines() -> None:
    trials = schedule(_plan(1, seed=1), "e", 2)
    assert "".join("B" if t.baseline else "a" for t in trials) == "aBaBBaBaBaBaaBaBaBaBBaaBBaBaBaaB"


def test_other_factors_stay_at_their_baseline() -> None:
    text = simple(
        '"vm.swappiness" = [60, 1]\n"fileio.direct" = [false, true]',
        rest='[hold]\n"block.rq_affinity" = 2\n'
        '[[combination]]\nname = "c"\nsettings = { "vm.swappiness" = 10, "fileio.files" = 8 }',
    )
    found = comparisons(checked(text))
    assert [c.factor for c in found] == ["vm.swappiness", "fileio.direct", "combination"]
    base = {"block.rq_affinity": 2, "vm.swappiness": 60, "fileio.direct": False}
    assert found[0].arms[1].settings == base | {"vm.swappiness": 1}
    assert found[2].arms[1].settings == base | {"vm.swappiness": 10, "fileio.files": 8}
    assert found[2].tested == ("fileio.files", "vm.swappiness")


def test_keys_of_one_combination_keep_their_present_value_in_others() -> None:
    text = simple(
        "",
        rest='[[combination]]\nname = "c1"\nsettings = { "vm.swappiness" = 10 }\n'
        '[[combination]]\nname = "c2"\nsettings = { "block.rq_affinity" = 2, "fileio.files" = 8 }',
    )
    (found,) = comparisons(checked(text))
    assert [arm.settings for arm in found.arms] == [
        {"vm.swappiness": 60, "block.rq_affinity": 1},
        {"vm.swappiness": 10, "block.rq_affinity": 1},
        {"vm.swappiness": 60, "block.rq_affinity": 2, "fileio.files": 8},
    ]


def test_the_budget_decides_the_rounds_where_the_noise_is_not_known() -> None:
    assert extent(_plan(1), {}) == Extent(0, 9)
    assert extent(_plan(1, rest='budget = "100h"'), {}) == Extent(0, 16)
    assert extent(_plan(1, rest="rounds = 4"), {}) == Extent(0, 4)
    assert extent(_plan(1, rest='budget = "60min"'), {}) == Extent(0, 2)
    with pytest.raises(PlanError, match="do not hold 2 rounds, which take"):
        extent(_plan(1, rest='budget = "10min"'), {})
    with pytest.raises(PlanError, match="do not hold 9 rounds"):
        extent(_plan(1, rest='rounds = 9\nbudget = "60min"'), {})


def test_known_noise_decides_the_rounds_that_are_worth_it() -> None:
    plan = _plan(4, rest='budget = "100h"')
    assert [extent(plan, {"fileio": sd}).rounds for sd in (0.001, 0.045, 1.0)] == [4, 11, 16]
    assert extent(plan, {"fileio": 0.045}).noise_rounds == 0
    assert time_for(plan, {}, "fileio") is None
    (one,) = comparisons(plan)
    assert time_for(plan, {"fileio": 0.045}, "fileio") == pytest.approx(11 * 8 * block_s(one, plan))
    assert rounds_needed(_plan(4, rest='method = "open-ended"'), {"fileio": 0.001}) == 200


def test_equals_are_compared_first_with_all_that_is_set() -> None:
    plan = checked(simple('"vm.swappiness" = [60, 1]\n"block.rq_affinity" = [1, 2]'))
    trials = schedule(plan, "e", 2, 1)
    noise = [trial for trial in trials if trial.purpose is Purpose.NOISE_FLOOR]
    assert trials[: len(noise)] == tuple(noise)
    assert {trial.round for trial in noise} == {0}
    assert {trial.arm for trial in noise} == {"baseline", "baseline again"}
    assert all(trial.settings == plan.baseline for trial in noise)
    (found,) = noise_comparisons(plan)
    assert found.tested == ("block.rq_affinity", "vm.swappiness")


def test_fewer_rounds_are_the_beginning_of_more() -> None:
    plan = _plan(3, arms=3)
    few, many = schedule(plan, "e", 2, 1), schedule(plan, "e", 5, 1)
    assert many[: len(few)] == few


def test_the_load_levels_of_an_open_loop_are_rates() -> None:
    plan = checked(simple('"vm.swappiness" = [60, 1]', FILEIO.replace("threads = [1, 4]", "rate = [100, 200]")))
    made = {trial.load for trial in schedule(plan, "e", 2)}
    assert made == {LoadLevel(100, LoadUnit.RATE_PER_S), LoadLevel(200, LoadUnit.RATE_PER_S)}


@pytest.mark.parametrize(
    ("factors", "rest", "in_flight"),
    [
        ('"vm.swappiness" = [60, 1]', "", True),
        ('"fileio.direct" = [false, true]', "", False),
        ('"process.load.nofile" = ["default", 4096]', "", False),
        ('"vm.swappiness" = [60, 1]', "[protocol]\nin_flight = false", False),
    ],
)
def test_immediate_settings_are_changed_in_flight(factors: str, rest: str, in_flight: bool) -> None:
    plan = checked(simple(factors, FILEIO, rest))
    assert is_in_flight(comparisons(plan)[0], plan) is in_flight


def test_a_cold_cache_wants_a_load_of_its_own() -> None:
    plan = checked(simple('"vm.swappiness" = [60, 1]', FILEIO + 'cache = "cold"\n'))
    assert not is_in_flight(comparisons(plan)[0], plan)


def test_in_flight_at_most_a_quarter_of_the_time_is_not_measured() -> None:
    plan = checked(simple('"vm.swappiness" = [60, 1]', FILEIO + "[protocol]\nwash_out = false\n"))
    (one,) = comparisons(plan)
    assert 2 * 60 / block_s(one, plan) >= 0.75
    assert 2 * 60 / block_s(one, dataclasses.replace(plan, knobs=())) < 0.70


def test_a_noisy_machine_has_a_wider_margin_where_none_is_declared() -> None:
    plan = _plan(4)
    wider = with_usual_margin(plan, [0.02, 0.06])
    assert plan.protocol.margins["throughput_per_s"] == pytest.approx(math.log(1.02))
    assert wider.protocol.margins["throughput_per_s"] == wider.protocol.margins["bytes_per_s"] == math.log1p(0.03)
    assert wider.protocol.margins["queries_per_s"] == math.log1p(0.03)
    assert wider.protocol.margins["response_p95_s"] == plan.protocol.margins["response_p95_s"]
    assert with_usual_margin(plan, [0.04]).protocol.margins == plan.protocol.margins
    for declared in ('margin = "1%"', "margins = { throughput_per_s = 0.01 }"):
        own = _plan(4, rest=declared)
        assert with_usual_margin(own, [0.06]) == own


def test_the_baseline_is_compared_with_itself_once_for_every_four_arms_tried_alone() -> None:
    def placebos(arms: int, rest: str = "") -> list[str]:
        compared = comparisons(_plan(2, arms=arms, rest=rest))
        return [one.factor for one in compared if one.purpose is Purpose.PLACEBO]

    assert placebos(4) == []
    assert placebos(5) == ["placebo 1"]
    assert placebos(9) == ["placebo 1", "placebo 2"]
    assert placebos(9, "placebo = false") == []
    trials = [t for t in schedule(_plan(2, arms=5), "e", 2) if t.purpose is Purpose.PLACEBO]
    assert {(t.arm, t.baseline) for t in trials} == {("baseline", True), ("baseline again", False)}
    assert {t.settings["vm.swappiness"] for t in trials} == {60}
    assert Counter(t.round for t in trials) == {1: 16, 2: 16}
