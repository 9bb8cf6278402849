"""Real knobs of a real block device, and the sysctls: every row of the catalogue, and what each moves."""

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command import RUN_ENDED, Running, queue_of, run_ceteris, settings_of

from ceteris.hosts.facts import whole_disk
from ceteris.hosts.local import LocalHost
from ceteris.knobs.catalog import load
from ceteris.knobs.survey import offer, read
from ceteris.model import ChangeState, Knob, Location, Value, WriteFile
from ceteris.registry import knob_kinds
from ceteris.store import read as stored
from ceteris.store.open import open_engine, store_url

ROOT = Path(__file__).parent.parent.parent
pytestmark = [pytest.mark.root, pytest.mark.usefixtures("as_root")]

# Levels of the knobs whose files do not list them.
LEVELS: dict[str, tuple[Value, ...]] = {
    "block.read_ahead_kb": (0, 64, 4096),
    "block.nr_requests": (32, 64),
    "block.wbt_lat_usec": (0, 5000),
    "block.max_sectors_kb": (64, 512),
    "block.io_poll_delay": (-1,),
    "irq.affinity": ("0", "1", "0-1"),
    "kernel.numa_balancing": (0,),
    "kernel.sched_base_slice_ns": (2_000_000, 4_000_000),
    "kernel.sched_cfs_bandwidth_slice_us": (4000, 10_000),
    "kernel.sched_migration_cost_ns": (0, 5_000_000),
    "vm.compaction_proactiveness": (0, 50),
    "vm.dirty": ("15%", 64 * 2**20),
    "vm.dirty_background": ("5%", 32 * 2**20),
    "vm.dirty_expire_centisecs": (500, 3000),
    "vm.dirty_writeback_centisecs": (0, 100),
    "vm.max_map_count": (65_530, 262_144),
    "vm.min_free_kbytes": (30_000, 70_000),
    "vm.nr_hugepages": (2, 0),
    "vm.overcommit": ("60%", 2**36),
    "vm.overcommit_memory": (0, 1),  # with 2 other programs of this machine could not go on
    "vm.page-cluster": (0, 5),
    "vm.swappiness": (0, 1, 100),
    "vm.vfs_cache_pressure": (50, 200),
    "vm.watermark_scale_factor": (10, 200),
    "vm.zone_reclaim_mode": (0, 1),
}
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


@pytest.mark.parametrize("name", [row.name for row in load() if row.kind in KERNEL_FILES and "*" not in row.name])
def test_a_row_is_true(name: str, loop: str) -> None:
    """Every level is taken and reads back, and whatever else moves stands in `resets`."""
    kind = knob_kinds.get(load().get(name).kind)
    (queue_of(loop) / "scheduler").write_text("mq-deadline")
    for file, value in (("nr_requests", "100"), ("read_ahead_kb", "64"), ("wbt_lat_usec", "3000")):
        (queue_of(loop) / file).write_text(value)
    (queue_of(loop) / "iosched/read_expire").write_text("770")
    device = whole_disk(HOST, _major_minor(ROOT)) if name.startswith("irq.") else loop
    offered = offer(HOST, load(), name, Location(device), root=True)
    if offered.current is None:
        assert name in MAY_BE_MISSING, offered.refused
        assert offered.todo
        return
    knob = offered.knob
    levels = LEVELS.get(name) or offered.allowed
    assert levels, f"add levels of {name} to LEVELS"
    try:
        for level in levels:
            others = _state(loop)
            try:
                _set(knob, level)
            except PermissionError:  # interrupts that the kernel manages by itself
                assert name == "irq.affinity"
                continue
            assert kind.same(level, read(HOST, knob).value)
            moved = {key for key, value in _state(loop).items() if others.get(key) != value}
            moved |= others.keys() - _state(loop).keys()
            own = {f"{name.partition('.')[0]}.{Path(address).name}" for address in knob.addresses}
            for other in moved - own - SAME_THING:
                assert any(other == reset or other.startswith(reset.rstrip("*")) for reset in knob.resets), (
                    f"{name} = {level} moves {other}, which stands in no `resets`"
                )
    finally:
        with contextlib.suppress(PermissionError):
            _set(knob, offered.current)
    assert read(HOST, knob).value == offered.current


