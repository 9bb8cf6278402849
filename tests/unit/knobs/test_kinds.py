"""Cases of reading and writing, one line each: files in, value out, and the write that sets a value."""

import pytest

from paribus.errors import Missing, UsageError
from paribus.hosts.fake import FakeHost
from paribus.knobs import kinds
from paribus.knobs.catalog import load
from paribus.knobs.discovery import place
from paribus.knobs.kinds import knob_kinds
from paribus.knobs.recipe import persist_command, set_command
from paribus.model import (
    CommandLines,
    ControlGroup,
    DomainPlace,
    Knob,
    LoadModule,
    Location,
    MountOption,
    ProcessState,
    Value,
    WriteFile,
)

assert kinds

CASES = [
    ("sysfs", ("[none] mq-deadline kyber bfq \n",), "none", ("none", "mq-deadline", "kyber", "bfq")),
    ("sysfs", ("none [mq-deadline]\n",), "mq-deadline", ("none", "mq-deadline")),
    ("sysfs", ("128\n",), 128, ()),
    ("sysfs", ("-1\n",), -1, ()),
    ("sysfs", ("write back\n",), "write back", ()),
    ("sysctl", ("60\n",), 60, ()),
    ("sysctl", ("250\t32000\t32\t128\n",), "250 32000 32 128", ()),
    ("ratio_or_bytes", ("20\n", "0\n"), "20%", ()),
    ("ratio_or_bytes", ("0\n", "67108864\n"), 67108864, ()),
    ("ratio_or_bytes", ("0\n", "0\n"), "0%", ()),
    ("every", ("performance\n", "performance\n"), "performance", ()),
    ("every", ("performance\n", "powersave\n"), "performance|powersave", ()),
    ("every", ("0-1\n",), "0-1", ()),
]


def _knob(kind: str, *addresses: str) -> Knob:
    return Knob(name="test.knob", kind=kind, addresses=addresses, type="text", summary="", documentation="")


@pytest.mark.parametrize(("kind", "texts", "value", "allowed"), CASES)
def test_files_are_read(kind: str, texts: tuple[str, ...], value: Value, allowed: tuple[Value, ...]) -> None:
    reading = knob_kinds.get(kind).parse(_knob(kind, "a", "b"), texts)
    assert (reading.value, reading.allowed) == (value, allowed)
    assert type(reading.value) is type(value)


@pytest.mark.parametrize(
    ("kind", "addresses", "value", "path", "text"),
    [
        ("sysfs", ("/s",), "bfq", "/s", "bfq"),
        ("sysfs", ("/s",), 128, "/s", "128"),
        ("sysctl", ("/p",), 60, "/p", "60"),
        ("ratio_or_bytes", ("/ratio", "/bytes"), "20%", "/ratio", "20"),
        ("ratio_or_bytes", ("/ratio", "/bytes"), 67108864, "/bytes", "67108864"),
    ],
)
def test_values_are_written(kind: str, addresses: tuple[str, ...], value: Value, path: str, text: str) -> None:
    (action,) = knob_kinds.get(kind).writes(_knob(kind, *addresses), value)
    assert isinstance(action, WriteFile)
    assert (action.path, action.text) == (path, text)


@pytest.mark.parametrize(("kind", "texts", "value", "allowed"), CASES)
def test_a_value_read_is_the_same_as_itself(
    kind: str, texts: tuple[str, ...], value: Value, allowed: tuple[Value, ...]
) -> None:
    assert knob_kinds.get(kind).same(value, value)
    assert not knob_kinds.get(kind).same(value, "something else")


def test_a_setting_of_several_disks_is_one_where_they_agree() -> None:
    kind = knob_kinds.get("sysfs")
    knob = _knob("sysfs", "/sys/block/sda/queue/scheduler", "/sys/block/sdb/queue/scheduler")
    same = kind.parse(knob, ("[none] bfq kyber", "[none] bfq"))
    assert (same.value, same.allowed) == ("none", ("none", "bfq"))
    assert kind.parse(knob, ("128", "128")).value == 128
    different = kind.parse(knob, ("[none] bfq", "none [bfq]")).value
    assert different == "none|bfq"
    restored = [action.text for action in kind.writes(knob, different) if isinstance(action, WriteFile)]
    assert restored == ["none", "bfq"]
    assert [action.text for action in kind.writes(knob, 64) if isinstance(action, WriteFile)] == ["64", "64"]


