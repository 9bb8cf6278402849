"""Settings that are costly to apply hold for several trials."""

import dataclasses
import itertools
from collections import Counter, defaultdict

import pytest
from plan_samples import FILEIO, OFFERS, checked, offer, simple

from paribus.model import Plan, Trial
from paribus.plan.schedule.budget import block_s, rounds_needed
from paribus.plan.schedule.comparisons import Comparison, comparisons
from paribus.plan.schedule.design import schedule

MOUNT = {**OFFERS, "mount.logbsize": offer("mount.logbsize", "32k", ("32k", "64k", "128k"))}
LEVELS = FILEIO.replace("[1, 4]", "[1, 2, 4, 8]")


def _plan(protocol: str = 'trial = "1s"\nsettle = "0.5s"', levels: str = '["32k", "64k"]') -> Plan:
    plan = simple(f'"mount.logbsize" = {levels}', LEVELS, f"[protocol]\n{protocol}")
    return checked(plan, offers=MOUNT)


def _only(plan: Plan) -> Comparison:
    (one,) = comparisons(plan)
    return one


def _blocks(trials: tuple[Trial, ...]) -> list[list[Trial]]:
    return [list(block) for _, block in itertools.groupby(trials, key=lambda trial: trial.block)]


def test_the_costlier_an_application_against_a_trial_the_more_trials_it_holds() -> None:
    assert _only(_plan()).sub_trials == 1
    assert _only(_plan('trial = "0.1s"\nsettle = "0.05s"')).sub_trials == 3
    plan = _plan()
    slow = dataclasses.replace(plan, protocol=dataclasses.replace(plan.protocol, apply_s={"mount.logbsize": 90.0}))
    assert _only(slow).sub_trials == 8  # two passes over the load levels at most
    assert block_s(_only(slow), slow) == pytest.approx(2 * (90 + 8 * 1.65))
    assert _only(_plan("sub_trials = 2")).sub_trials == 2


def test_immediate_settings_need_no_plots() -> None:
    plan = checked(simple('"vm.swappiness" = [60, 1]', LEVELS, "[protocol]\nsub_trials = 4"))
    assert _only(plan).sub_trials == 1
    alone = checked(simple('"vm.swappiness" = [60, 1]', LEVELS, "[protocol]\nsub_trials = 4\nin_flight = false"))
    assert _only(alone).sub_trials == 4


@pytest.mark.parametrize("levels", ['["32k", "64k"]', '["32k", "64k", "128k"]'])
def test_the_arms_of_a_block_have_the_same_levels_in_the_same_sequence_and_orders_are_balanced(levels: str) -> None:
    plan = _plan("sub_trials = 3", levels)
    trials = schedule(plan, "e", 6)
    seen: dict[str, Counter[object]] = defaultdict(Counter)
    arms = len(_only(plan).arms)
    for block in _blocks(trials):
        applications = [list(held) for _, held in itertools.groupby(block, key=lambda trial: trial.application)]
        assert len(applications) == arms
        assert all(len({trial.arm for trial in held}) == 1 for held in applications)
        assert len({tuple(trial.load for trial in held) for held in applications}) == 1
        assert [trial.position for trial in block] == list(range(1, 3 * arms + 1))
        for trial in applications[0]:
            seen["load"][trial.load] += 1
        seen["order"][tuple(held[0].arm for held in applications)] += 1
    assert len(_blocks(trials)) == 24
    assert set(seen["load"].values()) == {18}
    assert set(seen["order"].values()) == {24 // (2 if arms == 2 else 6)}
    assert schedule(plan, "e", 6) == trials


def test_rounds_are_counted_in_pairs_of_applications() -> None:
    plan = _plan("sub_trials = 3")
    assert rounds_needed(plan, {"fileio": 0.001}) == 4
    assert rounds_needed(plan, {"fileio": 1.0}) == 16
