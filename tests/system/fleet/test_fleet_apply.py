"""Advice of an experiment, set on a fleet by stages: read back, stopped at the first fault, taken back."""

from collections.abc import Callable

import pytest
import scripted
from command import Done, settings_of
from ssh_fleet import SshFleet

pytestmark = [pytest.mark.root, pytest.mark.usefixtures("as_root")]

Paribus = Callable[..., Done]
PLAN = """
name = "rollout"
[target]
path = "/var/tmp"
device = "{device}"
[factors]
"block.iostats" = [1, 0]
[[workload]]
kind = "fileio"
mode = "rndwr"
total_size = "4MiB"
threads = [1]
[protocol]
trial = "150ms"
settle = "50ms"
rounds = 2
placebo = false
design = "one-at-a-time"
"""


@pytest.fixture
def measured(fleet: SshFleet) -> str:
    """The id of an experiment on this machine, in which the second level was better on the disk of db1."""
    return scripted.experiment_here(PLAN.format(device=fleet.machines[0].device))


def _values(fleet: SshFleet) -> list[str]:
    return [settings_of(machine.device)["iostats"] for machine in fleet.machines]


@pytest.mark.gate
def test_a_fleet_is_set_by_stages_and_taken_back(paribus: Paribus, fleet: SshFleet, measured: str) -> None:
    arguments = [measured, "--hosts", str(fleet.hosts_file())]
    shown = paribus("fleet", "apply", *arguments, "--dry-run")
    assert shown.code == 0, shown.err
    assert "db1 (ssh://db1): block.iostats now 1, then 0" in shown.out
    assert "to be set first: db1; then 2 others" in shown.out
    assert _values(fleet) == ["1", "1", "1"]

    done = paribus("fleet", "apply", *arguments, "--yes", "--pause", "100ms", "--json")
    assert done.code == 0, done.err
    assert [(each["machine"], each["state"], each["is_canary"]) for each in done.json["machines"]] == [
        ("db1", "in force", True),
        ("db2", "in force", False),
        ("db3", "in force", False),
    ]
    assert _values(fleet) == ["0", "0", "0"]
    assert paribus("verify", *arguments).code == 0

    assert paribus("undo", "--target", "ssh://db2").code == 0
    assert _values(fleet) == ["0", "1", "0"]
    assert paribus("verify", *arguments).code == 1
    again = paribus("fleet", "apply", *arguments, "--yes")
    assert "db1 (ssh://db1): all is in force" in again.out
    assert f"to take all back: paribus fleet undo --hosts {arguments[2]} --limit db2" in again.out
    assert _values(fleet) == ["0", "0", "0"]
    shown = paribus("fleet", "undo", *arguments[1:], "--dry-run")
    assert shown.code == 0, shown.err
    assert shown.out.count("block.iostats back to 1") == 3
    assert _values(fleet) == ["0", "0", "0"]
    undone = paribus("fleet", "undo", *arguments[1:], "--yes")
    assert undone.code == 0, undone.err
    assert undone.out.count("block.iostats restored, now 1") == 3
    assert _values(fleet) == ["1", "1", "1"]


def test_a_canary_that_cannot_be_set_stops_the_rollout(paribus: Paribus, fleet: SshFleet, measured: str) -> None:
    """A machine that dies after it was read is set nowhere, and no other machine is begun."""
    hosts = fleet.hosts_file()
    arguments = [measured, "--hosts", str(hosts)]
    fleet.machines[1].die()
    refused = paribus("fleet", "apply", *arguments, "--yes")
    assert refused.code == 2
    assert "1 of 3 machines cannot be set; nothing was changed" in refused.err
    assert _values(fleet) == ["1", "1", "1"]
    others = paribus("fleet", "apply", *arguments, "--yes", "--skip-refused", "--json")
    assert others.code == 0, others.err
    assert {each["machine"]: each["state"] for each in others.json["machines"]} == {
        "db1": "in force",
        "db2": "refused",
        "db3": "in force",
    }
    assert _values(fleet) == ["0", "1", "0"]