MOUNTS = """22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
40 22 7:0 / /data\\040base rw,noatime shared:3 master:1 - ext4 /dev/loop0 rw,nobarrier,commit=60
41 22 7:1 / /logs rw - xfs /dev/loop1 rw,inode64,logbsize=32k
"""


def _mounted(name: str, point: str) -> Knob:
    return place(FakeHost({"/proc/self/mountinfo": MOUNTS}), load().get(name), Location(mount=point))


@pytest.mark.parametrize(
    ("name", "point", "value", "level", "option", "anew"),
    [
        ("mount.atime", "/data base", "noatime", "strictatime", "strictatime", False),
        ("mount.atime", "/logs", "strictatime", "noatime", "noatime", False),
        ("mount.barrier", "/data base", "nobarrier", "barrier", "barrier", False),
        ("mount.barrier", "/", "barrier", "nobarrier", "nobarrier", False),
        ("mount.commit", "/data base", 60, 5, "commit=5", False),
        ("mount.commit", "/", 5, 60, "commit=60", False),
        ("mount.data", "/", "ordered", "writeback", "data=writeback", True),
        ("mount.logbsize", "/logs", "32k", "256k", "logbsize=256k", True),
        ("mount.allocsize", "/logs", "dynamic", "64k", "allocsize=64k", True),
        ("mount.allocsize", "/logs", "dynamic", "dynamic", "", True),
    ],
)
def test_a_mount_option_is_what_is_shown_else_what_goes_without_saying(
    name: str, point: str, value: Value, level: Value, option: str, anew: bool
) -> None:
    knob, kind = _mounted(name, point), knob_kinds.get("mount_option")
    reading = kind.parse(knob, (MOUNTS,))
    assert reading.value == value
    (action,) = kind.writes(knob, level)
    assert isinstance(action, MountOption)
    assert (action.path, action.option, action.anew) == (point, option, anew)
    (undo,) = reading.undo
    assert isinstance(undo, MountOption)
    assert undo.mounted is not None
    assert undo.mounted.point == point


def test_an_option_that_a_file_system_lost_is_told_with_the_reason() -> None:
    with pytest.raises(Missing, match=r"/logs is xfs, which does not have mount\.barrier\n.*since kernel 4\.19"):
        _mounted("mount.barrier", "/logs")
    with pytest.raises(Missing, match="nothing is mounted at /nowhere"):
        _mounted("mount.atime", "/nowhere")


def test_a_module_is_loaded_anew_with_its_parameter() -> None:
    knob = place(
        FakeHost({"/sys/module/nvme/parameters/poll_queues": "0\n"}),
        load().get("modprobe.nvme.poll_queues"),
        Location(),
    )
    (action,) = knob_kinds.get("module").writes(knob, 4)
    assert action == LoadModule("/sys/module/nvme/parameters/poll_queues", "nvme", "poll_queues", "4")
    assert set_command(knob, 4) == "modprobe -r nvme && modprobe nvme poll_queues=4"


SECOND = {"/sys/fs/cgroup/cgroup.controllers": "cpuset io memory", "/sys/fs/cgroup/cgroup.subtree_control": "cpuset io"}
FIRST = {
    "/sys/fs/cgroup/blkio/tasks": "",
    "/sys/fs/cgroup/cpuset/cpuset.cpus": "0-3\n",
}
DEVICE = {"/sys/block/sda/dev": "8:0\n"}


@pytest.mark.parametrize(
    ("files", "name", "text", "value", "level", "path", "written"),
    [
        (SECOND, "reads_per_s", "", "max", 40, "/sys/fs/cgroup/paribus-load/io.max", "8:0 riops=40"),
        (
            SECOND,
            "reads_per_s",
            "8:0 rbps=9 riops=40\n",
            40,
            "max",
            "/sys/fs/cgroup/paribus-load/io.max",
            "8:0 riops=max",
        ),
        (SECOND, "write_bytes_per_s", "8:16 wbps=9\n8:0 rbps=7 wbps=max\n", "max", 1, None, "8:0 wbps=1"),
        (FIRST, "reads_per_s", "", "max", 40, None, "8:0 40"),
        (FIRST, "reads_per_s", "8:0 40\n", 40, "max", None, "8:0 0"),
    ],
)
def test_a_limit_of_a_group_is_read_and_written_in_both_versions(
    files: dict[str, str], name: str, text: str, value: Value, level: Value, path: str | None, written: str
) -> None:
    knob = place(FakeHost(files | DEVICE), load().get(f"cgroup.load.{name}"), Location("/dev/sda"))
    kind = knob_kinds.get("group_limit")
    reading = kind.parse(knob, (text,))
    assert reading.value == value
    group, write = kind.writes(knob, level)
    assert isinstance(group, ControlGroup)
    assert isinstance(write, WriteFile)
    assert (write.path, write.text) == (path or knob.addresses[0], written)
    assert reading.undo == (ControlGroup(group.path, present=False),)


