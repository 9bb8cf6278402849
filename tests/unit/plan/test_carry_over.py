"""Comparisons that wash out the residue of a setting or adjust for it, and the cost of that."""

import pytest
from plan_samples import FILEIO, checked, simple

from paribus.errors import PlanError
from paribus.model import Plan
from paribus.plan.schedule.budget import block_s, rounds_needed
from paribus.plan.schedule.comparisons import adjusts_for_carry_over, comparisons, washes_out

ON_REQUESTS = '"block.rq_affinity" = [1, 2]'
IN_MEMORY = '"vm.dirty" = ["20%", "10%"]'


def _plan(factors: str, protocol: str = "") -> Plan:
    return checked(simple(factors, FILEIO, f"[protocol]\nplacebo = false\n{protocol}"))


@pytest.mark.parametrize(
    ("protocol", "washed"),
    [("", (False, True)), ("wash_out = false", (False, False)), ("wash_out = true", (True, True))],
)
def test_settings_are_washed_out_unless_they_act_on_single_requests(protocol: str, washed: tuple[bool, bool]) -> None:
    plan = _plan(f"{ON_REQUESTS}\n{IN_MEMORY}", protocol)
    assert tuple(washes_out(comparison, plan) for comparison in comparisons(plan)) == washed


def test_parameters_of_a_workload_are_washed_out() -> None:
    plan = _plan('"fileio.direct" = [false, true]')
    assert plan.protocol.washed_out == ("fileio.direct",)


def test_a_wash_out_takes_half_a_trial_for_each_pair() -> None:
    (washed, plain) = (
        block_s(comparisons(plan)[0], plan)
        for plan in (_plan(IN_MEMORY, protocol) for protocol in ("", "wash_out = false"))
    )
    assert washed - plain == pytest.approx(30.0)


def test_a_wash_out_of_its_own_length_follows_every_pair() -> None:
    washed, plain = (_plan(IN_MEMORY, f"wash_out = {value}") for value in ('"3min"', "false"))
    assert washed.protocol.washes_out and washed.protocol.wash_out_s == 180.0
    times = [block_s(comparisons(plan)[0], plan) for plan in (washed, plain)]
    assert times[0] - times[1] == pytest.approx((180.0 + 120.0) / 2)


def test_a_wash_out_of_its_own_length_is_for_two_levels() -> None:
    plan = _plan('"vm.dirty" = ["20%", "10%", "5%"]', 'wash_out = "3min"')
    (note,) = (note for note in plan.notes if "wash_out" in str(note))
    assert "not used for vm.dirty" in str(note) and "set settle" in str(note)


def test_more_than_two_levels_are_adjusted_for_and_need_more_rounds() -> None:
    (adjusted, plain) = (
        _plan('"vm.dirty" = ["20%", "10%", "5%"]', f"{protocol}\nbudget = '100h'")
        for protocol in ("", "wash_out = false")
    )
    (comparison,) = comparisons(adjusted)
    assert adjusts_for_carry_over(comparison, adjusted) and not washes_out(comparison, adjusted)
    assert not adjusts_for_carry_over(comparison, plain)
    assert block_s(comparison, adjusted) == block_s(comparison, plain)
    noise = {"fileio": 0.03}
    assert rounds_needed(adjusted, noise) / rounds_needed(plain, noise) == pytest.approx(4 / 3, abs=0.1)


@pytest.mark.parametrize("value", ['"long"', "0", '"0s"', "-3", "[1]", "inf"])
def test_a_wash_out_that_is_no_time_is_refused(value: str) -> None:
    with pytest.raises(PlanError) as refused:
        _plan(IN_MEMORY, f"wash_out = {value}")
    [problem] = refused.value.problems
    assert "true and false are allowed too" in str(problem)
