"""A plan assigned to machines, and the processes that carry commands out for them."""

import json
import os
import signal
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import scripted
from plan_samples import FILEIO, facts, parsed, simple

from paribus.errors import PlanError, UsageError
from paribus.experiment import walk
from paribus.knobs.catalog import load
from paribus.lab.fleet import running
from paribus.lab.fleet.controllers import ControllerCommand, ControllerEnd, Controllers
from paribus.lab.fleet.fleet_documents import FleetCheckDocument
from paribus.lab.fleet.inventory import FleetHost
from paribus.lab.fleet.running import Fleet
from paribus.model import ExperimentState
from paribus.plan.check import check
from paribus.store import write
from paribus.store.open import open_engine, store_url

PLAN = simple('"vm.swappiness" = [60, 1]', FILEIO, '[protocol]\nbudget = "8h"\nrounds = 4\nmethod = "fixed"')
HOSTS = [FleetHost(f"db{n}", f"ssh://db{n}") for n in range(1, 4)]


@pytest.fixture
def plan(tmp_path: Path) -> str:
    file = tmp_path / "plan.toml"
    file.write_text(PLAN)
    return str(file)


def test_each_machine_has_its_own_name_and_keys_which_win_over_common_ones(plan: str) -> None:
    hosts = [HOSTS[0], FleetHost("db2", "ssh://db2", {"protocol.seed": "2"})]
    fleet = Fleet.of(plan, {"protocol.seed": "1", "target.become": "true"}, hosts, None)
    first, second = (each.overrides for each in fleet.assignments)
    assert first == {"target.host": "ssh://db1", "name": "n-db1", "protocol.seed": "1", "target.become": "true"}
    assert second == {"target.host": "ssh://db2", "name": "n-db2", "protocol.seed": "2", "target.become": "true"}
    assert fleet.at_once == 2


def test_a_machine_is_done_when_the_store_has_its_experiment_of_the_same_plan(plan: str, tmp_path: Path) -> None:
    file = str(tmp_path / "s.db")
    opened = open_engine(store_url(file), create=True)
    assigned = Fleet.of(plan, {}, HOSTS, file).assignments[1]
    done_plan = check(parsed(PLAN, assigned.overrides), load(), facts())
    scripted.carry_out(opened, done_plan, lambda _: 0.0)
    opened.dispose()

    def is_done(overrides: Mapping[str, str], *, anew: bool = False) -> list[bool]:
        return [each.is_done for each in Fleet.of(plan, overrides, HOSTS, file, anew=anew).assignments]

    assert is_done({}) == [False, True, False]
    assert is_done({"protocol.seed": "9"}) == [False, False, False]
    assert is_done({}, anew=True) == [False, False, False]


def test_trials_use_the_target_its_load_hosts_and_its_hypervisor(plan: str) -> None:
    def uses(**overrides: str) -> frozenset[str]:
        keys = {key.replace("_", ".", 1): value for key, value in overrides.items()}
        return Fleet.of(plan, keys, HOSTS[:1], None).assignments[0].uses

    assert uses() == {"db1:22"}
    assert uses(load_hosts='["ssh://a@load/", "local"]') == {"db1:22", "load:22", "local"}
    assert uses(target_guest="g", target_hypervisor="qemu+ssh://root@kvm/system") == {"db1:22", "kvm:22"}


def test_commands_that_use_one_machine_run_one_after_another(tmp_path: Path) -> None:
    running: set[str] = set()
    seen: list[set[str]] = []

    def command(name: str, *uses: str) -> ControllerCommand:
        return ControllerCommand(["report", "last", f"--store={tmp_path}/{name}.db"], frozenset(uses))

    def on_end(name: str, _end: ControllerEnd) -> None:
        running.discard(name)

    class Watched(Controllers):
        def _attend(self, name: str, arguments: Sequence[str]) -> ControllerEnd | None:
            running.add(name)
            seen.append(set(running))
            return super()._attend(name, arguments)

    commands = {"a": command("a", "load"), "b": command("b", "load"), "c": command("c", "other")}
    ends = Watched(3, lambda _: None).run(commands, on_end)
    assert set(ends) == {"a", "b", "c"}
    assert not any({"a", "b"} <= together for together in seen)


def test_an_unfinished_experiment_of_an_earlier_form_of_the_plan_is_named(plan: str, tmp_path: Path) -> None:
    file = str(tmp_path / "s.db")
    opened = open_engine(store_url(file), create=True)
    assigned = Fleet.of(plan, {}, HOSTS, file).assignments[0]
    earlier = check(parsed(PLAN, assigned.overrides), load(), facts())
    begun = walk.begin(earlier, assigned.overrides, {}, {}, opened)
    opened.dispose()
    assert Fleet.of(plan, {}, HOSTS, file).assignments[0].earlier == begun
    Path(plan).write_text(PLAN + "# a comment\n")
    changed = Fleet.of(plan, {}, HOSTS, file).assignments[0]
    assert changed.earlier is None
    assert changed.of_other_plan is not None and changed.of_other_plan.id == begun.id


