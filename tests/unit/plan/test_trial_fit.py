"""Length of trials in a small budget."""

import re

import pytest
from plan_samples import FILEIO, checked, simple

from paribus.errors import PlanError
from paribus.model import Plan
from paribus.plan.schedule.budget import duration_s, extent
from paribus.plan.schedule.trial_fit import with_fitting_trials


def _plan(protocol: str, workload: str = FILEIO) -> Plan:
    return checked(simple('"vm.swappiness" = [60, 1]', workload, f"[protocol]\nin_flight = false\n{protocol}"))


def test_a_small_budget_has_the_longest_trials_of_which_it_holds_the_fewest_rounds() -> None:
    plan = with_fitting_trials(_plan('budget = "20m"'))
    assert 10 <= plan.protocol.trial_s < 60
    assert plan.protocol.settle_s == plan.protocol.trial_s / 2
    assert 0.9 * plan.protocol.budget_s < duration_s(plan, extent(plan, {})) <= plan.protocol.budget_s
    [note] = [note for note in plan.notes if "instead of 1 min" in note]
    assert note.startswith("trials of ")


@pytest.mark.parametrize("protocol", ['budget = "4h"', 'budget = "20m"\ntrial = "60s"', 'budget = "20m"\nrounds = 2'])
def test_trials_are_as_stated_or_usual_elsewhere(protocol: str) -> None:
    plan = _plan(protocol)
    assert with_fitting_trials(plan) == plan


def test_a_budget_that_holds_none_is_refused_with_the_time_of_the_shortest() -> None:
    plan = with_fitting_trials(_plan('budget = "2m"'))
    assert plan.protocol.trial_s == 10
    with pytest.raises(PlanError, match="2 min do not hold 2 rounds, which take") as refused:
        extent(plan, {})
    proposed = re.search(r"raise the budget to (\d+) min, shorten trial to (\d+) s, or", str(refused.value))
    assert proposed is not None
    minutes, trial_s = proposed.groups()
    extent(_plan(f'budget = "{minutes}m"\ntrial = "10s"'), {})
    extent(_plan(f'budget = "2m"\ntrial = "{trial_s}s"'), {})


@pytest.mark.parametrize("settle", ["", 'settle = "4s"\n', 'settle = "30s"\n'])
@pytest.mark.parametrize("trial", ["10s", "60s", "5m"])
@pytest.mark.parametrize("budget", ["1m", "3m", "10m"])
@pytest.mark.parametrize("response", ["throughput_per_s", "throughput_p05_per_s"])
def test_proposals_of_a_refusal_are_accepted(settle: str, trial: str, budget: str, response: str) -> None:
    def carry_out(trial: str, budget: str) -> None:
        protocol = f'budget = "{budget}"\ntrial = "{trial}"\n{settle}'
        extent(_plan(protocol, f'{FILEIO}response = ["{response}"]\n'), {})

    if response == "throughput_p05_per_s" and trial == "10s":
        return  # refused for another reason
    try:
        carry_out(trial, budget)
    except PlanError as refused:
        raised = re.search(r"raise the budget to ([^,]+),? ", str(refused))
        shorter = re.search(r"shorten trial to (\d+) s", str(refused))
        assert raised is not None
        carry_out(trial, raised[1].replace(" or compare less", "").replace(" ", ""))
        if shorter is not None:
            carry_out(f"{shorter[1]}s", budget)


def test_stated_settle_times_stay() -> None:
    plan = with_fitting_trials(_plan('budget = "20m"\nsettle = "4s"'))
    assert plan.protocol.trial_s < 60
    assert plan.protocol.settle_s == 4


def test_trials_whose_seconds_are_judged_have_twenty_of_them() -> None:
    plan = with_fitting_trials(_plan('budget = "2m"', f'{FILEIO}response = ["seconds_below_half"]\n'))
    assert plan.protocol.trial_s == 20
