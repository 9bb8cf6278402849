import pytest

from paribus.errors import UsageError
from paribus.knobs import kinds
from paribus.knobs.catalog import addresses_at, level_of, load
from paribus.knobs.kinds import knob_kinds
from paribus.model import Knob, Location

assert kinds


@pytest.mark.parametrize("knob", list(load()), ids=lambda knob: knob.name)
def test_every_row_is_complete(knob: Knob) -> None:
    assert knob.kind in knob_kinds
    assert knob.summary and knob.documentation.endswith(".")
    assert knob.takes_effect in ("live", "rebuild", "reload", "restart", "remount", "reboot", "trial")
    assert (knob_kinds.get(knob.kind).holder == "process") == (knob.takes_effect == "restart")
    assert (knob_kinds.get(knob.kind).holder == "guest") == (knob.takes_effect == "reboot")
    assert knob.danger in ("", "data_loss", "durability")
    assert bool(knob.filesystems) == knob.name.startswith("mount.")
    assert set(knob.unmounts) | set(knob.only_on.values()) <= set(knob.filesystems)
    assert set(knob.only_on) <= set(knob.allowed)
    assert all(load().find(pattern) for pattern in knob.resets)
    assert not knob.exists_under or load().find(knob.exists_under)


def test_a_member_of_a_family_has_a_file_of_its_own() -> None:
    knob = load().get("block.iosched.read_expire")
    assert addresses_at(knob, Location("/dev/sda")) == ("/sys/block/sda/queue/iosched/read_expire",)


@pytest.mark.parametrize(
    "name",
    [
        "block.iosched.../../../etc/passwd",
        "block.iosched.a/b",
        "block.iosched.",
        "block.nothing",
        "module.zfs",
        "module.a/b.c",
        "modprobe...c",
    ],
)
def test_a_member_is_a_plain_name(name: str) -> None:
    assert load().find(name) is None


def test_an_option_of_a_driver_has_the_name_of_its_manual_too() -> None:
    option = load().get("modprobe.iomemory-vsl.disable-msi")
    assert option.addresses == ("/sys/module/iomemory_vsl/parameters/disable_msi",)
    assert (option.minimum, option.maximum, option.proved) == (0, 1, "transcript")
    other = load().get("modprobe.iomemory_vsl.max_requests")  # one without a row
    assert other.addresses == ("/sys/module/iomemory_vsl/parameters/max_requests",)


def test_any_kernel_file_is_a_knob_by_its_own_name() -> None:
    catalogue = load()
    assert catalogue.get("sysctl.net.core.somaxconn").addresses == ("/proc/sys/net/core/somaxconn",)
    flashcache = catalogue.get("sysctl.dev.flashcache.ssd+sas.fast_remove")
    assert flashcache.addresses == ("/proc/sys/dev/flashcache/ssd+sas/fast_remove",)
    run = catalogue.get("sysfs./sys/kernel/mm/ksm/run")
    assert (run.name, run.kind, run.addresses) == ("sysfs./sys/kernel/mm/ksm/run", "sysfs", ("/sys/kernel/mm/ksm/run",))
    level = level_of(catalogue.get("sysctl.net.ipv4.tcp_rmem"), "sysctl.net.ipv4.tcp_rmem", "4096 131072 6291456")
    assert level == "4096 131072 6291456"


def test_a_file_that_has_a_row_is_that_knob() -> None:
    assert load().get("sysctl.vm.swappiness").name == "vm.swappiness"
    assert load().get("sysfs./sys/kernel/mm/transparent_hugepage/enabled").name.startswith("thp.")


@pytest.mark.parametrize(
    "name",
    ["sysctl.", "sysctl.vm", "sysctl.net..core", "sysctl./etc/passwd", "sysfs./etc/passwd", "sysfs./sys/../etc/passwd"],
)
def test_names_without_a_kernel_file_are_no_knobs(name: str) -> None:
    assert load().find(name) is None


def test_a_name_like_another_is_suggested() -> None:
    with pytest.raises(UsageError, match=r"did you mean 'block\.scheduler'"):
        load().get("block.sheduler")


def test_a_block_knob_needs_a_device() -> None:
    with pytest.raises(UsageError, match=r"target\.device"):
        addresses_at(load().get("block.scheduler"), Location())


