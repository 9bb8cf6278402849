"""Kills of experiments that build, measure and take apart storage layouts, in a sandbox of its own.

    make campaign-layouts           100 kills; prints the table of tests/system/layouts/README.md
    python tests/system/layouts/kills.py --kills 8 --seed 3

Each kill comes at a random moment. Then the machine is switched on again if need be, and `paribus undo` is repeated
until nobody else holds the journal. After that no disk may have anything on it: no signature, no partition, no array,
no mount.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path += [str(Path(__file__).parents[1] / name) for name in ("..", "")]

from command import Running, run_paribus
from lab_sandbox import LabSandbox

_FAULTS = ("controller", "keeper", "everything", "power")
_PHASES = ("nothing on the disks", "building or taking apart", "built", "measuring")
_PATIENCE_S = 300.0
_LONGEST_S = 70.0  # from the start to the kill: about the duration of an experiment
_POINT = "/var/tmp/layout"  # noqa: S108  of the sandbox; the beginning of the mount point
_DISKS = [f"/dev/disk/by-id/virtio-ssd-{number}" for number in range(1, 5)]
_LAYOUTS = (
    'md = { level = 0, chunk = "64KiB" }, xfs = {}, mount = ["noatime"]',
    'partition = { over_provision = "15%" }, md = { level = 5, chunk = "64KiB" }, ext4 = {}',
    'md = { level = 1, arrays = 2 }, lvm = { type = "striped" }, ext4 = {}',
    "md = { level = 10 }",
    'lvm = { type = "raid10" }, xfs = {}',
    'lvm = { type = "thin" }, ext4 = {}',
    "crypt = {}, md = { level = 6 }, xfs = {}",
    'btrfs = { data = "raid10" }',
)
_PLAN = """
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
total_size = "32MiB"
direct = true
threads = [8]
[protocol]
trial = "2s"
settle = "1s"
rounds = 2
"""
_LOOK = (
    "pgrep -f '[p]aribus-engine.* run' >/dev/null && echo load; "
    f"grep -q {_POINT} /proc/mounts && echo mounted; lsblk --noheadings --output TYPE | grep -qv disk && echo layer; "
    "wipefs --noheadings /dev/vd? | grep -q . && echo signature; true"
)


def _write_plan(folder: Path, address: str, rng: random.Random) -> str:
    levels = [
        f'{{ name = "{text[:20].split("=")[0].strip()} {number}", {text} }}'
        for number, text in enumerate(rng.sample(_LAYOUTS, 2))
    ]
    path = folder / "plan.toml"
    path.write_text(_PLAN.format(address=address, disks=json.dumps(_DISKS), levels=", ".join(levels)), encoding="utf-8")
    return str(path)


def _phase(sandbox: LabSandbox) -> str:
    seen = sandbox.run(_LOOK).split()
    if "load" in seen:
        return "measuring"
    if "mounted" in seen:
        return "built"
    return "building or taking apart" if seen else "nothing on the disks"


def _left(sandbox: LabSandbox) -> str:
    """What is on its disks that was not there before; empty if they are clean."""
    listed = json.loads(sandbox.run("udevadm settle; lsblk --json --output NAME,SERIAL,FSTYPE,MOUNTPOINT"))
    disks = [disk for disk in listed["blockdevices"] if disk["serial"] != "root"]
    problems = [f"{disk['name']} holds {disk}" for disk in disks if disk.get("children") or disk["fstype"]]
    for disk in disks:
        if signatures := sandbox.run(f"wipefs --noheadings /dev/{disk['name']}").strip():
            problems.append(f"{disk['name']}: {signatures}")
    if mounted := sandbox.run(f"grep {_POINT} /proc/mounts || true").strip():
        problems.append(mounted)
    return "; ".join(problems)


def _strike(sandbox: LabSandbox, running: Running, fault: str, rng: random.Random) -> None:
    """Kill what the fault says, and switch the machine on again."""
    if fault in ("keeper", "everything"):
        sandbox.run("pkill -9 -f '[p]aribus-engine.* journal' || true")
    if fault == "power":
        assert sandbox.command("power-cut").code == 0
    if fault in ("controller", "everything") or (fault == "power" and rng.random() < 0.5):
        running.signal(signal.SIGKILL)
    if fault == "power":
        sandbox.up()
    time.sleep(rng.uniform(0.0, 5.0))
    if running.goes_on():  # a controller that lost only its keeper, or its machine, goes on
        running.signal(signal.SIGINT)
    try:
        running.end(_PATIENCE_S)
    except subprocess.TimeoutExpired as late:
        words = bytes(late.stderr or b"").decode(errors="replace")[-1500:]
        print(f"WRONG: {fault}: the controller did not end within {_PATIENCE_S:g} s: {words}", file=sys.stderr)


def _kill(sandbox: LabSandbox, folder: Path, fault: str, rng: random.Random, toll: Counter[tuple[str, str]]) -> str:
    """One experiment and its end; what is wrong afterwards."""
    running = Running("run", _write_plan(folder, sandbox.address, rng))
    moment = time.monotonic() + rng.uniform(4.0, _LONGEST_S)
    while running.goes_on() and time.monotonic() < moment:
        time.sleep(0.05)
    phase = _phase(sandbox)
    if not running.goes_on():
        ended = running.end()
        assert ended.code == 0, ended.err
        phase = "after its end"
    toll[fault, phase] += 1
    if phase != "after its end":
        _strike(sandbox, running, fault, rng)
    deadline = time.monotonic() + _PATIENCE_S
    while (undone := run_paribus("undo", "--target", sandbox.address)).code != 0:
        if time.monotonic() > deadline:
            return f"{fault}, {phase}: undo ended with {undone.code}: {undone.err[-1500:]}"
        time.sleep(1)
    if left := _left(sandbox):
        return f"{fault}, {phase}: {left}"
    return ""


def main() -> int:
    """Print the table; exit code 1 if anything was left."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", nargs="+", choices=_FAULTS, default=_FAULTS)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    toll: Counter[tuple[str, str]] = Counter()
    wrong: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"PARIBUS_STATE": f"{folder}/state", "PARIBUS_STORE": f"{folder}/store.db"}
        sandbox = LabSandbox(f"kills{os.getpid()}", ["ssd:448MiB:count=4"])
        try:
            for number in range(options.kills):
                fault = options.faults[number % len(options.faults)]
                if problem := _kill(sandbox, Path(folder), fault, rng, toll):
                    wrong[fault] += 1
                    print(f"WRONG: {problem}", file=sys.stderr)
                print(f"{number + 1} of {options.kills}: {fault}", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            print("interrupted: the table has the kills so far", file=sys.stderr)
        finally:
            sandbox.remove()
    phases = [*_PHASES, "after its end"]
    print(f"| killed | {' | '.join(phases)} | not clean after `undo` |\n|{'---|' * (len(phases) + 2)}")
    for fault in _FAULTS:
        print(f"| {fault} | {' | '.join(str(toll[fault, phase]) for phase in phases)} | {wrong[fault]} |")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
