"""Long runs before anything is compared, and what they settle."""

import pytest
from plan_samples import FILEIO, checked, simple

from paribus.model import Plan, Purpose
from paribus.plan.schedule.budget import duration_s, extent, settle_runs_s, with_settle_runs
from paribus.plan.schedule.design import schedule
from paribus.plan.schedule.settling import with_settle

QUIET = {"fileio": 0.03}


def _plan(protocol: str = "", factors: str = '"vm.swappiness" = [60, 1]', workload: str = FILEIO) -> Plan:
    return checked(simple(factors, workload, f"[protocol]\n{protocol}"))


def test_the_baseline_then_the_arms_run_long_at_the_highest_and_the_lowest_level() -> None:
    plan = with_settle_runs(_plan('budget = "8h"'))
    trials = schedule(plan, "e", 2)
    runs = [trial for trial in trials if trial.purpose is Purpose.CALIBRATE]
    assert [(run.arm, run.load.n) for run in runs] == [("", 4), ("", 1), ("1", 4), ("1", 1)]
    assert trials[: len(runs)] == tuple(runs)
    assert len({run.block for run in runs}) == 4
    assert plan.protocol.settle_run_s == 600
    assert extent(plan, QUIET).noise_rounds == 0


def test_they_take_a_tenth_of_the_budget_and_leave_a_round_that_shows_the_length_of_trials() -> None:
    plan = with_settle_runs(_plan('budget = "24h"', '"vm.dirty" = ["20%", "10%"]', FILEIO.replace("1MiB", "1GiB")))
    assert 2 <= plan.protocol.settle_runs <= 4
    assert settle_runs_s(plan) <= 0.1 * plan.protocol.budget_s
    planned = extent(plan, {})
    assert planned.noise_rounds == 1
    assert duration_s(plan, planned) <= plan.protocol.budget_s


@pytest.mark.parametrize("protocol", ['settle = "10s"', "rounds = 4", 'budget = "70m"'])
def test_none_are_made_where_it_is_said_or_not_worth_it(protocol: str) -> None:
    assert with_settle_runs(_plan(protocol)).protocol.settle_runs == 0


def test_calibrated_time_holds_for_every_load_and_at_least_a_twelfth_of_a_trial() -> None:
    plan = _plan()
    slow = with_settle(plan, 130.0, 40.0).protocol
    assert (slow.settle_s, slow.takeoff_s, slow.toggle_s, slow.settled) == (130.0, 130.0, 40.0, "calibrated")
    quick = with_settle(plan, 0.0, 0.0).protocol
    assert (quick.settle_s, quick.takeoff_s, quick.toggle_s) == (5.0, 5.0, plan.protocol.toggle_s)
    assert with_settle_runs(with_settle(plan, 1.0, 1.0)).protocol.settle_runs == 0


def test_a_plan_that_measures_only_needs_none() -> None:
    plan = checked('name = "n"\n[[workload]]\nkind = "iomatrix"\n')
    assert with_settle_runs(plan).protocol.settle_runs == 0
