"""Disks are clean after every kill: 100 experiments with storage layouts, each interrupted at a random moment.

In a sandbox, so that power cuts are possible and no disk of this machine is used. Each experiment builds two layouts
in turn, makes data on them and measures. It is interrupted by one of four faults while it builds, measures or takes
apart: kill -9 of the controller, of the journal's keeper, of both, or a power cut. Then `paribus undo`, and no
signature, partition, holder or mount may be left on any disk. The table tells what lay on the disks when the fault
struck. With --events, in every trial one disk is slow for a while, and another fails and is replaced.

    .venv/bin/python proof/layout_kills/run.py [--events] [--kills N] [--seed N]
"""

import argparse
import json
import os
import random
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

sys.path += [str(Path(__file__).parents[2] / "tests" / name) for name in ("", "system")]

from command import Done, Running, run_paribus
from lab_sandbox import LabSandbox

DISKS = ("ssd:128MiB:count=4", "fast:64MiB:bus=nvme")
SLOW_DISKS = ("ssd:128MiB:count=4,bandwidth=24MiB",)  # so that a rebuild takes some seconds
SSDS = [f"/dev/disk/by-id/virtio-ssd-{number}" for number in range(1, 5)]
FAST = "/dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_fast-1"
LAYOUTS = (
    "{ md = { level = 0 }, ext4 = {} }",
    '{ partition = { over_provision = "15%" }, md = { level = 5, chunk = "64KiB" }, ext4 = {} }',
    "{ md = { level = 1, arrays = 2 }, lvm = { type = 'striped' }, ext4 = {} }",
    "{ md = { level = 10, resync = 'during' }, ext4 = {} }",
    "{ lvm = { type = 'raid10' }, ext4 = {} }",
    "{ lvm = { type = 'raid5' }, ext4 = {} }",
    "{ lvm = { type = 'thin' }, ext4 = {} }",
    "{ crypt = {}, md = { level = 6 }, ext4 = {} }",
    "{ lvm = {}, xfs = {} }",
    "{ btrfs = { data = 'raid10' } }",
    "{ zfs = { data = 'raidz1' } }",
    "{ md = { level = 5 }, zfs = {} }",
)
CACHES = (  # with a fifth disk
    f"{{ lvm = {{}}, cache = {{ on = ['{FAST}'], mode = 'writeback' }}, ext4 = {{}} }}",
    f"{{ lvm = {{}}, cache = {{ on = ['{FAST}'], type = 'writecache' }}, ext4 = {{}} }}",
)
ARRAYS = (
    "{ md = { level = 5, chunk = '64KiB' }, ext4 = {} }",
    "{ md = { level = 10 }, ext4 = {} }",
    "{ md = { level = 6 }, ext4 = {} }",
    "{ crypt = {}, md = { level = 5 }, ext4 = {} }",
    "{ md = { level = 1, arrays = 2 }, lvm = { type = 'striped' }, ext4 = {} }",
    "{ lvm = { type = 'raid5' }, ext4 = {} }",
    "{ lvm = { type = 'raid10' }, ext4 = {} }",
)
FAILURES = ('at = "2s"\ndo = "fail-member"', 'at = "2s"\nuntil = "5s"\ndo = "error"')
EVENTS = """
[[event]]
at = "0s"
until = "2s"
do = "delay"
delay = "5ms"
disk = "ssd-3"
[[event]]
{failure}
disk = "ssd-2"
[[event]]
at = "5s"
do = "replace"
"""
CACHED_SHARE = 0.2
PLAN = """
name = "kills"
[target]
host = "{address}"
path = "/var/tmp"
devices = {disks}
may_destroy = {disks}
[factors]
layout = [{levels}]
[[workload]]
kind = "fileio"
mode = "rndwr"
block_size = "16KiB"
files = 1
total_size = "16MiB"
threads = [2]
[protocol]
trial = "{trial}"
settle = "100ms"
rounds = 2
{events}"""
FAULTS = ("controller", "keeper", "controller and keeper", "power cut")
LONGEST_S = 45.0  # about what such an experiment takes on a machine without KVM
PATIENCE_S = 300.0
RECOVERY_S = 15.0  # in which a controller without its keeper goes on
KEEPER = "pkill -9 -f '[p]aribus-engine.* journal'"


@dataclass
class Toll:
    """Counts by fault and by what lay on the disks, and whatever is wrong, in words."""

    struck: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def table(self) -> str:
        """For a document."""
        columns = sorted({state for _, state in self.struck})
        lines = [("fault", *columns, "all"), ("---",) * (len(columns) + 2)]
        for fault in FAULTS:
            counts = [self.struck[fault, state] for state in columns]
            lines.append((fault, *map(str, counts), str(sum(counts))))
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def remains(sandbox: LabSandbox) -> list[str]:
    """Return the remains on the disks of the sandbox, in words; nothing on clean ones."""
    tree = json.loads(sandbox.run("lsblk --json --output NAME,SERIAL,FSTYPE,MOUNTPOINT"))["blockdevices"]
    signatures = sandbox.run("for disk in /dev/vd? /dev/nvme?n1; do wipefs --noheadings $disk; done")
    disks = [disk for disk in tree if disk["serial"] != "root"]
    held = [f"{disk['name']} has {json.dumps(disk['children'])}" for disk in disks if disk.get("children")]
    missing = [] if len(disks) == len(sandbox.serials()) else [f"disks: {disks}"]
    return [*held, *missing, *([] if held or not (found := _own(signatures, tree)) else [found])]


def _own(signatures: str, tree: list[dict[str, str]]) -> str:
    """Signatures without those of the disk that the system is on."""
    root = next((disk["name"] for disk in tree if disk["serial"] == "root"), "")
    return "\n".join(line for line in signatures.splitlines() if not line.startswith(root))