def _major_minor(path: Path) -> str:
    number = path.stat().st_dev
    return f"{os.major(number)}:{os.minor(number)}"


def test_a_value_that_the_kernel_takes_and_does_not_keep_is_told(ceteris, plan, loop: str) -> None:
    said = {'"block.read_ahead_kb" = [128, 66]': "block.read_ahead_kb was rounded: wanted 66, found 64"}
    if (queue_of(loop) / "io_poll_delay").exists():
        said['"block.io_poll_delay" = [-1, 100]'] = "block.io_poll_delay was ignored: wanted 100, found -1"
    for factor, words in said.items():
        done = ceteris("run", plan(factor, f'device = "{loop}"'))
        assert done.code == 3, done.err
        assert words in done.err


def test_a_kernel_file_system_that_is_read_only_is_told(plan, loop: str) -> None:
    """As in many containers."""
    path = plan('"block.rq_affinity" = [1, 2]', f'device = "{loop}"')
    inside = f"mount -o remount,bind,ro /sys && exec {sys.executable} -m ceteris.cli.main run {path}"
    done = subprocess.run(["unshare", "--mount", "sh", "-c", inside], capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    assert "rq_affinity: Read-only file system" in done.stdout + done.stderr


def test_a_tuned_device_survives_a_scheduler_experiment(ceteris, plan, loop: str) -> None:
    queue = queue_of(loop)
    (queue / "scheduler").write_text("mq-deadline")
    (queue / "nr_requests").write_text("100")
    (queue / "iosched/read_expire").write_text("770")
    before = settings_of(loop)
    done = ceteris("run", plan('"block.scheduler" = ["mq-deadline", "none", "bfq"]', f'device = "{loop}"'), "--json")
    assert done.code in RUN_ENDED, done.err
    assert settings_of(loop) == before
    assert before["nr_requests"] == "100"
    assert before["iosched/read_expire"] != "500"
    store = open_engine(store_url(None), create=False)
    made = {c.wanted for _, c in stored.changes(store, done.json["experiment"]) if c.state is ChangeState.VERIFIED}
    store.dispose()
    assert {"mq-deadline", "none", "bfq"} <= made


def test_every_kernel_knob_of_the_example_comes_back(ceteris, loop: str, tmp_path: Path) -> None:
    example = Path(__file__).parent.parent.parent / "examples" / "scheduler.toml"
    before = settings_of(loop)
    memory = [Path(f"/proc/sys/vm/{name}").read_text() for name in ("swappiness", "dirty_ratio", "dirty_bytes")]
    sets = {
        "target.device": loop,
        "target.path": str(tmp_path),
        "protocol.trial": "20ms",
        "protocol.settle": "5ms",
        "protocol.rounds": "2",
        "protocol.margin": "50%",
        "workload.0.total_size": "8MiB",
        "workload.0.threads": "[8]",
        "workload.0.data": "keep",
    }
    arguments = [part for key, value in sets.items() for part in ("--set", f"{key}={value}")]
    done = ceteris("run", str(example), *arguments)
    assert done.code in RUN_ENDED, done.err
    assert settings_of(loop) == before
    assert [Path(f"/proc/sys/vm/{name}").read_text() for name in ("swappiness", "dirty_ratio", "dirty_bytes")] == memory
    for name in ("scheduler", "read_ahead_kb", "nr_requests", "rq_affinity", "rotational"):
        assert f"block.{name}" in done.out


def test_combinations_do_not_leak_into_each_other(ceteris, plan, loop: str) -> None:
    (queue_of(loop) / "rq_affinity").write_text("1")
    (queue_of(loop) / "scheduler").write_text("mq-deadline")
    before = settings_of(loop)
    path = Path(plan("", f'device = "{loop}"'))
    combinations = """
[[combination]]
name = "affinity"
settings = { "block.rq_affinity" = 2 }
[[combination]]
name = "scheduler [/x]"
settings = { "block.scheduler" = "none", "fileio.direct" = true }
"""
    path.write_text(path.read_text() + combinations)
    done = ceteris("run", str(path))
    assert done.code in RUN_ENDED, done.err
    assert "[/x]" in done.out
    assert settings_of(loop) == before
    store = open_engine(store_url(None), create=False)
    arms = {t.order: t.arm for t in stored.trials(store, stored.find(store, "last").id)}
    taken: dict[tuple[str, str], set[object]] = {}
    for order, change in stored.changes(store, stored.find(store, "last").id):
        taken.setdefault((arms[order], change.knob), set()).add(change.observed)
    store.dispose()
    assert taken["baseline", "block.rq_affinity"] == taken["scheduler [/x]", "block.rq_affinity"] == {1}
    assert taken["affinity", "block.rq_affinity"] == {2}
    assert taken["affinity", "block.scheduler"] == {"mq-deadline"}


def test_a_setting_that_the_kernel_refuses_is_a_finding_and_not_tried_for_ever(ceteris, plan, loop: str) -> None:
    done = ceteris("run", plan('"block.nr_requests" = ["current", 100000]', f'device = "{loop}"'), "--json")
    assert done.code == 3
    assert any("the machine refuses block.nr_requests = 100000" in note for note in done.json["notes"])
    assert sum(done.json["trials"].values()) == 32
    assert done.json["trials"]["failed"] == 2


def test_a_killed_keeper_stops_the_experiment_and_the_machine_comes_back(plan, loop: str) -> None:
    before = settings_of(loop)
    path = plan('"block.rq_affinity" = [1, 2]', f'device = "{loop}"', trial="200ms")
    running = Running("run", path)
    running.wait_for("trial 3")
    subprocess.run(["pkill", "-9", "--parent", str(running.pid), "--full", "ceteris-engine journal"], check=True)
    ended = running.end()
    assert ended.code == 4
    assert "journal keeper" in ended.err
    assert settings_of(loop) == before


def test_a_level_that_the_machine_forbids_is_told_in_the_report(ceteris, plan, loop: str) -> None:
    (queue_of(loop) / "scheduler").write_text("mq-deadline")
    (queue_of(loop) / "nr_requests").write_text("200")
    done = ceteris("run", plan('"block.scheduler" = ["mq-deadline", "none"]', f'device = "{loop}"'), "--json")
    assert "with block.scheduler = none, block.nr_requests is 128: 200 is not possible there" in done.json["notes"]


def test_what_someone_else_changes_meanwhile_makes_the_trial_invalid(plan, loop: str) -> None:
    path = plan('"block.rq_affinity" = [1, 2]', f'device = "{loop}"', trial="200ms")
    running = Running("run", path)
    running.wait_for("trial 2")
    time.sleep(0.12)
    (queue_of(loop) / "rq_affinity").write_text("0")
    ended = running.end()
    assert ended.code in RUN_ENDED
    assert "block.rq_affinity was set again by someone else: wanted " in ended.err
    assert ", found 0" in ended.err


def test_two_experiments_cannot_change_one_thing(plan, loop: str) -> None:
    path = plan('"block.rq_affinity" = [1, 2]', f'device = "{loop}"', trial="200ms")
    running = Running("run", path)
    running.wait_for("trial 1")
    second = run_ceteris("run", path)
    assert second.code == 4
    assert "is running on this machine and uses" in second.err
    assert "left alone" in run_ceteris("undo").out
    assert running.goes_on()
    assert running.end().code in RUN_ENDED


def test_a_setting_that_cannot_come_back_ends_with_four_and_its_name(plan, loop: str, tmp_path: Path) -> None:
    """The journal names a file that is gone."""
    from ceteris.engine.find import binary
    from ceteris.knobs.journal import Journal

    gone = tmp_path / "knob"
    gone.write_text("1")
    journal = Journal(HOST, binary(), "e1", [str(gone)], volatile=False)
    journal.intend("test.knob", str(gone), 1, 2, [WriteFile(str(gone), "1")])
    gone.unlink()
    os.kill(journal._keeper.pid, 9)  # type: ignore[attr-defined]
    journal._keeper.close()
    refused = run_ceteris("run", plan())
    assert refused.code == 4
    assert "ceteris undo" in refused.err
    assert "test.knob" in run_ceteris("status").out
    done = run_ceteris("undo")
    assert done.code == 4
    assert "test.knob" in done.err
    gone.write_text("2")
    assert run_ceteris("undo", "--dry-run").out.startswith("test.knob: back to 1")
    assert gone.read_text() == "2"
    assert run_ceteris("undo").code == 0
    assert gone.read_text() == "1"
    assert run_ceteris("undo").out == "nothing to put back\n"