MEMORY_AND_CPU = {
    "/sys/fs/cgroup/cgroup.controllers": "cpu memory",
    "/sys/fs/cgroup/cgroup.subtree_control": "cpu memory",
}
FIRST_MEMORY_AND_CPU = {"/sys/fs/cgroup/memory/tasks": "", "/sys/fs/cgroup/cpu/tasks": ""}


@pytest.mark.parametrize(
    ("files", "name", "text", "value", "level", "written"),
    [
        (MEMORY_AND_CPU, "memory_max", "max\n", "max", 2**32, "4294967296"),
        (MEMORY_AND_CPU, "memory_high", "4294967296\n", 2**32, "max", "max"),
        (MEMORY_AND_CPU, "cpu_quota", "max 100000\n", "max", 1.5, "150000 100000"),
        (MEMORY_AND_CPU, "cpu_quota", "150000 100000\n", 1.5, "max", "max 100000"),
        (MEMORY_AND_CPU, "cpu_weight", "", 100, 50, "50"),
        (FIRST_MEMORY_AND_CPU, "memory_max", "9223372036854771712\n", "max", 2**32, "4294967296"),
        (FIRST_MEMORY_AND_CPU, "memory_max", "4294967296\n", 2**32, "max", "-1"),
        (FIRST_MEMORY_AND_CPU, "cpu_quota", "-1\n", "max", 0.5, "50000"),
        (FIRST_MEMORY_AND_CPU, "cpu_quota", "50000\n", 0.5, "max", "-1"),
        (FIRST_MEMORY_AND_CPU, "cpu_weight", "512\n", 50, 200, "2048"),
    ],
)
def test_memory_and_processor_time_of_a_group_are_read_and_written_in_both_versions(
    files: dict[str, str], name: str, text: str, value: Value, level: Value, written: str
) -> None:
    knob = place(FakeHost(files), load().get(f"cgroup.server.{name}"), Location())
    kind = knob_kinds.get("group_limit")
    assert kind.parse(knob, (text,)).value == value
    group, write = kind.writes(knob, level)
    assert isinstance(group, ControlGroup)
    assert group.path.endswith("/paribus-server")
    assert isinstance(write, WriteFile)
    assert write.text == written


def test_a_limit_of_version_2_alone_is_missing_in_version_1() -> None:
    with pytest.raises(Missing, match="memory_high needs version 2"):
        place(FakeHost(FIRST_MEMORY_AND_CPU), load().get("cgroup.load.memory_high"), Location())


def _process(
    cpus: tuple[str, ...] = ("0-3",),
    groups: tuple[str, ...] = ("0::/",),
    nofile: str = "512",
    memlock: str = "unlimited",
    numa: str | None = "default",
) -> ProcessState:
    return ProcessState(pid=7, name="postgres", cpus=cpus, groups=groups, nofile=nofile, memlock=memlock, numa=numa)


@pytest.mark.parametrize(
    ("name", "requested", "process", "observed"),
    [
        ("process.server.cpus", "0,1-2", _process(cpus=("0-2",)), "0,1-2"),
        ("process.server.cpus", "0-2", _process(cpus=("0-2", "0-3")), "0-3"),
        ("process.server.cpus", "default", _process(cpus=("1",)), "default"),
        ("process.server.nofile", 512, _process(), 512),
        ("process.server.nofile", 1024, _process(), "512"),
        ("process.server.memlock", "unlimited", _process(), "unlimited"),
        ("process.server.numa", "interleave", _process(numa="interleave:0-1"), "interleave"),
        ("process.server.numa", "interleave:0", _process(numa="interleave:0-1"), "interleave:0-1"),
        ("process.server.numa", "preferred:1", _process(numa="prefer:1"), "preferred:1"),
        ("process.server.numa", "preferred:1", _process(numa="prefer (many):1"), "preferred:1"),
        ("process.server.numa", "local", _process(numa="local"), "local"),
        ("process.server.numa", "local", _process(numa="prefer"), "local"),
        ("process.server.numa", "bind:0", _process(), "default"),
        ("process.server.numa", "bind:0", _process(numa=None), "unknown"),
    ],
)
def test_a_condition_is_read_from_the_process(
    name: str, requested: Value, process: ProcessState, observed: Value
) -> None:
    assert knob_kinds.get("launch").of_process(load().get(name), requested, process) == observed


