"""Knobs of arrays and of what lies on disks: on an array that was there, and on layouts that come and go."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import RUN_ENDED, Running, run_paribus
from lab_sandbox import LabSandbox

from paribus.lab.store.stores import open_experiment
from paribus.model import ChangeState
from paribus.store.read import changes

ALL = "PARIBUS_EXPLORE" in os.environ  # `make proof`
DISKS = [f"/dev/disk/by-id/virtio-ssd-{number}" for number in range(1, 4)]
KNOBS = [
    "md.stripe_cache_size",
    "md.group_thread_cnt",
    "md.preread_bypass_threshold",
    "md.rmw_level",
    "md.skip_copy",
    "md.sync_speed_min",
    "md.sync_speed_max",
]
PLAN = """
name = "stacks"
[target]
host = "{address}"
path = "{path}"
{devices}
[hold]
{hold}
"block.scheduler" = "none"
"block.top.read_ahead_kb" = 256
"md.group_thread_cnt" = 2
"md.rmw_level" = 0
"md.skip_copy" = 1
"md.preread_bypass_threshold" = 7
"md.sync_speed_min" = 2000
"md.sync_speed_max" = "system"
[factors]
"md.stripe_cache_size" = [512, 1024]
[[workload]]
kind = "fileio"
mode = "rndwr"
files = 1
total_size = "16MiB"
threads = [2]
[protocol]
trial = "500ms"
settle = "100ms"
rounds = 2
"""


FAST = "/dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_fast-1"
DRIVE_PLAN = """
name = "drive"
[target]
host = "{address}"
path = "/var/tmp"
device = "/dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_fast-1"
[factors]
"nvme.write_cache" = [1, 0]
[[workload]]
kind = "fileio"
mode = "rndwr"
files = 1
total_size = "4MiB"
threads = [2]
[protocol]
trial = "500ms"
settle = "50ms"
rounds = 2
margin = "50%"
"""


@pytest.fixture
def array(sandbox: LabSandbox) -> Iterator[str]:
    """A mounted file system on RAID 5 that is no layout of ours; its mount point."""
    disks = " ".join(DISKS)
    make = f"mdadm --create /dev/md7 --run --quiet --level=5 --assume-clean --raid-devices=3 {disks}"
    sandbox.run(f"{make} && mkfs.ext4 -q /dev/md7 && mkdir -p /mnt/raid && mount /dev/md7 /mnt/raid")
    yield "/mnt/raid"
    sandbox.run(f"umount /mnt/raid && mdadm --quiet --stop /dev/md7 && wipefs -qa {disks}")
    sandbox.run("udevadm trigger --action=change --settle /dev/vd?")


def _settings(sandbox: LabSandbox) -> str:
    """Return the values of the plan's knobs, on the array and its disks."""
    names = [name.removeprefix("md.") for name in KNOBS]
    files = [f"/sys/block/md7/md/{name}" for name in names]
    return sandbox.run(f"grep . {' '.join(files)} /sys/block/*/queue/read_ahead_kb /sys/block/vd?/queue/scheduler")


def test_all_disks_of_an_array_are_set_and_restored(sandbox: LabSandbox, array: str, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.format(address=sandbox.address, path=array, devices="", hold=""), encoding="utf-8")
    before = _settings(sandbox)
    checked = run_paribus("check", str(plan))
    assert "queue/scheduler" in checked.out
    assert "md7/queue/read_ahead_kb" in checked.out
    running = Running("run", str(plan))
    for _ in range(4):
        running.wait_for("trial ")
    running.signal(signal.SIGINT)
    assert running.end(300.0).code == 130
    _assert_verified()
    assert _settings(sandbox) == before
    doctor = ("doctor", sandbox.address, "--path", array)
    assert "every layer starts on whole blocks" in run_paribus(*doctor).out
    sandbox.run(f"mount -o remount,stripe=5 {array}")
    assert "ext4 has stripe of 20 KiB, and md7 has 1 MiB" in " ".join(run_paribus(*doctor).out.split())
    wrong = plan.read_text(encoding="utf-8").replace("block.top.read_ahead", "block.read_ahead")
    plan.write_text(wrong, encoding="utf-8")
    assert "/dev/md7 has a read-ahead of its own" in run_paribus("check", str(plan)).err


if ALL:  # minutes of an emulated machine

    def test_knobs_of_a_layout_vary_without_a_new_build(sandbox: LabSandbox, tmp_path: Path) -> None:
        plan = tmp_path / "plan.toml"
        layout = 'layout = { md = { level = 5, resync = "during" }, ext4 = {} }'
        devices = f"devices = {json.dumps(DISKS)}\nmay_destroy = {json.dumps(DISKS)}"
        text = PLAN.format(address=sandbox.address, path="/var/tmp", devices=devices, hold=layout)  # noqa: S108
        plan.write_text(text, encoding="utf-8")
        checked = run_paribus("check", str(plan))
        assert "goes with the layout" in checked.out
        done = run_paribus("run", str(plan))
        assert done.code in RUN_ENDED, done.err
        _assert_verified()
        assert sandbox.run("cat /proc/mdstat | grep -c ^md || true").strip() == "0"

    def test_a_feature_of_a_drive_is_compared_and_restored(sandbox: LabSandbox, tmp_path: Path) -> None:
        knobs = tmp_path / "knobs"
        knobs.mkdir(mode=0o755)
        rows = (Path(__file__).parents[3] / "examples" / "knobs" / "drives.toml").read_text(encoding="utf-8")
        controller = sandbox.run(f"readlink -f {FAST}").strip().removesuffix("n1")
        (knobs / "drives.toml").write_text(rows.replace("/dev/nvme0", controller), encoding="utf-8")
        plan = tmp_path / "plan.toml"
        plan.write_text(DRIVE_PLAN.format(address=sandbox.address), encoding="utf-8")
        look = f"nvme get-feature {controller} --feature-id=6"
        before = sandbox.run(look)
        done = run_paribus("run", str(plan))
        assert done.code in RUN_ENDED, done.err
        store, experiment = open_experiment(None, "last")
        made = {(change.knob, change.observed, change.state) for _, change in changes(store, experiment.id)}
        assert made == {("nvme.write_cache", value, ChangeState.VERIFIED) for value in (1, 0)}
        assert sandbox.run(look) == before


def _assert_verified() -> None:
    """Every setting was in force on all its devices; those of several that differ read back as a list."""
    store, experiment = open_experiment(None, "last")
    found = changes(store, experiment.id)
    assert {change.state for _, change in found} == {ChangeState.VERIFIED}, found
    assert {change.knob for _, change in found} >= {*KNOBS, "block.scheduler", "block.top.read_ahead_kb"}
    assert all(change.observed == change.wanted for _, change in found)
