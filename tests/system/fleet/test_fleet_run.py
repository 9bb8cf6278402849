"""One plan on several machines: measured at once, stopped and continued together, each restored."""

import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from command import Done, Running, settings_of
from ssh_fleet import SshFleet
from waiting import wait_for

from paribus.model import ExperimentState
from paribus.store import read
from paribus.store.open import open_engine, store_url

pytestmark = [pytest.mark.root, pytest.mark.usefixtures("as_root")]

Paribus = Callable[..., Done]


@pytest.fixture
def arguments(plan: Callable[..., str], fleet: SshFleet) -> list[str]:
    """The plan and the machines, as a person names them."""
    return [plan('"block.read_ahead_kb" = [64, 256]'), "--hosts", str(fleet.hosts_file())]


def _settings(fleet: SshFleet) -> list[dict[str, str]]:
    return [settings_of(machine.device) for machine in fleet.machines]


def _wait_until_set(fleet: SshFleet, before: list[dict[str, str]]) -> None:
    """Until every machine has been set, though perhaps not all at the same time."""
    waiting = set(range(len(before)))

    def is_set() -> bool:
        now = _settings(fleet)
        waiting.difference_update([number for number in waiting if now[number] != before[number]])
        return not waiting

    wait_for(is_set, "each machine is set")


def _experiments() -> list[tuple[str, ExperimentState]]:
    store = open_engine(store_url(None), create=False)
    experiments = read.experiments(store)
    store.dispose()
    return sorted((each.name, each.state) for each in experiments)


ALL_DONE = [(f"tiny-db{n}", ExperimentState.DONE) for n in (1, 2, 3)]


@pytest.mark.gate
def test_a_plan_is_measured_on_every_machine_once(paribus: Paribus, arguments: list[str], fleet: SshFleet) -> None:
    before = _settings(fleet)
    done = paribus("fleet", "run", *arguments, "--no-report")
    assert done.code == 0, done.err
    assert _experiments() == ALL_DONE
    assert _settings(fleet) == before
    assert {f"db{n}: experiment" in done.err for n in (1, 2, 3)} == {True}
    [names] = re.findall("again: paribus fleet report (.*)", done.out)
    assert paribus("fleet", "report", *names.split()).code == 0
    again = paribus("fleet", "run", *arguments, "--json")
    assert again.code == 0, again.err
    assert [machine["state"] for machine in again.json["machines"]] == ["done"] * 3
    assert _experiments() == ALL_DONE


def test_a_stopped_fleet_is_restored_and_continued_by_the_same_command(
    paribus: Paribus, arguments: list[str], fleet: SshFleet
) -> None:
    before = _settings(fleet)
    running = Running("fleet", "run", *arguments, "--no-report")
    _wait_until_set(fleet, before)
    running.signal(signal.SIGINT)
    stopped = running.end()
    assert stopped.code == 130, stopped.err
    assert _settings(fleet) == before
    assert "interrupted" in stopped.out
    done = paribus("fleet", "run", *arguments, "--no-report")
    assert done.code == 0, done.err
    assert _experiments() == ALL_DONE
    assert _settings(fleet) == before


def test_controllers_end_their_experiments_where_the_fleet_was_killed(
    paribus: Paribus, arguments: list[str], plan: Callable[..., str], fleet: SshFleet
) -> None:
    before = _settings(fleet)
    plan('"block.read_ahead_kb" = [64, 256]', trial="1s")
    running = Running("fleet", "run", *arguments, "--no-report")
    _wait_until_set(fleet, before)
    running.signal(signal.SIGKILL)
    running.end()
    second = paribus("fleet", "run", *arguments, "--no-report")
    assert second.code == 3, second.err
    assert "an experiment is running" in second.out
    wait_for(lambda: _experiments() == ALL_DONE, "the controllers have ended")
    wait_for(lambda: _settings(fleet) == before, "the machines are restored")


def test_machines_that_cannot_be_measured_are_named_before_anything_begins(
    paribus: Paribus, arguments: list[str], fleet: SshFleet
) -> None:
    fleet.machines[0].stop()
    fleet.hosts_file().write_text(fleet.hosts_file().read_text().replace(fleet.machines[2].device, "/dev/none"))
    checked = paribus("fleet", "check", *arguments)
    assert checked.code == 2
    assert "cannot reach ssh://db1" in checked.out and "/dev/none" in checked.out
    refused = paribus("fleet", "run", *arguments)
    assert refused.code == 2
    assert "the check refused 2 of 3 machines; nothing was begun" in refused.err
    done = paribus("fleet", "run", *arguments, "--no-report", "--skip-refused", "--json")
    assert [machine["state"] for machine in done.json["machines"]] == ["refused", "done", "refused"]
    assert _experiments() == [ALL_DONE[1]]


