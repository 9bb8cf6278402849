"""Stages of a rollout on scripted machines: order, the first fault, a stop, and what is refused."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pytest

from paribus.errors import UsageError
from paribus.lab.fleet.controllers import ControllerCommand, ControllerEnd
from paribus.lab.fleet.inventory import FleetHost
from paribus.lab.rollout import fleet_rollout
from paribus.lab.rollout.apply_document import ApplyDocument, Difference, Step
from paribus.lab.rollout.fleet_rollout import FleetApplyDocument, Rollout, read_canary, read_pause

HOSTS = [FleetHost(f"db{n}", f"ssh://db{n}", {"target.device": f"/dev/d{n}"}) for n in range(1, 5)]


def _step(now: int, *, refused: str = "") -> Step:
    return Step(
        factor="k",
        knob="vm.swappiness",
        now=now,
        wanted=1,
        set="",
        check="",
        persist="",
        by_hand=False,
        danger="",
        refused=refused,
    )


@dataclass
class Machines:
    """Machines by name, with the value of the setting; the controllers of a rollout read and set it."""

    values: dict[str, int] = field(default_factory=lambda: {host.name: 60 for host in HOSTS})
    failing: frozenset[str] = frozenset()
    forgetful: frozenset[str] = frozenset()
    unlike: frozenset[str] = frozenset()
    refusing: frozenset[str] = frozenset()
    dead: frozenset[str] = frozenset()
    dying: frozenset[str] = frozenset()
    unrestored: frozenset[str] = frozenset()
    stopped: frozenset[str] = frozenset()
    order: list[str] = field(default_factory=list)
    on_set: Callable[[], None] = lambda: None

    def carry_out(self, commands: Mapping[str, ControllerCommand]) -> dict[str, ControllerEnd]:
        return {name: self._end(name, command.arguments) for name, command in commands.items()}

    def _end(self, name: str, arguments: object) -> ControllerEnd:
        assert isinstance(arguments, list)
        assert f"--device=/dev/d{name[-1]}" in arguments
        if name in self.dead or (name in self.dying and name in self.order):
            return ControllerEnd(3, "", "the connection is lost")
        if "--yes" in arguments:
            self.order.append(name)
            self.on_set()
            if name in self.stopped:
                return ControllerEnd(-15, "", "")
            if name in self.failing:
                return ControllerEnd(3, "", "it was refused")
            if name in self.unrestored:
                self.values[name] = 1
                return ControllerEnd(4, "", "it was not restored")
            self.values[name] = 60 if name in self.forgetful else 1
        return ControllerEnd(0, self._document(name).model_dump_json(), "")

    def _document(self, name: str) -> ApplyDocument:
        unlike = [Difference(name="kernel", measured="6.1", found="5.10")] if name in self.unlike else []
        step = _step(self.values[name], refused="it is read-only" if name in self.refusing else "")
        return ApplyDocument(
            experiment="e", target=name, differences=unlike, advice=[], steps=[step], notes=[], made=[], journal=""
        )


@pytest.fixture
def carried_out(monkeypatch: pytest.MonkeyPatch) -> Callable[..., FleetApplyDocument]:
    def run(machines: Machines, canary: float = 1, **options: object) -> FleetApplyDocument:
        class Scripted:
            def __init__(self, *_args: object, **_options: object) -> None: ...

            run = staticmethod(machines.carry_out)

        monkeypatch.setattr(fleet_rollout, "Controllers", Scripted)
        rollout = Rollout("e", HOSTS, canary, anyway=bool(options.pop("anyway", False)))
        return rollout.run(rollout.check(), **options)  # type: ignore[arg-type]

    return run


def _states(document: FleetApplyDocument) -> list[str]:
    return [str(machine.state) for machine in document.machines]


def test_canaries_are_set_first_and_the_others_after_them(carried_out: Callable[..., FleetApplyDocument]) -> None:
    machines = Machines(values={"db1": 60, "db2": 1, "db3": 60, "db4": 60})
    document = carried_out(machines, canary=2)
    assert _states(document) == ["in force"] * 4
    assert machines.order == ["db1", "db3", "db4"]
    assert [machine.machine for machine in document.machines if machine.is_canary] == ["db1", "db3"]
    assert [machine.was_set for machine in document.machines] == [True, False, True, True]


@pytest.mark.parametrize("fault", ["failing", "forgetful"])
def test_the_others_stay_as_they_are_where_a_canary_is_not_in_force(
    carried_out: Callable[..., FleetApplyDocument], fault: str
) -> None:
    machines = Machines(**{fault: frozenset({"db1"})})  # type: ignore[arg-type]
    document = carried_out(machines)
    assert _states(document) == ["failed", "not begun", "not begun", "not begun"]
    assert document.machines[0].problem
    assert document.machines[0].was_set == (fault == "forgetful")
    assert machines.order == ["db1"]


def test_a_canary_that_moves_in_the_pause_stops_the_rollout(carried_out: Callable[..., FleetApplyDocument]) -> None:
    machines = Machines()
    lines: list[str] = []

    def report(line: str) -> None:
        lines.append(line)
        machines.values["db1"] = 60

    document = carried_out(machines, pause_s=0.01, report=report)
    assert lines
    assert _states(document) == ["failed", "not begun", "not begun", "not begun"]
    assert document.machines[0].problem == "not in force: vm.swappiness is 60"


def test_a_machine_that_fails_later_is_named_and_the_others_are_in_force(
    carried_out: Callable[..., FleetApplyDocument],
) -> None:
    document = carried_out(Machines(failing=frozenset({"db3"})))
    assert _states(document) == ["in force", "in force", "failed", "in force"]


@pytest.mark.parametrize("name", ["db1", "db3"])
def test_a_machine_that_cannot_be_read_after_it_was_set_has_failed(
    carried_out: Callable[..., FleetApplyDocument], name: str
) -> None:
    document = carried_out(Machines(dying=frozenset({name})))
    states = dict(zip((host.name for host in HOSTS), document.machines, strict=True))
    assert (states[name].state, states[name].was_set) == ("failed", True)
    assert states[name].problem == "the connection is lost"
    assert states["db4"].state == ("not begun" if name == "db1" else "in force")


def test_a_machine_that_may_be_set_or_not_says_so(carried_out: Callable[..., FleetApplyDocument]) -> None:
    both = frozenset({"db2"})
    lost = carried_out(Machines(failing=both, dying=both)).machines[1]
    assert (lost.state, lost.was_set, lost.is_unrestored) == ("failed", None, False)
    left = carried_out(Machines(unrestored=both)).machines[1]
    assert (left.state, left.was_set, left.is_unrestored) == ("failed", True, True)
    assert left.problem == "it was not restored"


def test_a_controller_that_a_stop_has_ended_has_begun_nothing(carried_out: Callable[..., FleetApplyDocument]) -> None:
    assert _states(carried_out(Machines(stopped=frozenset({"db2"})))) == [
        "in force",
        "not begun",
        "in force",
        "in force",
    ]


def test_a_stop_request_begins_no_further_stage(carried_out: Callable[..., FleetApplyDocument]) -> None:
    stops: list[bool] = []
    machines = Machines(on_set=lambda: stops.append(True))
    document = carried_out(machines, stop_requested=lambda: bool(stops))
    assert _states(document) == ["in force", "not begun", "not begun", "not begun"]


def test_machines_of_another_kind_and_those_that_refuse_are_left_out(
    carried_out: Callable[..., FleetApplyDocument],
) -> None:
    kinds = {"unlike": frozenset({"db1"}), "refusing": frozenset({"db2"}), "dead": frozenset({"db3"})}
    document = carried_out(Machines(**kinds))  # type: ignore[arg-type]
    assert _states(document) == ["refused", "refused", "refused", "in force"]
    assert [machine.problem for machine in document.machines] == [
        "another kind of machine: kernel is 5.10, measured with 6.1",
        "vm.swappiness: it is read-only",
        "the connection is lost",
        "",
    ]
    unlike_too = carried_out(Machines(unlike=frozenset({"db1"})), anyway=True)
    assert _states(unlike_too) == ["in force"] * 4


@pytest.mark.parametrize(("text", "number"), [("2", 2), ("5%", 0.05), (" 50% ", 0.5), ("100%", float("inf"))])
def test_canaries_are_a_number_or_a_share(text: str, number: float) -> None:
    assert read_canary(text) == number


@pytest.mark.parametrize("text", ["0", "-1", "0%", "101%", "1.5", "two", "", "nan%", "inf"])
def test_other_canaries_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--canary"):
        read_canary(text)


def test_a_pause_is_a_time() -> None:
    assert read_pause("") == 0.0
    assert read_pause("30min") == 1800.0
    with pytest.raises(UsageError, match="--pause soon"):
        read_pause("soon")