def state_of(sandbox: LabSandbox) -> str:
    """Return the phase that the fault interrupts, from the mounts and devices of the sandbox."""
    shown = sandbox.run("cat /proc/mounts /proc/mdstat; lsblk --noheadings --list --output NAME,TYPE")
    if "recovery" in shown:
        return "rebuilding"
    if re.search(r"\[[U_]*_[U_]*\]", shown):
        return "degraded"
    if "/layout " in shown:
        return "mounted"
    kinds = [line.split()[-1] for line in shown.splitlines() if len(line.split()) == 2]
    is_begun = set(kinds) - {"disk", "part"} or kinds.count("part") > 1  # the sandbox's own disk has a partition
    return "partly built" if is_begun else "nothing built"


def assert_that_remains_are_found(sandbox: LabSandbox) -> None:
    """The control: signatures are found while they are there."""
    for make, remove in (("mkswap -q {0}", "wipefs -qa {0}"), ("pvcreate -q {0}", "wipefs -qa {0}")):
        sandbox.run(f"{make} >/dev/null".format(SSDS[0]))
        assert remains(sandbox), make
        sandbox.run(remove.format(SSDS[0]))
        assert not remains(sandbox), remains(sandbox)


def strike(sandbox: LabSandbox, running: Running, fault: str) -> None:
    """Interrupt the experiment."""
    if fault == "power cut":
        sandbox.command("power-cut")
    if "keeper" in fault:
        sandbox.run(f"{KEEPER}; true")
    if fault != "keeper":
        os.kill(running.pid, signal.SIGKILL)


def wait_while(running: Running, longest_s: float) -> None:
    """Until it has ended, or the time is over."""
    deadline = time.monotonic() + longest_s
    while running.goes_on() and time.monotonic() < deadline:
        time.sleep(0.02)


def undone(sandbox: LabSandbox) -> Done:
    """The answer of `undo`, repeated while a keeper is at work."""
    deadline = time.monotonic() + PATIENCE_S
    while (answer := run_paribus("undo", "--target", sandbox.address)).code != 0 and time.monotonic() < deadline:
        time.sleep(1)
    return answer


def kill_once(
    sandbox: LabSandbox, folder: Path, fault: str, moments: random.Random, toll: Toll, *, events: bool
) -> bool:
    """One experiment with a fault at a random moment; whether it struck before the end."""
    is_cached = not events and moments.random() < CACHED_SHARE
    levels = moments.sample(CACHES if is_cached else ARRAYS if events else LAYOUTS, 2)
    plan = folder / "plan.toml"
    disks = json.dumps([*SSDS, *([FAST] if is_cached else [])])
    trial, happening = ("12s", EVENTS.format(failure=moments.choice(FAILURES))) if events else ("300ms", "")
    text = PLAN.format(address=sandbox.address, disks=disks, levels=", ".join(levels), trial=trial, events=happening)
    plan.write_text(text, encoding="utf-8")
    running = Running("run", str(plan))
    wait_s = moments.uniform(0, LONGEST_S)
    wait_while(running, wait_s)
    struck = running.goes_on()
    state = state_of(sandbox) if struck else ""
    if struck:
        strike(sandbox, running, fault)
    if struck and fault == "keeper":
        wait_while(running, RECOVERY_S)
        running.signal(signal.SIGINT)
    ended = running.end(PATIENCE_S)
    if fault == "power cut" and struck:
        sandbox.up()
    answer = undone(sandbox)
    again = run_paribus("undo", "--target", sandbox.address)
    what = f"{fault} after {wait_s:.1f} s of {' and '.join(levels)} ({state})"
    left = remains(sandbox)
    if answer.code or again.code or left:
        toll.wrong.append(f"{what}: undo {answer.code}, again {again.code}; {left}: {answer.err}")
    if not struck and ended.code:
        toll.wrong.append(f"{what}: ended with {ended.code} by itself: {ended.err[-1500:]}")
    if struck:
        toll.struck[fault, state] += 1
    return struck


def main() -> None:
    """Print the table; exit code 1 when a disk was not clean."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100, help="how many [100]")
    parser.add_argument("--events", action="store_true", help="disks are slow, fail and are replaced in every trial")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="of the moments; default: random")
    options = parser.parse_args()
    moments, toll, began = random.Random(options.seed), Toll(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="paribus-kills-", dir="/var/tmp") as name:
        os.environ["PARIBUS_STORE"] = str(Path(name) / "paribus.db")
        os.environ["PARIBUS_STATE"] = str(Path(name) / "state")
        os.environ["PARIBUS_REGISTER"] = str(Path(name) / "register")
        sandbox = LabSandbox("kills", SLOW_DISKS if options.events else DISKS, [] if options.events else ["zfs-dkms"])
        try:
            assert_that_remains_are_found(sandbox)
            while sum(toll.struck.values()) < options.kills and len(toll.wrong) < 5:
                fault = FAULTS[sum(toll.struck.values()) % len(FAULTS)]
                told = len(toll.wrong)
                struck = kill_once(sandbox, Path(name), fault, moments, toll, events=options.events)
                for wrong in toll.wrong[told:]:
                    print(f"WRONG: {wrong}", file=sys.stderr)
                print(f"{sum(toll.struck.values())}: {fault if struck else 'ended before'}", file=sys.stderr)
        finally:
            sandbox.remove()
            print(f"seed {options.seed}, {(time.monotonic() - began) / 60:.0f} minutes\n\n{toll.table()}")
    for wrong in toll.wrong:
        print(f"\nWRONG: {wrong}")
    sys.exit(1 if toll.wrong else 0)


if __name__ == "__main__":
    main()