def test_a_killed_controller_is_named_and_its_machine_restored_by_the_next_run(
    paribus: Paribus, arguments: list[str], fleet: SshFleet
) -> None:
    before = _settings(fleet)
    running = Running("fleet", "run", *arguments, "--no-report", "--json")
    _wait_until_set(fleet, before)
    subprocess.run(["pkill", "-KILL", "-f", f"paribus run .*ssh://db2.*{arguments[0]}"], check=True)
    done = running.end(300)
    assert done.code == 3, done.err
    machines = done.json["machines"]
    assert [machine["state"] for machine in machines] == ["done", "failed", "done"]
    assert "the controller was ended by SIGKILL" in machines[1]["problem"]
    wait_for(lambda: _settings(fleet) == before, "the keeper has restored the machine")
    assert paribus("fleet", "run", *arguments, "--no-report").code == 0
    assert _experiments() == ALL_DONE


def test_experiments_of_before_do_not_count_where_all_is_measured_anew(
    paribus: Paribus, arguments: list[str], fleet: SshFleet
) -> None:
    assert paribus("fleet", "run", *arguments, "--no-report").code == 0
    before = _settings(fleet)
    running = Running("fleet", "run", *arguments, "--no-report", "--anew", "--at-once", "1", "--json")
    wait_for(lambda: _settings(fleet) != before, "the first machine is set")
    running.signal(signal.SIGTERM)
    stopped = running.end()
    assert stopped.code == 130, stopped.err
    states = [machine["state"] for machine in stopped.json["machines"]]
    assert states == ["interrupted", "not begun", "not begun"]
    assert _settings(fleet) == before


def test_a_plan_that_changes_meanwhile_is_measured_on_no_further_machine(arguments: list[str], fleet: SshFleet) -> None:
    before = _settings(fleet)
    running = Running("fleet", "run", *arguments, "--no-report", "--at-once", "1", "--json")
    wait_for(lambda: _settings(fleet) != before, "the first machine is set")
    plan_file = Path(arguments[0])
    plan_file.write_text(plan_file.read_text().replace("[64, 256]", "[64, 128]"))
    done = running.end(300)
    assert done.code == 3, done.err
    machines = done.json["machines"]
    assert [machine["state"] for machine in machines] == ["done", "failed", "failed"]
    assert "was changed since the fleet began" in machines[2]["problem"]
    assert _experiments() == ALL_DONE[:1]


def test_one_machine_under_two_names_is_refused_before_anything_begins(
    paribus: Paribus, arguments: list[str], fleet: SshFleet
) -> None:
    first, hosts = fleet.machines[0], fleet.hosts_file()
    entry = f'alias = {{ address = "ssh://root@{first.name}:{first.port}", set.target.device = "{first.device}" }}\n'
    hosts.write_text(hosts.read_text() + entry)
    checked = paribus("fleet", "check", *arguments, "--json")
    assert checked.code == 2
    assert checked.json["machines"][-1]["problem"].startswith("db1 is the same machine")


@pytest.mark.parametrize("machines", [8])
def test_a_machine_that_dies_costs_its_own_experiment_alone(
    paribus: Paribus, arguments: list[str], fleet: SshFleet
) -> None:
    before = _settings(fleet)
    dead = fleet.machines[2]
    running = Running("fleet", "run", *arguments, "--no-report", "--json")
    wait_for(lambda: settings_of(dead.device) != before[2], "the third machine is set")
    dead.die()
    wait_for(
        lambda: [state for _, state in _experiments()].count(ExperimentState.DONE) == 7, "the others are done", 300
    )
    assert running.goes_on(), "the machine may come back"
    running.signal(signal.SIGINT)
    ended = running.end(120)
    assert ended.code == 4, ended.err
    machines = ended.json["machines"]
    assert [machine["machine"] for machine in machines if machine["is_unrestored"]] == ["db3"]
    assert [machine["machine"] for machine in machines if machine["state"] == "done"] == [
        f"db{n}" for n in (1, 2, 4, 5, 6, 7, 8)
    ]
    dead.start()
    undone = paribus("undo", "--target", "ssh://db3")
    assert undone.code == 0, undone.err
    assert _settings(fleet) == before
    done = paribus("fleet", "run", *arguments, "--no-report")
    assert done.code == 0, done.err
    assert _experiments() == [(f"tiny-db{n}", ExperimentState.DONE) for n in range(1, 9)]
