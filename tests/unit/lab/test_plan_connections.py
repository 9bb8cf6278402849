"""Machines of a plan that are not reached, told together with what is wrong in the plan."""

import pytest
from plan_samples import FILEIO, parsed, simple

from paribus.errors import PlanError, Unreachable
from paribus.lab.machine.inspection import site_of

NOBODY = "ssh://127.0.0.1:1"  # where nothing listens
LOAD = f'[load]\nhosts = ["{NOBODY}", "local"]'
PLAN = simple('"vm.swappiness" = [60, 1]', FILEIO)


def _problems(text: str, overrides: dict[str, str]) -> list[str]:
    with pytest.raises(PlanError) as refused, site_of(parsed(text, overrides)):
        pass
    return [f"{problem.location}: {problem.message}" for problem in refused.value.problems]


def test_each_machine_that_is_not_reached_is_named() -> None:
    overrides = {"target.host": "ssh://127.0.0.1:2"}
    with pytest.raises(Unreachable) as unreached, site_of(parsed(f"{PLAN}\n{LOAD}", overrides)):
        pass
    assert f"cannot reach {overrides['target.host']}" in str(unreached.value)
    assert f"cannot reach {NOBODY}" in str(unreached.value)


def test_mistakes_of_a_plan_are_told_where_its_machine_is_not_reached() -> None:
    problems = _problems(PLAN, {"target.host": NOBODY, "protocol.rounds": "many"})
    assert len(problems) == 2
    assert any(problem.startswith("protocol.rounds") for problem in problems)
    assert any(problem.startswith(f"target.host: cannot reach {NOBODY}") for problem in problems)


def test_a_single_machine_that_is_not_reached_is_no_mistake_of_the_plan() -> None:
    with pytest.raises(Unreachable, match="cannot reach"), site_of(parsed(PLAN, {"target.host": NOBODY})):
        pass
