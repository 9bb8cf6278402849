"""A plan assigned to machines, and the processes that carry commands out for them."""

import os
import signal
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest
import scripted
from plan_samples import FILEIO, facts, parsed, simple

from paribus.errors import PlanError, UsageError
from paribus.knobs.catalog import load
from paribus.lab.fleet.controllers import Controllers
from paribus.lab.fleet.inventory import FleetHost
from paribus.lab.fleet.running import Fleet
from paribus.plan.check import check
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


def test_machines_that_share_a_load_host_are_measured_one_after_another(plan: str) -> None:
    Path(plan).write_text(PLAN + '\n[load]\nhost = "ssh://load"\n')
    assert Fleet.of(plan, {}, HOSTS, None).at_once == 1
    with pytest.raises(UsageError, match="3 machines use load:22"):
        Fleet.of(plan, {}, HOSTS, None, 2)
    own = [FleetHost(host.name, host.address, {"load.host": f"ssh://load-{host.name}"}) for host in HOSTS]
    assert Fleet.of(plan, {}, own, None).at_once == 3


def test_a_wrong_plan_is_refused_once_with_the_machine_that_it_is_wrong_for(plan: str) -> None:
    with pytest.raises(PlanError, match="on db2: 1 problem") as refused:
        wrong = FleetHost("db2", "ssh://db2", {"protocol.rounds": "many"})
        Fleet.of(plan, {}, [HOSTS[0], wrong], None)
    assert len(refused.value.problems) == 1


def test_controllers_give_output_code_and_last_message_of_each_machine(tmp_path: Path) -> None:
    lines: list[str] = []
    commands = {"good": ["schema", "job"], "bad": ["report", "last", f"--store={tmp_path}/none.db"]}
    ended = Controllers(2, lines.append).run(commands)
    assert ended["good"].exit_code == 0 and '"$id": "urn:paribus:schema:job' in ended["good"].output
    assert ended["bad"].exit_code != 0 and "none.db" in ended["bad"].message
    assert lines and all(line.startswith("bad: ") for line in lines)


def test_a_stop_request_ends_the_running_controllers_and_begins_no_other(tmp_path: Path) -> None:
    lines: list[str] = []
    served = ["serve", f"--store={tmp_path}/s.db", "--port=0"]
    stop = threading.Event()

    def listen(line: str) -> None:
        lines.append(line)
        stop.set()

    ended = Controllers(1, listen, stop.is_set).run({"first": served, "second": served})
    assert list(ended) == ["first"]


def test_ctrl_c_ends_the_controllers_where_nobody_asks_for_stop_requests(tmp_path: Path) -> None:
    served = ["serve", f"--store={tmp_path}/s.db", "--port=0"]
    with pytest.raises(KeyboardInterrupt):
        Controllers(1, lambda _: os.kill(os.getpid(), signal.SIGINT)).run({"first": served})