@pytest.mark.parametrize(
    ("key", "written", "level"),
    [
        ("vm.dirty", "20%", "20%"),
        ("vm.dirty", "256MiB", 2**28),
        ("vm.dirty_ratio", 20, "20%"),
        ("vm.dirty_bytes", 1048576, 1048576),
        ("vm.overcommit_kbytes", 1024, 2**20),
        ("vm.overcommit_ratio", 60, "60%"),
        ("vm.swappiness", 1, 1),
        ("block.scheduler", "none", "none"),
        ("vm.swappiness", "current", "current"),
        ("cgroup.load.read_bytes_per_s", "100MiB", 100 * 2**20),
        ("cgroup.load.reads_per_s", "max", "max"),
        ("process.load.numa", "bind:0-1", "bind:0-1"),
        ("process.numa", "local", "local"),
        ("cgroup.server.cpu_quota", 2, 2.0),
        ("cgroup.server.cpu_quota", "max", "max"),
        ("process.load.nofile", 512, 512),
        ("module.zfs.zfs_arc_max", 2**33, 2**33),
    ],
)
def test_levels_are_read(key: str, written: object, level: object) -> None:
    assert level_of(load().get(key), key, written) == level  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("key", "written"),
    [
        ("vm.dirty", "2.5%"),
        ("vm.dirty", "120%"),
        ("vm.dirty", 0.2),
        ("vm.swappiness", 201),
        ("vm.swappiness", -1),
        ("vm.swappiness", "60"),
        ("vm.swappiness", True),
        ("block.scheduler", 0),
        ("cpu.governor", "performance|powersave"),
        ("cgroup.load.reads_per_s", 0),
        ("cgroup.load.cpus", "all"),
        ("cgroup.load.cpu_quota", 0),
        ("cgroup.load.cpu_quota", "2"),
        ("cgroup.load.cpu_weight", 0),
        ("process.load.numa", "everywhere"),
        ("process.load.nofile", "many"),
    ],
)
def test_invalid_levels_are_refused(key: str, written: object) -> None:
    with pytest.raises(ValueError):
        level_of(load().get(key), key, written)  # type: ignore[arg-type]


def test_a_short_name_is_that_of_the_subject() -> None:
    assert load().get("process.numa").name == "process.load.numa"
    of_server = load().with_subject("server").with_rows([])
    assert of_server.get("process.numa").name == "process.server.numa"
    assert of_server.get("process.load.numa").name == "process.load.numa"
    assert of_server.get("cgroup.cpus").addresses == ("/sys/fs/cgroup/paribus-server/cpuset.cpus",)


@pytest.mark.parametrize(
    ("key", "near"),
    [
        ("swappiness", "did you mean 'vm.swappiness'?"),
        ("innodb_io_capacity", "did you mean 'mysql.innodb_io_capacity'?"),
        ("vm.swappinesss", "did you mean 'vm.swappiness'?"),
        ("nonsense", ""),
    ],
)
def test_a_name_without_its_family_is_suggested_with_it(key: str, near: str) -> None:
    assert load().suggest(key) == near


def test_a_hypervisor_has_the_knobs_of_kernel_and_devices() -> None:
    scheduler = load().get("host.block.scheduler")
    assert scheduler.addresses == load().get("block.scheduler").addresses
    assert "host.block.iosched.*" in scheduler.resets
    tunable = load().get("host.block.iosched.read_expire")
    assert (tunable.name, tunable.exists_under) == ("host.block.iosched.read_expire", "host.block.scheduler")
    assert load().get("host.sysctl.net.core.somaxconn").name == "host.sysctl.net.core.somaxconn"
    assert load().get("host.kernel.numa_balancing").aliases == ()


@pytest.mark.parametrize(
    "name", ["host.mount.commit", "host.modprobe.bfq.loaded", "host.layout", "host.host.vm.swappiness"]
)
def test_knobs_of_mounts_and_processes_are_of_a_target_only(name: str) -> None:
    assert load().find(name) is None


def test_a_guest_has_the_knobs_of_its_definition() -> None:
    assert load().get("guest.disk.cache").addresses == ("devices/disk/driver/@cache",)
    assert load().get("guest.disk.iotune.total_iops_sec").addresses == ("devices/disk/iotune/total_iops_sec",)
    assert load().find("host.guest.disk.cache") is None