@pytest.mark.parametrize(
    ("files", "groups", "is_member"),
    [
        (MEMORY_AND_CPU, ("0::/paribus-server",), True),
        (MEMORY_AND_CPU, ("0::/",), False),
        (FIRST_MEMORY_AND_CPU, ("4:memory:/paribus-server", "1:cpu:/"), True),
        (FIRST_MEMORY_AND_CPU, ("4:memory:/", "1:cpu,cpuacct:/paribus-server"), False),
    ],
)
def test_a_process_has_a_limit_where_it_is_in_the_group(
    files: dict[str, str], groups: tuple[str, ...], is_member: bool
) -> None:
    knob = place(FakeHost(files), load().get("cgroup.server.memory_max"), Location())
    observed = knob_kinds.get("group_limit").of_process(knob, 5, _process(groups=groups))
    assert (observed == 5) == is_member


def test_a_group_that_the_machine_cannot_have_is_told_with_what_to_do() -> None:
    with pytest.raises(Missing, match=r"controller io .* not enabled\n.*echo \+io"):
        place(
            FakeHost(DEVICE | SECOND | {"/sys/fs/cgroup/cgroup.subtree_control": "cpuset"}),
            load().get("cgroup.load.reads_per_s"),
            Location("/dev/sda"),
        )
    with pytest.raises(Missing, match="no such control group"):
        place(FakeHost(DEVICE), load().get("cgroup.load.reads_per_s"), Location("/dev/sda"))
    with pytest.raises(UsageError, match="needs a device"):
        place(FakeHost(SECOND), load().get("cgroup.load.reads_per_s"), Location())


def test_processors_of_a_group_are_those_above_until_they_are_limited() -> None:
    knob = place(FakeHost(FIRST), load().get("cgroup.load.cpus"), Location())
    kind = knob_kinds.get("group_limit")
    assert kind.parse(knob, ("", "0-3\n")).value == "0-3"
    assert kind.parse(knob, ("0\n", "0-3\n")).value == "0"


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("process.load.numa", "default", ()),
        ("process.load.numa", "interleave:0,1", ("--numa", "interleave:0,1")),
        ("process.load.nofile", 512, ("--limit", "nofile=512")),
    ],
)
def test_a_condition_is_an_option_of_the_engine(name: str, value: Value, words: tuple[str, ...]) -> None:
    assert knob_kinds.get("launch").engine_options(load().get(name), value) == words


