"""Restoration of a fleet on scripted machines: what each gets back, and what cannot be restored."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from paribus.lab.fleet.controllers import ControllerCommand, ControllerEnd
from paribus.lab.fleet.inventory import FleetHost
from paribus.lab.rollout import fleet_undo
from paribus.lab.rollout.fleet_undo import FleetUndo, FleetUndoDocument, UndoState

BECOMING = {"target.become": "true"}
HOSTS = [FleetHost("db1", "ssh://db1", BECOMING), FleetHost("db2", "ssh://db2"), FleetHost("l", "local", BECOMING)]
CHANGED: dict[str, Any] = {"event": "would-restore", "knob": "vm.swappiness", "before": "60", "path": "/j"}
RESTORED: dict[str, Any] = {"event": "restored", "knob": "vm.swappiness", "value": "60", "address": "/a"}
Ends = Mapping[str, ControllerEnd | None]
Carry = Callable[[Ends, Ends], tuple[FleetUndoDocument, FleetUndoDocument]]


def _end(*events: dict[str, Any], code: int = 0, message: str = "") -> ControllerEnd:
    return ControllerEnd(code, json.dumps({"dry_run": False, "events": events}), message)


@pytest.fixture
def carried_out(monkeypatch: pytest.MonkeyPatch) -> Carry:
    def carry(read: Ends, restored: Ends) -> tuple[FleetUndoDocument, FleetUndoDocument]:
        class Scripted:
            def __init__(self, *_args: object, **_options: object) -> None: ...

            def run(self, commands: Mapping[str, ControllerCommand]) -> dict[str, ControllerEnd]:
                ends = {name: (read if "--dry-run" in each.arguments else restored) for name, each in commands.items()}
                assert [name for name, each in commands.items() if "--become" in each.arguments] in ([], ["db1"])
                return {name: end for name, script in ends.items() if (end := script[name]) is not None}

        monkeypatch.setattr(fleet_undo, "Controllers", Scripted)
        undo = FleetUndo(HOSTS)
        checked = undo.check()
        return checked, undo.run(checked)

    return carry


def test_only_machines_with_changed_settings_are_restored(carried_out: Carry) -> None:
    checked, done = carried_out(
        {"db1": _end(CHANGED), "db2": _end(), "l": _end(CHANGED)}, {"db1": _end(RESTORED), "l": _end(RESTORED)}
    )
    assert checked.dry_run and checked.named(UndoState.TO_RESTORE) == ["db1", "l"]
    assert [each.state for each in done.machines] == [UndoState.RESTORED, UndoState.NOTHING, UndoState.RESTORED]
    assert done.machines[0].settings[0].before == "60"


def test_a_journal_without_a_changed_setting_is_closed(carried_out: Carry) -> None:
    would_close = {"event": "would-close", "experiment": "e", "path": "/j"}
    checked, done = carried_out({"db1": _end(would_close), "db2": _end(), "l": _end()}, {"db1": _end()})
    assert checked.named(UndoState.TO_RESTORE) == done.named(UndoState.RESTORED) == ["db1"]
    assert done.machines[0].settings == []


def test_a_machine_that_cannot_be_read_keeps_no_other_from_being_restored(carried_out: Carry) -> None:
    dead = ControllerEnd(4, "", "ssh://db1 cannot be reached")
    _, done = carried_out({"db1": dead, "db2": _end(CHANGED), "l": _end()}, {"db2": _end(RESTORED)})
    assert [each.state for each in done.machines] == [UndoState.FAILED, UndoState.RESTORED, UndoState.NOTHING]
    assert done.machines[0].problem == "ssh://db1 cannot be reached"


def test_settings_restored_beside_a_stuck_one_are_named(carried_out: Carry) -> None:
    stuck = {"event": "stuck", "knob": "k", "address": "/a", "wanted": "1", "found": "2"}
    half = _end(RESTORED, stuck, code=4, message="1 setting could not be restored")
    _, done = carried_out({"db1": _end(CHANGED), "db2": _end(), "l": _end()}, {"db1": half})
    assert (done.machines[0].state, done.machines[0].problem) == (UndoState.FAILED, "1 setting could not be restored")
    assert [each.knob for each in done.machines[0].settings] == ["vm.swappiness"]


def test_a_stop_leaves_machines_that_were_not_begun(carried_out: Carry) -> None:
    read = {"db1": _end(CHANGED), "db2": _end(CHANGED), "l": _end()}
    _, done = carried_out(read, {"db1": _end(RESTORED), "db2": None})
    assert [each.state for each in done.machines[:2]] == [UndoState.RESTORED, UndoState.NOT_BEGUN]
    assert [each.knob for each in done.machines[1].settings] == ["vm.swappiness"], "it is still to be restored"


def test_experiments_that_run_and_settings_that_were_applied_are_named(carried_out: Carry) -> None:
    busy, kept = ({"event": kind, "experiment": f"e-{kind}", "path": "/j"} for kind in ("busy", "kept"))
    read = {"db1": _end(CHANGED, busy, kept), "db2": _end(busy), "l": _end()}
    for document in carried_out(read, {"db1": _end(RESTORED, busy, kept)}):
        assert (document.machines[0].running, document.machines[0].applied) == (["e-busy"], ["e-kept"])
        assert (document.machines[1].state, document.machines[1].running) == (UndoState.NOTHING, ["e-busy"])


def test_a_controller_that_was_killed_keeps_no_other_from_being_told(carried_out: Carry) -> None:
    killed = ControllerEnd(-9, '{"dry_run": fa', "")
    read = {"db1": _end(CHANGED), "db2": _end(CHANGED), "l": killed}
    _, done = carried_out(read, {"db1": killed, "db2": _end(RESTORED)})
    assert [each.state for each in done.machines] == [UndoState.FAILED, UndoState.RESTORED, UndoState.FAILED]
    assert done.machines[0].problem == "the controller was ended by SIGKILL"
