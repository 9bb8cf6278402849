"""RAID volumes of LVM in a trial, on answers of dmsetup."""

import subprocess
from collections.abc import Callable, Sequence

import pytest

from paribus.errors import HostError
from paribus.hosts.fake import FakeHost
from paribus.knobs.layouts.lvm_layers import lvm_command
from paribus.trial.events.logical_raid import LogicalRaid

GROUP = ("/dev/vda", "/dev/mapper/over-b", "/dev/vdc")
FILES = {
    **{f"/sys/class/block/{name}/dev": "252:0\n" for name in ("vda", "vdb", "vdc", "mapper!over-b")},
    "/sys/class/block/mapper!over-b/slaves/vdb": "",
}


class Volume:
    """A layout of a RAID 5 of three disks, the second below a device of device-mapper."""

    physical_volumes = GROUP
    logical_volume = "paribus_t/data"

    def __init__(self) -> None:
        self.ran: list[tuple[str, ...]] = []
        self.tables: list[str] = []

    def run(self, *argv: str) -> None:
        self.ran.append(argv)

    def has_fault_device(self, disk: str) -> bool:
        return disk == "/dev/vdb"

    def disturb(self, disk: str, table: Callable[[str, int], str]) -> None:
        self.tables.append(table(disk, 1 << 20).split()[2])


class StatusHost(FakeHost):
    """A host whose dmsetup answers with one line."""

    line = "0 2048 raid raid5_ls 3 AAA 1024/1024 idle 0 0 -"

    def run(self, argv: Sequence[str], *_: object, **__: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(list(argv), 0, self.line, "")


@pytest.fixture
def volume() -> Volume:
    return Volume()


@pytest.fixture
def host() -> StatusHost:
    return StatusHost(FILES)


@pytest.fixture
def raid(host: StatusHost, volume: Volume) -> LogicalRaid:
    return LogicalRaid(host, volume)  # type: ignore[arg-type]


def test_failed_disk_is_rebuilt_in_place(raid: LogicalRaid, volume: Volume) -> None:
    raid.fail("/dev/vdb")
    assert volume.tables == ["flakey"]
    raid.replace("/dev/vdb")
    assert volume.tables == ["flakey", "linear"]
    assert volume.ran == [lvm_command("lvchange", GROUP, "--rebuild", "/dev/mapper/over-b", "paribus_t/data")]


def test_another_disk_joins_the_group_and_takes_over(raid: LogicalRaid, volume: Volume) -> None:
    raid.expect_failure("/dev/vdb")
    raid.replace("/dev/vdd")
    among = (*GROUP, "/dev/vdd")
    assert volume.ran == [
        lvm_command("vgextend", among, "paribus_t", "/dev/vdd"),
        lvm_command("lvconvert", among, "--repair", "paribus_t/data"),
        lvm_command("vgreduce", among, "--removemissing", "paribus_t"),
    ]
    assert not volume.tables, "the failed disk stays as it is"


def test_first_of_two_failed_disks_is_rebuilt_in_place_too(raid: LogicalRaid, volume: Volume) -> None:
    raid.expect_failure("/dev/vdb")
    raid.expect_failure("/dev/vdc")
    raid.replace("/dev/vdb")
    raid.replace("/dev/vdc")
    rebuilt = ("/dev/mapper/over-b", "/dev/vdc")
    assert volume.ran == [lvm_command("lvchange", GROUP, "--rebuild", path, "paribus_t/data") for path in rebuilt]
    with pytest.raises(HostError, match="no disk has failed in this trial"):
        raid.replace("/dev/vdb")


def test_disk_that_comes_back_is_only_refreshed(raid: LogicalRaid, volume: Volume) -> None:
    raid.fail("/dev/vdb")
    raid.add("/dev/vdb")
    assert volume.ran == [lvm_command("lvchange", GROUP, "--refresh", "paribus_t/data")]


@pytest.mark.parametrize(
    ("line", "is_whole", "is_idle"),
    [
        ("0 2048 raid raid5_ls 3 AAA 1024/1024 idle 0 0 -", True, True),
        ("0 2048 raid raid5_ls 3 ADA 1024/1024 idle 0 0 -", False, True),
        ("0 2048 raid raid5_ls 3 AaA 99/1024 recover 0 0 -", False, False),
        ("0 2048 raid raid1 2 AA 1024/1024 check 16 0 -", False, False),
    ],
)
def test_state_is_that_of_the_kernel(
    host: StatusHost, raid: LogicalRaid, line: str, is_whole: bool, is_idle: bool
) -> None:
    host.line = line
    assert (raid.is_whole(), raid.is_idle()) == (is_whole, is_idle)
    assert raid.mismatches() == (16 if "check" in line else 0)


def test_volume_without_raid_has_no_state(host: StatusHost, raid: LogicalRaid) -> None:
    host.line = "0 2048 linear"
    with pytest.raises(HostError, match="dmsetup reports no RAID state of paribus_t/data: 0 2048 linear"):
        raid.is_whole()


def test_disk_outside_of_the_group_cannot_fail(raid: LogicalRaid) -> None:
    with pytest.raises(HostError, match="/dev/vdx is not in paribus_t/data"):
        raid.fail("/dev/vdx")


def test_replacement_before_a_failure_is_refused(raid: LogicalRaid) -> None:
    with pytest.raises(HostError, match="no disk has failed in this trial"):
        raid.replace("/dev/vdb")
