"""Many factors of two levels in the same trials."""

import dataclasses
import itertools
import random
from collections import Counter

import numpy as np
import pytest
from plan_samples import FILEIO, checked, simple

from paribus.errors import PlanError
from paribus.model import Plan, Purpose, Trial, TrialState
from paribus.plan.schedule.budget import confirmed_within, confirming_s, cost_s, duration_s, extent, rounds_needed
from paribus.plan.schedule.comparisons import SCREEN, comparisons, screened
from paribus.plan.schedule.design import confirmation, schedule
from paribus.stats.foldover import replicate, rows_for

FOUR = {
    "vm.swappiness": "[60, 1]",
    "vm.dirty": '["20%", "10%"]',
    "block.rq_affinity": "[1, 2]",
    "block.read_ahead_kb": "[128, 0]",
}
QUIET = {"fileio": 0.03}


def _plan(protocol: str = "", workload: str = FILEIO, **changed: str) -> Plan:
    factors = FOUR | {key.replace("__", "."): value for key, value in changed.items()}
    written = "\n".join(f'"{key}" = {value}' for key, value in factors.items())
    return checked(simple(written, workload, f'[protocol]\nseed = 7\nbudget = "24h"\n{protocol}'))


def _screened(plan: Plan) -> set[str]:
    return {factor.key for factor in screened(plan, plan.workloads[0])}


def test_four_factors_of_two_levels_are_screened_and_the_others_tried_alone() -> None:
    plan = _plan(block__scheduler='["none", "bfq", "mq-deadline"]')
    assert _screened(plan) == set(FOUR)
    assert [one.factor for one in comparisons(plan)] == ["block.scheduler", SCREEN]


@pytest.mark.parametrize(
    ("protocol", "changed"),
    [
        ('design = "one-at-a-time"', {}),
        ('method = "open-ended"', {}),
        ("rounds = 4", {}),
        ("", {"vm__swappiness": "[60, 1, 10]"}),
        ("", {"vm__swappiness": "[60, 60]"}),
    ],
)
def test_no_factor_is_screened_without_need_or_benefit(protocol: str, changed: dict[str, str]) -> None:
    assert _screened(_plan(protocol, **changed)) == set()


def test_two_are_screened_where_the_plan_says_so_and_one_is_a_mistake() -> None:
    asked = 'design = "screen"'
    assert len(_screened(_plan(asked, vm__swappiness="[60, 1, 10]", vm__dirty='["20%", "10%", "5%"]'))) == 2
    with pytest.raises(PlanError, match="no workload has two factors"):
        checked(simple('"vm.swappiness" = [60, 1]', FILEIO, f"[protocol]\n{asked}"))


def test_factors_that_need_other_data_are_tried_alone() -> None:
    other = {"fileio__engine": '["sync", "io_uring"]', "fileio__files": "[1, 2]"}
    plan = _plan(**other)
    assert "fileio.engine" in _screened(plan)
    assert "fileio.files" not in _screened(plan)


def _settings(trials: tuple[Trial, ...], plan: Plan) -> np.ndarray:
    """Of the trials that are not mirror images, +1 where a factor is at its second level."""
    drawn = [trial for trial in trials if trial.purpose is Purpose.SCREEN and not trial.baseline]
    factors = screened(plan, plan.workloads[0])
    return np.array([[1 if t.settings[f.key] == f.levels[1] else -1 for f in factors] for t in drawn])


def test_every_block_is_a_setting_and_its_mirror_image_and_every_replicate_is_orthogonal() -> None:
    plan = _plan()
    trials = schedule(plan, "e", 8)
    for _, block in itertools.groupby(trials, key=lambda trial: trial.block):
        one, other = block
        assert all(one.settings[key] != other.settings[key] for key in FOUR)
        assert one.load == other.load
    x = _settings(trials, plan)
    assert x.shape == (64, 4)
    for half in (x[:32], x[32:]):
        assert (half.T @ half == 32 * np.eye(4)).all()
    assert (x[:32] != x[32:]).any()
    first = Counter((t.load, t.arm) for t in trials if t.position == 1)
    assert set(first.values()) == {16}


@pytest.mark.parametrize("factors", [2, 20, 31, 32, 63])
def test_a_replicate_estimates_every_factor_by_all_its_pairs(factors: int) -> None:
    x = np.array(replicate(factors, random.Random(3)))
    rows = rows_for(factors)
    assert x.shape == (rows, factors)
    assert (x.T @ x == rows * np.eye(factors)).all()


def test_a_screen_takes_whole_replicates_and_leaves_time_to_confirm() -> None:
    plan = _plan()
    assert rounds_needed(plan, QUIET) * 8 == 64
    assert rounds_needed(plan, {"fileio": 0.045}) * 8 == 96
    noisy, slow = {"fileio": 1.0}, _plan('trial = "4min"')
    assert 11 * 3600 < duration_s(slow, extent(slow, noisy)) <= 12 * 3600
    assert rounds_needed(slow, noisy) > extent(slow, noisy).rounds
    with pytest.raises(PlanError, match="do not hold 8 rounds"):
        extent(_plan('trial = "1h"'), QUIET)


def test_confirmation_comes_last_in_a_separate_order() -> None:
    plan = _plan()
    before = schedule(plan, "e", 8)
    held, rounds = confirmed_within(plan, QUIET, [("vm.dirty", "fileio")], before)
    survivors = set(held)
    assert survivors == {("vm.dirty", "fileio")}
    assert rounds == 5  # 1.4 (3.29 x 0.03 / log 1.02)^2 = 35 pairs
    trials = confirmation(plan, survivors, rounds, before)
    assert {trial.purpose for trial in trials} == {Purpose.CONFIRM}
    assert {trial.arm for trial in trials} == {"20%", "10%"}
    assert [trial.order for trial in trials] == list(range(len(before) + 1, len(before) + 81))
    assert min(trial.round for trial in trials) == 9
    assert all(trial.settings["vm.swappiness"] == 60 for trial in trials)
    alone = schedule(_plan('design = "one-at-a-time"'), "e", 5)
    first = [t.arm for t in alone if t.factor == "vm.dirty"]
    assert [t.arm for t in trials] != first
    assert confirmation(plan, survivors, rounds, before) == trials


def test_the_clearest_are_confirmed_where_the_budget_does_not_hold_all() -> None:
    survivors = [(key, "fileio") for key in FOUR]
    whole = _plan('trial = "4min"')
    made = tuple(schedule(whole, "e", 8))
    cost = cost_s(whole, made)
    each = confirming_s(whole)

    def held(hours_s: float, trials: tuple[Trial, ...] = made) -> list[tuple[str, str]]:
        protocol = dataclasses.replace(whole.protocol, budget_s=cost + hours_s)
        return list(confirmed_within(dataclasses.replace(whole, protocol=protocol), QUIET, survivors, trials)[0])

    assert held(0.9 * each) == []
    assert held(1.1 * each) == survivors[:1]
    assert held(2.1 * each) == survivors[:2]
    assert held(4.1 * each) == survivors
    again = dataclasses.replace(made[0], order=999, state=TrialState.SUPERSEDED)
    assert held(1.01 * each, (*made, again)) == held(1.01 * each)
