"""The catalogue on another kernel: every knob that Debian's has is taken, and comes back.

Boots a virtual machine with Debian's kernel. Sets each knob there to each of its levels, over SSH and through the
journal as an experiment does. The proof fails if a setting of the machine is not as before.

    .venv/bin/python proof/other_kernel/run.py
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path += [str(Path(__file__).parents[2] / name) for name in ("tests", "tests/system")]

from levels import LEVELS

from guest.target import GuestTarget
from paribus.engine.find import binary
from paribus.errors import NotRestored
from paribus.hosts.ssh import SshHost
from paribus.knobs.apply import Applier
from paribus.knobs.catalog import load
from paribus.knobs.discovery import offer
from paribus.knobs.journal import Journal
from paribus.model import ChangeState, Knob, Location, Value

# Members of families, and levels for this machine of 256 MiB with one disk.
FAMILIES: dict[str, tuple[Value, ...]] = {
    "module.block.events_dfl_poll_msecs": (2000, 0),
    "modprobe.loop.max_part": (7, 0),
    "modprobe.loop.hw_queue_depth": (64, 128),
}
HERE: dict[str, tuple[Value, ...]] = {
    "cgroup.load.cpus": ("0", "0-1"),
    **{f"cgroup.load.{name}": (2**20, "max") for name in ("read_bytes_per_s", "write_bytes_per_s")},
    **{f"cgroup.load.{name}": (40, "max") for name in ("reads_per_s", "writes_per_s")},
    "kernel.sched_min_granularity_ns": (2_000_000, 4_000_000),
    "kernel.sched_wakeup_granularity_ns": (1_000_000, 0),
    "vm.min_free_kbytes": (3000, 5000),
    "vm.overcommit": ("60%", 2**32),
}
STATE = (
    "grep -rs '' /sys/block/vda/queue /sys/kernel/mm/transparent_hugepage /sys/module/loop/parameters "
    "/sys/module/block/parameters; grep -s '' /proc/sys/vm/* /proc/sys/kernel/* /sys/kernel/debug/sched/*; "
    "cat /proc/mounts; echo /sys/fs/cgroup/*/"
)
BY_ITSELF = ("ns_last_pid", "/random/", "/pty/", "perf_event_max_sample_rate", "/debug/sched/debug:", "stat_refresh")


def state(guest: GuestTarget) -> set[str]:
    """Every setting of the guest that a knob may move, as lines."""
    return {line for line in guest.run(STATE).splitlines() if not any(name in line for name in BY_ITSELF)}


def rows() -> Iterator[Knob]:
    """The catalogue, with some members of its families."""
    for row in load():
        if "*" not in row.name and row.kind != "launch":
            yield row
    for name in FAMILIES:
        yield load().get(name)


def try_one(host: SshHost, guest: GuestTarget, knob: Knob) -> tuple[str, str]:
    """Return the outcome of one knob, in words, and whether all is as before."""
    found = offer(host, load(), knob.name, Location("/dev/vda", "/data"), root=True)
    if found.current is None:
        return f"not there: {found.refused}", ""
    levels = HERE.get(knob.name) or FAMILIES.get(knob.name) or LEVELS.get(knob.name) or found.allowed
    before = state(guest)
    applier = Applier(host, load(), Location("/dev/vda", "/data"), Journal(host, host.engine, "e1", [], volatile=False))
    became = []
    for level in levels:
        *_, change = [one for one in applier.apply({knob.name: level}, [knob.name]) if one.knob == knob.name]
        taken = change.state is ChangeState.VERIFIED
        became.append(str(level) if taken else f"{level} {change.not_taken}{f' ({change.observed})'}")
    try:
        applier.restore()
    except NotRestored as error:
        return ", ".join(became), f"NO: {error.message}"
    different = before ^ state(guest)
    return ", ".join(became) or "no level to try", f"NO: {sorted(different)}" if different else "yes"


def main() -> int:
    """Print the table; 1 where something did not come back."""
    with tempfile.TemporaryDirectory(prefix="paribus-proof-", dir="/var/tmp") as folder:
        guest = GuestTarget(Path(folder))
        os.environ["PATH"] = f"{guest.path}:{os.environ['PATH']}"
        guest.run("modprobe loop")
        host = SshHost(guest.address, binary())
        failed = 0
        try:
            print(f"{guest.run('uname -sr').strip()}\n\n| knob | levels | all as before |\n| --- | --- | --- |")
            for knob in rows():
                became, back = try_one(host, guest, knob)
                failed += back.startswith("NO")
                print(f"| {knob.name} | {became} | {back} |", flush=True)
        finally:
            host.close()
            guest.remove()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
