"""Effects over machines: the machine is the unit, and who answers otherwise is named."""

import math
from collections.abc import Mapping, Sequence

import pytest

from paribus.analysis.fleet import MachineResult, fleet_effects, open_questions
from paribus.findings import FleetEffect
from paribus.model import Effect, Tag, Verdict
from paribus.units import LoadLevel

MARGIN = math.log(1.02)


def _effect(estimate: float, half_width: float = 0.02, response: str = "throughput_per_s", **changes: object) -> Effect:
    values: dict[str, object] = {
        "factor": "f", "baseline": "a", "arm": "b", "workload": "w", "response": response, "load": None,
        "estimate": estimate, "low": estimate - half_width, "high": estimate + half_width, "confidence": 0.95,
        "pairs": 40, "margin": MARGIN, "method": "", "look": 1, "verdict": Verdict.BETTER, "tags": (), "reasons": (),
        "trials": (),
    }  # fmt: skip
    return Effect(**{**values, **changes})  # type: ignore[arg-type]


def _machines(
    estimates: Sequence[float], facts: Mapping[int, Mapping[str, str]] | None = None, **changes: object
) -> list[MachineResult]:
    machines = []
    for number, estimate in enumerate(estimates):
        own_facts = {"kernel": "6.1", **(facts or {}).get(number, {})}
        effects = [_effect(estimate, **changes)]  # type: ignore[arg-type]
        machines.append(MachineResult(f"e{number}", f"db{number}", own_facts, effects, {("f", "b", "w"): "same"}))
    return machines


def _one(machines: Sequence[MachineResult]) -> FleetEffect:
    [effect] = fleet_effects(machines, 0.95)
    return effect


@pytest.mark.parametrize(
    ("estimates", "response", "verdict"),
    [
        ((0.10, 0.105, 0.095, 0.10), "throughput_per_s", Verdict.BETTER),
        ((0.10, 0.105, 0.095, 0.10), "response_p95_s", Verdict.WORSE),
        ((0.001, 0.0, -0.001, 0.0), "throughput_per_s", Verdict.EQUIVALENT),
        ((0.30, -0.25, 0.20, -0.10), "throughput_per_s", Verdict.UNDECIDED),
    ],
)
def test_the_mean_over_machines_is_judged(estimates: tuple[float, ...], response: str, verdict: Verdict) -> None:
    effect = _one(_machines(estimates, response=response, half_width=0.01))
    assert effect.verdict is verdict
    assert effect.mean.value == pytest.approx(sum(estimates) / 4, abs=0.01)
    assert effect.next_machine.low is not None and effect.mean.low is not None
    assert effect.next_machine.low < effect.mean.low


def test_a_machine_that_answers_otherwise_is_named_with_what_it_alone_has() -> None:
    facts = {4: {"kernel": "5.10", "device": "/dev/sda"}, 0: {"cpu": "other"}}
    effect = _one(_machines([0.10, 0.11, 0.09, 0.10, -0.20], facts, half_width=0.01))
    assert [machine.machine for machine in effect.machines if machine.apart] == ["db4"]
    assert effect.machines[4].only_here == (("kernel", "5.10"), ("device", "/dev/sda"))


def test_more_questions_share_the_error() -> None:
    single, *_ = fleet_effects(_machines([0.1, 0.11, 0.09]), 0.95)
    machines = [
        MachineResult(each.experiment, each.machine, {}, [*each.effects, _effect(0.1, arm="c")], each.questions)
        for each in _machines([0.1, 0.11, 0.09])
    ]
    both = fleet_effects(machines, 0.95)
    assert [effect.confidence for effect in both] == pytest.approx([0.975, 0.975])
    assert both[0].mean.low is not None and single.mean.low is not None
    assert both[0].mean.low < single.mean.low


def test_effects_of_two_machines_of_load_levels_and_of_other_questions_are_not_taken_together() -> None:
    machines = _machines([0.1, 0.1, 0.1, 0.1])
    other = MachineResult("e3", "db3", {}, machines[3].effects, {("f", "b", "w"): "another size"})
    by_level = MachineResult("e2", "db2", {}, [_effect(0.1, load=LoadLevel(1), verdict=None)], machines[2].questions)
    averaged = MachineResult("e5", "db5", {}, [_effect(0.1, tags=(Tag.AVERAGE,))], machines[2].questions)
    asked = [*machines[:2], by_level, other, averaged]
    assert fleet_effects(asked, 0.95) == []
    [question] = open_questions(asked)
    assert question.machines == (("db0", "db1"), ("db3",), ("db5",))


def test_machines_on_which_the_setting_cannot_act_leave_the_question_open() -> None:
    none = _effect(0.0, verdict=Verdict.NO_EFFECT_POSSIBLE)
    machines = _machines([0.1, 0.0, 0.0, 0.0])
    asked = [machines[0], *(MachineResult(m.experiment, m.machine, {}, [none], m.questions) for m in machines[1:])]
    assert fleet_effects(asked, 0.95) == []
    [question] = open_questions(asked)
    assert (question.machines, question.inert) == ((("db0", "db1", "db2", "db3"),), ("db1", "db2", "db3"))


def test_machines_that_have_no_verdict_are_named() -> None:
    machines = _machines([0.1, 0.11, 0.09, 0.1])
    machines[3] = MachineResult("e3", "db3", {}, [_effect(0.1, verdict=None)], machines[3].questions)
    effect = _one(machines)
    assert (len(effect.machines), effect.unjudged) == (3, ("db3",))
    assert open_questions(machines) == []


def test_a_machine_where_the_setting_cannot_act_is_not_in_the_mean() -> None:
    machines = _machines([0.1, 0.11, 0.09, 0.1, 0.0])
    none = _effect(0.0, verdict=Verdict.NO_EFFECT_POSSIBLE)
    machines[4] = MachineResult("e4", "db4", {}, [none], machines[4].questions)
    effect = _one(machines)
    assert effect.mean.value == pytest.approx(0.1)
    assert [machine.counted for machine in effect.machines] == [True, True, True, True, False]


def test_the_smallest_margin_decides_equivalence() -> None:
    machines = _machines([0.052, 0.053, 0.051], half_width=0.001)
    machines[2] = MachineResult("e2", "db2", {}, [_effect(0.051, margin=math.log(1.1))], machines[2].questions)
    assert _one(machines).verdict is Verdict.BETTER


def test_suspect_verdicts_of_machines_stay_marked() -> None:
    effect = _one(_machines([0.1, 0.11, 0.09], tags=(Tag.SUSPECT,)))
    assert all(machine.suspect for machine in effect.machines)
