"""A change for production: written from an experiment, made by its own lines, and verified on the machine."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import scripted
from command import Done, Filesystem
from ruamel.yaml import YAML

Paribus = Callable[..., Done]
PLAN = """
name = "rollout"
[target]
path = "{path}"
[factors]
"block.iostats" = [1, 0]
"mount.atime" = ["relatime", "noatime"]
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
def measured(filesystem: Filesystem) -> str:
    """The id of an experiment in which both second levels were better."""
    point = filesystem("ext4")
    return scripted.experiment_here(PLAN.format(path=point))


def _scripts(playbook: Path) -> list[str]:
    """The shell scripts of its tasks."""
    (play,) = YAML(typ="safe").load(playbook.read_text())
    return [task["ansible.builtin.shell"]["cmd"] for task in play["tasks"] if "ansible.builtin.shell" in task]


def _run(playbook: Path) -> list[str]:
    """Run the scripts of a playbook, and return whether each reported a change."""
    return [
        subprocess.run(["sh", "-c", script], check=True, capture_output=True, text=True).stdout.strip()
        for script in _scripts(playbook)
    ]


@pytest.mark.gate
def test_a_change_is_made_by_its_own_lines_and_verified_and_taken_back(
    paribus: Paribus, measured: str, tmp_path: Path
) -> None:
    folder = tmp_path / "change"
    written = paribus("ticket", measured, "-o", str(folder))
    assert written.code == 0, written.err
    assert "## block.iostats: 0" in (folder / "runbook.md").read_text()
    before = paribus("verify", measured)
    assert before.code == 1 and "block.iostats: 1: not in force, it should be 0" in before.out

    assert _run(folder / "apply.yml") == ["changed", "changed"]
    assert _run(folder / "apply.yml") == ["", ""]
    after = paribus("verify", measured, "--json")
    assert after.code == 0, after.out
    (machine,) = after.json["machines"]
    now = {each["setting"]: each["now"] for each in machine["settings"]}
    assert now == {"block.iostats": 0, "mount.atime": "noatime"}

    assert _run(folder / "rollback.yml") == ["changed", "changed"]
    taken_back = paribus("verify", measured)
    assert taken_back.code == 1
    assert re.findall(r": (\w+): not in force", taken_back.out) in (["1", "relatime"], ["relatime", "1"])


def test_a_machine_that_is_not_reached_is_named_beside_the_others(paribus: Paribus, measured: str) -> None:
    done = paribus("verify", measured, "local", "ssh://nobody@127.0.0.1:1")
    assert done.code == 1
    assert "block.iostats" in done.out and "cannot reach ssh://nobody@127.0.0.1:1" in done.out


def test_machines_are_named_by_a_file(paribus: Paribus, measured: str, tmp_path: Path) -> None:
    hosts = tmp_path / "hosts.toml"
    hosts.write_text('[hosts]\nhere = "local"\nelsewhere = "ssh://x@127.0.0.1:1"\n')
    done = paribus("verify", measured, "--hosts", str(hosts), "--json")
    assert done.code == 1
    here, elsewhere = done.json["machines"]
    assert (here["target"], elsewhere["target"]) == ("local", "ssh://x@127.0.0.1:1")
    assert {each["setting"] for each in here["settings"]} == {"block.iostats", "mount.atime"}
    assert "cannot reach" in elsewhere["problem"]
    assert len(paribus("verify", measured, "--hosts", str(hosts), "--limit", "here", "--json").json["machines"]) == 1
    assert "none is named" in paribus("verify", measured, "--limit", "here").err


def test_an_experiment_that_recommends_nothing_has_no_change(paribus: Paribus, measured: str) -> None:
    done = paribus("ticket", measured, "--factor", "vm.swappiness")
    assert done.code == 2
    assert f"{measured} has no factor vm.swappiness" in done.err
