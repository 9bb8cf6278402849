"""`paribus sandbox` with a real virtual machine: made, reached over SSH, its power cut, disks lost, removed."""

import os
from pathlib import Path

import pytest
from command import RUN_ENDED, run_paribus
from lab_sandbox import LabSandbox

DISKS = {"ssd-1", "ssd-2", "ssd-3", "ssd-4", "sas-1", "sas-2", "sas-3", "fast-1"}
PLAN = """
name = "own {process}"
[target]
path = "/var/tmp"
device = "/dev/disk/by-id/virtio-ssd-1"
[sandbox]
disks = ["ssd:64MiB"]
[factors]
"block.scheduler" = ["none", "kyber"]
[[workload]]
kind = "fileio"
mode = "rndrd"
files = 1
total_size = "4MiB"
threads = [1]
[protocol]
trial = "100ms"
settle = "20ms"
rounds = 2
method = "fixed"
placebo = false
"""


@pytest.mark.gate
def test_sandbox_is_a_target_with_the_ordered_disks(sandbox: LabSandbox) -> None:
    listed = run_paribus("sandbox", "status", "--json").json["sandboxes"]
    [status] = [each for each in listed if each["name"] == sandbox.name]
    assert status["address"] == sandbox.address
    assert status["state"] == "on"
    assert {disk["serial"] for disk in status["disks"]} == DISKS == sandbox.serials()
    fit = run_paribus("doctor", sandbox.address, "--json")
    assert fit.code in (0, 1), fit.err
    assert fit.json["host"] == "sandbox"


def test_a_failed_disk_is_gone_until_the_next_start_and_synced_data_outlives_a_power_cut(sandbox: LabSandbox) -> None:
    mount = "mount /dev/disk/by-id/virtio-ssd-1 /mnt"
    sandbox.run(f"mkfs.ext4 -q /dev/disk/by-id/virtio-ssd-1 && {mount} && echo kept >/mnt/a && sync")
    for serial in ("ssd-4", "sas-1", "fast-1"):
        done = run_paribus("sandbox", "fail-disk", serial, sandbox.name)
        assert done.code == 0, done.err
    assert sandbox.serials() == DISKS - {"ssd-4", "sas-1", "fast-1"}
    assert sandbox.command("power-cut").code == 0
    assert "is off" in sandbox.command("power-cut").err
    sandbox.up()
    assert sandbox.serials() == DISKS
    assert sandbox.run(f"{mount} && cat /mnt/a && umount /mnt") == "kept\n"


def test_impossible_requests_are_refused_in_a_sentence(sandbox: LabSandbox) -> None:
    for arguments, code, said in (
        (("up", sandbox.name, "--disk", "ssd:64MiB"), 3, "is another machine"),
        (("up", "Big", "--disk", "ssd:64MiB"), 2, "is no name of a sandbox"),
        (("up", "other", "--disk", "ssd"), 2, "write for example ssd:2GiB"),
        (("fail-disk", "ssd-9", sandbox.name), 2, "has no disk ssd-9"),
        (("fail-disk", "ssd-1", "nobody"), 3, "there is no sandbox nobody"),
        (("power-cut", "nobody"), 3, "is off"),
        (("down", "nobody"), 3, "there is no sandbox nobody"),
        (("down", "../etc"), 2, "is no name of a sandbox"),
    ):
        done = run_paribus("sandbox", *arguments)
        assert done.code == code, arguments
        assert said in done.err, arguments
        assert "Traceback" not in done.err


def test_a_plan_runs_in_a_sandbox_of_its_own_which_is_then_removed(tmp_path: Path) -> None:
    """With a scheduler whose module is not loaded yet, and with another size than the plan orders."""
    plan, name = tmp_path / "plan.toml", f"plan-own-{os.getpid()}"
    plan.write_text(PLAN.format(process=os.getpid()), encoding="utf-8")
    run = ("sandbox", "run", str(plan), "--set")
    refused = run_paribus(*run, 'sandbox.disks=["ssd:1MiB"]')
    assert refused.code == 2
    assert "at least 16 MiB" in refused.err
    done = run_paribus(*run, 'sandbox.disks=["ssd:32MiB"]')
    try:
        assert done.code in RUN_ENDED, done.err
        shown = run_paribus("report", "last", "--format", "json").json
        assert {effect["arm"] for effect in shown["effects"]} == {"kyber"}
        assert name not in run_paribus("sandbox", "status").out
    finally:
        run_paribus("sandbox", "down", name)
