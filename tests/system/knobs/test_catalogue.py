"""Every row of the catalogue that is a file of the kernel, on a real device: it is taken, and comes back."""

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

import pytest
from command import queue_of, settings_of
from levels import LEVELS

from paribus.engine.find import binary
from paribus.hosts.local import LocalHost
from paribus.hosts.storage.stack import stack_of
from paribus.knobs.apply import Applier
from paribus.knobs.catalog import load
from paribus.knobs.discovery import offer, read
from paribus.knobs.journal import Journal
from paribus.knobs.kinds import knob_kinds
from paribus.model import ChangeState, Knob, Location, Settings, Value, WriteFile

ROOT = Path(__file__).parents[3]
pytestmark = [pytest.mark.gate, pytest.mark.root, pytest.mark.usefixtures("as_root")]

KERNEL_FILES = ("sysfs", "sysctl", "every", "ratio_or_bytes")  # others: test_mounts, test_process
# What this kernel or this virtual machine may lack; on another one the row is tried like any.
MAY_BE_MISSING = {
    "cpu.boost",
    "cpu.energy_preference",
    "cpu.governor",
    "cpu.no_turbo",
    "kernel.numa_balancing",
    "kernel.sched_base_slice_ns",
    "kernel.sched_migration_cost_ns",
    "kernel.sched_min_granularity_ns",
    "kernel.sched_wakeup_granularity_ns",
    "md.group_thread_cnt",
    "md.preread_bypass_threshold",
    "md.rmw_level",
    "md.skip_copy",
    "md.speed_limit_max",
    "md.speed_limit_min",
    "md.stripe_cache_size",
    "md.sync_speed_max",
    "md.sync_speed_min",
    "thp.shmem_enabled",
}
GLOBAL = [Path("/proc/sys/vm"), Path("/proc/sys/kernel"), Path("/sys/kernel/mm/transparent_hugepage")]
COUNTS_BY_ITSELF = {"ns_last_pid", "random", "keys", "pty", "stat_refresh", "drop_caches", "compact_memory"}
SAME_THING = {"vm.nr_hugepages_mempolicy"}  # under another name
HOST = LocalHost()


def _state(device: str) -> dict[str, str]:
    """Every setting of the device, and of the machine's memory and processes."""
    found = {f"block.{name.replace('/', '.')}": value for name, value in settings_of(device).items()}
    for folder in GLOBAL:
        for path in folder.iterdir():
            if path.is_file() and path.name not in COUNTS_BY_ITSELF:
                with contextlib.suppress(OSError):
                    found[f"{path.parent.name.replace('transparent_hugepage', 'thp')}.{path.name}"] = path.read_text()
    return found


def _set(knob: Knob, value: Value) -> None:
    for action in knob_kinds.get(knob.kind).writes(knob, value):
        assert isinstance(action, WriteFile)
        Path(action.path).write_text(action.text)


def _tune(device: str) -> None:
    """Make what settings move different from any default."""
    queue = queue_of(device)
    (queue / "scheduler").write_text("mq-deadline")
    for file, value in (("nr_requests", "100"), ("read_ahead_kb", "64"), ("wbt_lat_usec", "3000")):
        (queue / file).write_text(value)
    (queue / "iosched/read_expire").write_text("770")


def _apply(device: str, steps: Iterable[Settings]) -> list[ChangeState]:
    """Set one after the other as an experiment does, put all back, and see that it is; what became of the last knob."""
    before = _state(device)
    journal = Journal(HOST, binary(), "e1", ["everything"], volatile=False)
    applier = Applier(HOST, load(), Location(device), journal)
    became = []
    for settings in steps:
        *_, last = settings
        changes = {change.knob: change for change in applier.apply(settings, list(settings))}
        became.append(changes[last].state)
    applier.restore()
    assert _state(device) == before
    return became


ROWS = [row.name for row in load() if row.kind in KERNEL_FILES and "*" not in row.name]


@pytest.mark.parametrize("name", ROWS)
def test_a_row_is_true(name: str, loop: str) -> None:
    """Every level is taken and reads back, whatever else moves stands in `resets`, and all comes back as tuned."""
    _tune(loop)
    device = stack_of(HOST, _major_minor(ROOT)).disks[0] if name.startswith("irq.") else loop
    offered = offer(HOST, load(), name, Location(device), root=True)
    if offered.current is None:
        assert name in MAY_BE_MISSING, offered.refused
        assert offered.todo
        return
    levels = LEVELS.get(name) or offered.allowed
    assert levels, f"add levels of {name} to LEVELS"
    try:
        for level in levels:
            _moves_only_what_it_says(offered.knob, level, loop)
    finally:
        with contextlib.suppress(PermissionError):
            _set(offered.knob, offered.current)
    _tune(loop)
    became = _apply(device, [{name: level} for level in levels])
    assert set(became) == {ChangeState.VERIFIED} or name == "irq.affinity"


def _moves_only_what_it_says(knob: Knob, level: Value, device: str) -> None:
    others = _state(device)
    try:
        _set(knob, level)
    except PermissionError:  # interrupts that the kernel manages by itself
        assert knob.name == "irq.affinity"
        return
    assert knob_kinds.get(knob.kind).same(level, read(HOST, knob).value)
    now = _state(device)
    moved = {key for key in others if others[key] != now.get(key)} | (now.keys() - others.keys())
    own = {f"{knob.name.partition('.')[0]}.{Path(address).name}" for address in knob.addresses}
    for other in moved - own - SAME_THING:
        assert any(other == reset or other.startswith(reset.rstrip("*")) for reset in knob.resets), (
            f"{knob.name} = {level} moves {other}, which stands in no `resets`"
        )


def test_every_tunable_of_every_scheduler_is_taken_and_goes_with_it(loop: str) -> None:
    queue = queue_of(loop)
    schedulers = offer(HOST, load(), "block.scheduler", Location(loop), root=True).allowed
    assert "mq-deadline" in schedulers
    for scheduler in map(str, schedulers):
        if scheduler == "none":
            continue
        (queue / "scheduler").write_text(scheduler)
        tunables = {path.name: int(path.read_text()) for path in (queue / "iosched").iterdir()}
        _tune(loop)
        levels = {name: 1 - value if value in (0, 1) else value * 2 for name, value in tunables.items()}
        steps: list[Settings] = [
            {"block.scheduler": scheduler, f"block.iosched.{name}": level} for name, level in levels.items()
        ]
        became = _apply(loop, steps)
        refused = [name for name, state in zip(levels, became, strict=True) if state is not ChangeState.VERIFIED]
        assert len(refused) <= len(levels) // 3, f"{scheduler} does not take {refused}"


def test_a_parameter_of_a_module_is_taken_and_comes_back(loop: str) -> None:
    path = Path("/sys/module/block/parameters/events_dfl_poll_msecs")
    before = path.read_text()
    name = "module.block.events_dfl_poll_msecs"
    assert set(_apply(loop, [{name: 2000}, {name: 0}])) == {ChangeState.VERIFIED}
    assert path.read_text() == before


def _major_minor(path: Path) -> str:
    number = path.stat().st_dev
    return f"{os.major(number)}:{os.minor(number)}"