def test_an_experiment_that_has_used_up_its_budget_is_continued_by_its_own_command(
    plan: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = str(tmp_path / "s.db")
    opened = open_engine(store_url(file), create=True)
    fleet = Fleet.of(plan, {}, HOSTS[:1], file)
    begun = walk.begin(check(parsed(PLAN, fleet.assignments[0].overrides), load(), facts()), {}, {}, {}, opened)
    scripted.make_trials(opened, begun, scripted.Bench(opened, lambda _trial: 0.0, takes_s=3600.0))
    write.set_state(opened, begun.id, ExperimentState.INTERRUPTED)
    opened.dispose()
    monkeypatch.setattr(
        Controllers, "run", lambda _self, commands: {name: ControllerEnd(0, "", "") for name in commands}
    )
    [machine] = fleet.run(FleetCheckDocument(at_once=1, duration_s=0.0, machines=[])).machines
    assert (machine.state, machine.experiment) == ("interrupted", begun.id)
    assert f"paribus resume {begun.id} --budget " in machine.problem


def test_the_check_refuses_machines_that_are_in_use_or_not_restored(plan: str, monkeypatch: pytest.MonkeyPatch) -> None:
    facts_of = {"db1": ([], []), "db2": (["e2"], []), "db3": ([], ["e3"])}

    class Scripted:
        def __init__(self, *_args: object, **_options: object) -> None: ...

        def run(self, commands: Mapping[str, ControllerCommand], _on_end: object) -> dict[str, ControllerEnd]:
            previews = {
                name: {"running": facts_of[name][0], "cut_off": facts_of[name][1], "fingerprint": {"host": name}}
                for name in commands
            }
            return {name: ControllerEnd(0, json.dumps(preview), "") for name, preview in previews.items()}

    monkeypatch.setattr(running, "Controllers", Scripted)
    fleet = Fleet.of(plan, {}, HOSTS, None)
    free, used, left = fleet.check().machines
    assert (free.problem, used.problem.splitlines()[0]) == ("", "e2 is running there")
    assert left.problem.splitlines()[1] == "restore it: paribus undo --target ssh://db3"
    assert [each.state for each in fleet.check(beside_others=True).machines] == ["ready", "ready", "refused"]


def test_the_target_cannot_be_set_for_all_machines(plan: str) -> None:
    with pytest.raises(UsageError, match="names one machine"):
        Fleet.of(plan, {"target.host": "local"}, HOSTS, None)


def test_a_wrong_plan_is_refused_once_with_the_machine_that_it_is_wrong_for(plan: str) -> None:
    with pytest.raises(PlanError, match="on db2, with its own keys of the file of machines: 1 problem") as refused:
        wrong = FleetHost("db2", "ssh://db2", {"protocol.rounds": "many"})
        Fleet.of(plan, {}, [HOSTS[0], wrong], None)
    assert len(refused.value.problems) == 1


def test_controllers_give_output_code_and_last_message_of_each_machine(tmp_path: Path) -> None:
    lines: list[str] = []
    commands = {
        "good": ControllerCommand(["schema", "job"]),
        "bad": ControllerCommand(["report", "last", f"--store={tmp_path}/none.db"]),
        "wrong": ControllerCommand(["report", "--wrong"]),
    }
    ended = Controllers(2, lines.append, keeps_output=True).run(commands)
    assert ended["good"].exit_code == 0 and '"$id": "urn:paribus:schema:job' in ended["good"].output
    assert ended["bad"].exit_code != 0 and "none.db" in ended["bad"].message
    assert ended["wrong"].exit_code == 2 and "--wrong" in ended["wrong"].message
    assert lines and all(line.startswith(("bad: ", "wrong: ")) for line in lines)


def test_a_stop_request_ends_the_running_controllers_and_begins_no_other(tmp_path: Path) -> None:
    lines: list[str] = []
    served = ControllerCommand(["serve", f"--store={tmp_path}/s.db", "--port=0"])
    stop = threading.Event()

    def listen(line: str) -> None:
        lines.append(line)
        stop.set()

    ended = Controllers(1, listen, stop.is_set).run({"first": served, "second": served})
    assert list(ended) == ["first"]


def test_ctrl_c_ends_the_controllers_where_nobody_asks_for_stop_requests(tmp_path: Path) -> None:
    served = ControllerCommand(["serve", f"--store={tmp_path}/s.db", "--port=0"])
    lines: list[str] = []

    def interrupt(line: str) -> None:
        lines.append(line)
        if len(lines) == 1:  # a second signal would reach the test that follows
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        Controllers(1, interrupt).run({"first": served})