OWN = {
    "raid.policy": Knob(
        name="raid.policy", kind="command", addresses=("x",), type="enumerated", summary="", documentation="",
        command=CommandLines(get=("ctl", "show"), set=("ctl", "set", "{value}"), pattern="(.*)", survives_reboot=False),
    )
}  # fmt: skip
LASTING = [
    ("raid.policy", "WB", "# run at boot: ctl set WB"),
    ("layout", "md level=10 / xfs", "/etc/fstab"),
    ("platform", "guest", "run the server on the guest"),
    ("event.backup", "ON", "# let event backup happen beside the load"),
    ("vm.swappiness", 10, "'vm.swappiness = 10' >> /etc/sysctl.d/90-paribus.conf"),
    ("vm.dirty", "20%", "'vm.dirty_ratio = 20' >> /etc/sysctl.d/90-paribus.conf"),
    ("vm.dirty", 2**26, "'vm.dirty_bytes = 67108864' >> /etc/sysctl.d/90-paribus.conf"),
    (
        "block.scheduler",
        "none",
        """'ACTION=="add|change", SUBSYSTEM=="block", KERNEL=="sda", ATTR{queue/scheduler}="none"' """
        ">> /etc/udev/rules.d/90-paribus.rules",
    ),
    ("block.iosched.read_expire", 9, 'ATTR{queue/iosched/read_expire}="9"'),
    ("thp.enabled", "never", "transparent_hugepage=never on the kernel's command line"),
    ("thp.defrag", "defer", "'w /sys/kernel/mm/transparent_hugepage/defrag - - - - defer' >> /etc/tmpfiles.d/"),
    ("cpu.governor", "performance", "'w /sys/devices/system/cpu/cpufreq/policy*/scaling_governor - - - - performance'"),
    ("module.zfs.zfs_arc_max", 8, "'options zfs zfs_arc_max=8' >> /etc/modprobe.d/90-paribus.conf"),
    ("modprobe.nvme.poll_queues", 4, "nvme.poll_queues=4 on its command line"),
    ("mount.atime", "noatime", "in /etc/fstab, among the options of /data base: give noatime, none else of"),
    ("mount.allocsize", "dynamic", "among the options of /logs: give none of allocsize=…"),
    ("process.load.numa", "interleave", "NUMAPolicy=interleave NUMAMask=all"),
    ("process.load.numa", "bind:0", "NUMAPolicy=bind NUMAMask=0"),
    ("process.load.cpus", "0-3", "CPUAffinity=0-3"),
    ("process.load.memlock", "unlimited", "LimitMEMLOCK=infinity"),
    ("cgroup.load.reads_per_s", 40, "systemctl set-property SERVICE 'IOReadIOPSMax=/dev/block/8:0 40'"),
    ("cgroup.load.cpus", "0-1", "AllowedCPUs=0-1"),
    ("cgroup.server.cpu_quota", 1.5, "systemctl set-property SERVICE CPUQuota=150%"),
    ("cgroup.server.cpu_quota", "max", "systemctl set-property SERVICE CPUQuota="),
    ("cgroup.server.cpu_weight", 50, "CPUWeight=50"),
    ("cgroup.server.memory_max", 2**32, "MemoryMax=4294967296"),
    ("sqlite.synchronous", "off", "PRAGMA synchronous = off;  -- in the program"),
    ("sqlite.journal_mode", "wal", "PRAGMA journal_mode = wal;  -- once"),
    ("mysql.innodb_io_capacity", 2000, "innodb_io_capacity = 2000    # below [mysqld]"),
    ("postgres.work_mem", "64MB", "ALTER SYSTEM SET work_mem = '64MB';"),
    (
        "guest.disk.cache",
        "unsafe",
        "edit --domain 'db 1'  # devices/disk[vda]/driver/@cache: unsafe; then: virsh shutdown",
    ),
    ("guest.vcpus", 4, "# vcpu: 4; then: virsh shutdown 'db 1'; virsh start 'db 1'"),
]
GUEST = DomainPlace("qemu:///system", "db 1", "vda")
MACHINE = (
    SECOND
    | DEVICE
    | {
        "/proc/self/mountinfo": MOUNTS,
        "/sys/fs/cgroup/cgroup.subtree_control": "cpu cpuset io memory",
        "/sys/fs/cgroup/cpuset.cpus.effective": "0-3\n",
        "/sys/module/zfs/parameters/zfs_arc_max": "0",
        "/sys/module/nvme/parameters/poll_queues": "0",
        **{f"/sys/devices/system/cpu/cpufreq/policy{cpu}/scaling_governor": "powersave\n" for cpu in (0, 1, 10)},
    }
)


@pytest.mark.parametrize(("name", "value", "words"), LASTING)
def test_every_kind_has_a_way_to_keep_a_value(name: str, value: Value, words: str) -> None:
    row = (
        OWN.get(name)
        or load().find(name)
        or Knob(name=name, kind="variable", addresses=(name,), type="text", summary="", documentation="")
    )
    point = "/logs" if name == "mount.allocsize" else "/data base"
    knob = (
        row
        if row.kind in ("launch", "pragma", "variable")
        else place(FakeHost(MACHINE), row, Location("/dev/sda", point, domain=GUEST))
    )
    assert words in persist_command(knob, value)


def test_every_kind_has_such_a_case() -> None:
    kinds_with_case = {(OWN.get(name) or load().find(name) or _knob("variable")).kind for name, _, _ in LASTING}
    assert kinds_with_case == set(knob_kinds)


def test_a_setting_of_a_guest_is_checked_while_it_runs() -> None:
    knob = place(FakeHost({}), load().get("guest.disk.cache"), Location("/dev/sdb", domain=GUEST))
    assert knob_kinds.get("domain").check_by_hand(knob) == "virsh --connect qemu:///system dumpxml --domain 'db 1'"


@pytest.mark.parametrize(
    ("name", "location", "message"),
    [
        ("guest.vcpus", Location("/dev/sdb"), "guest.vcpus is a setting of a virtual machine"),
        (
            "guest.disk.cache",
            Location("/dev/sdb", domain=DomainPlace("qemu:///system", "db1", "")),
            "guest.disk.cache needs the guest's disk under test",
        ),
    ],
)
def test_a_setting_of_a_guest_needs_the_guest_and_its_disk(name: str, location: Location, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        place(FakeHost({}), load().get(name), location)
