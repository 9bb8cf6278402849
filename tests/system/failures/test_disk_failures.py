"""Disks of real md arrays and RAID volumes of LVM that fail, are slow, come back and are replaced, in a sandbox."""

import time
from collections.abc import Sequence

from lab_sandbox import LabSandbox
from layout_sessions import POINT, SSDS, assert_clean, layouts

from paribus.lab.machine.connection import site
from paribus.model import ChangeState, PlannedEvent
from paribus.trial.events.background import BackgroundJob
from paribus.trial.events.session import TrialEvents

SAS = [f"/dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_sas-{number}" for number in range(1, 4)]
WRITE = f"dd if=/dev/zero of={POINT}/file bs=4k count=8 oflag=direct,sync 2>/dev/null"
STATUS = "dmsetup status paribus_ab12-data"


def no_job(_number: int, argv: Sequence[str]) -> BackgroundJob:
    """No event of these tests runs a program."""
    raise AssertionError(argv)


def test_a_member_fails_and_a_blank_disk_replaces_it(sandbox: LabSandbox) -> None:
    with site(sandbox.address) as connected, layouts(connected, SSDS) as session:
        assert session.apply("disks ssd-1,ssd-2,ssd-3 / partition / md level=5 / ext4").state is ChangeState.VERIFIED
        fails = PlannedEvent(at_s=0.0, action="fail-member", disk="ssd-2")
        replaced = PlannedEvent(at_s=10.0, action="replace", disk="ssd-4")
        checked = PlannedEvent(at_s=1000.0, action="check")
        events = TrialEvents(connected.host, session, [fails, replaced, checked], no_job, list, list)
        events.pass_time(0.0)
        assert "[3/2]" in sandbox.run("cat /proc/mdstat")
        events.pass_time(10.0)
        elapsed_s = 10.0
        while events.lasting:
            time.sleep(0.2)
            elapsed_s = min(elapsed_s + 0.2, 999.0)
            events.pass_time(elapsed_s)
        state = sandbox.run("cat /proc/mdstat")
        assert "[3/3]" in state
        assert "vdd" in state and "vdb" not in state
        events.pass_time(1000.0)
        while events.lasting:
            time.sleep(0.2)
            events.pass_time(1001.0)
        assert session.in_force is None, "the next trial builds it anew"
        assert events.reasons() == []
    assert_clean(sandbox)


def test_a_disk_goes_offline_and_comes_back_with_its_content(sandbox: LabSandbox) -> None:
    with site(sandbox.address) as connected, layouts(connected, SAS) as session:
        text = "disks sas-1,sas-2 / md level=1 bitmap=internal / ext4"
        assert session.apply(text).state is ChangeState.VERIFIED
        offline = PlannedEvent(at_s=0.0, action="offline", disk="sas-2", until_s=10.0)
        back = PlannedEvent(at_s=10.0, action="add", disk="sas-2")
        repaired = PlannedEvent(at_s=1000.0, action="resync")
        again = PlannedEvent(at_s=2000.0, action="offline", disk="sas-1")
        planned = [offline, back, repaired, again]
        events = TrialEvents(connected.host, session, planned, no_job, list, list)
        events.pass_time(0.0)
        while "[2/1]" not in sandbox.run("cat /proc/mdstat"):
            sandbox.run(f"{WRITE}; sync")
        assert sandbox.run("cat /sys/block/sd?/device/state").split().count("offline") == 1
        for moment in (10.0, 1000.0):
            events.pass_time(moment)
            while events.lasting:
                time.sleep(0.2)
                events.pass_time(moment + 1)
            assert "[2/2]" in sandbox.run("cat /proc/mdstat")
        events.pass_time(2000.0)  # it is still offline when the layout is taken apart
        assert events.reasons() == []
    assert sandbox.run("cat /sys/block/sd?/device/state").split() == ["running"] * 3
    assert_clean(sandbox)


def test_a_disk_is_slow_then_fails_and_is_replaced(sandbox: LabSandbox) -> None:
    over = "paribus-ab12-over-virtio-ssd-2"
    with site(sandbox.address) as connected, layouts(connected, SSDS, "ssd-2") as session:
        assert session.apply("disks ssd-1,ssd-2 / md level=1 / ext4").state is ChangeState.VERIFIED
        slow = PlannedEvent(at_s=0.0, action="delay", disk="ssd-2", until_s=10.0, delay_s=0.1)
        fails = PlannedEvent(at_s=20.0, action="error", disk="ssd-2", until_s=30.0)
        replaced = PlannedEvent(at_s=30.0, action="replace", disk="ssd-2")
        again = PlannedEvent(at_s=1000.0, action="error", disk="ssd-2")
        events = TrialEvents(connected.host, session, [slow, fails, replaced, again], no_job, list, list)
        events.pass_time(0.0)
        assert " delay " in sandbox.run(f"dmsetup table {over}")
        began = time.monotonic()
        sandbox.run(WRITE)
        assert time.monotonic() - began > 8 * 0.1, "each write waits for both disks"
        events.pass_time(10.0)
        assert " linear " in sandbox.run(f"dmsetup table {over}")
        events.pass_time(20.0)
        while "[2/1]" not in sandbox.run("cat /proc/mdstat"):
            sandbox.run(f"{WRITE}; sync")
        assert " flakey " in sandbox.run(f"dmsetup table {over}")
        events.pass_time(30.0)
        elapsed_s = 30.0
        while events.lasting:
            time.sleep(0.2)
            events.pass_time(elapsed_s := min(elapsed_s + 0.2, 999.0))
        assert "[2/2]" in sandbox.run("cat /proc/mdstat")
        events.pass_time(1000.0)  # it still fails when the layout is taken apart
        assert " flakey " in sandbox.run(f"dmsetup table {over}")
        assert events.reasons() == []
    assert_clean(sandbox)


def pass_until_over(events: TrialEvents, from_s: float, before_s: float) -> None:
    """Let time pass until what was begun is over; no later than `before_s` of the trial."""
    elapsed_s = from_s
    while events.lasting:
        time.sleep(0.2)
        events.pass_time(elapsed_s := min(elapsed_s + 0.2, before_s))


def test_disk_of_a_logical_raid_fails_and_is_rebuilt_in_place_and_on_another(sandbox: LabSandbox) -> None:
    with site(sandbox.address) as connected, layouts(connected, SSDS, "ssd-2") as session:
        text = "disks ssd-1,ssd-2,ssd-3 / lvm type=raid5 / ext4"
        assert session.apply(text).state is ChangeState.VERIFIED
        planned = [
            PlannedEvent(at_s=0.0, after_bytes=4096, action="fail-member", disk="ssd-2"),
            PlannedEvent(at_s=10.0, action="replace", disk="ssd-2"),
            PlannedEvent(at_s=1000.0, action="fail-member", disk="ssd-2"),
            PlannedEvent(at_s=1000.0, action="replace", disk="ssd-4"),
            PlannedEvent(at_s=2000.0, action="check"),
        ]
        events = TrialEvents(connected.host, session, planned, no_job, list, list)
        sandbox.run(f"dd if=/dev/urandom of={POINT}/kept bs=1M count=64 oflag=direct 2>/dev/null")
        checksum = sandbox.run(f"md5sum {POINT}/kept")
        events.pass_time(0.0)
        assert " AAA " in sandbox.run(STATUS), "no work was done yet"
        events.pass_time(1.0, 4096)
        while " ADA " not in sandbox.run(STATUS):
            sandbox.run(f"{WRITE}; sync")
        events.pass_time(10.0, 4096)
        assert events.lasting, "all of the disk is rebuilt"
        pass_until_over(events, 10.0, 999.0)
        assert " AAA " in sandbox.run(STATUS)
        events.pass_time(1000.0, 4096)
        pass_until_over(events, 1000.0, 1999.0)
        assert " AAA " in sandbox.run(STATUS)
        below = sandbox.run("lsblk --noheadings --list --inverse --output NAME /dev/paribus_ab12/data")
        assert "vdd" in below and "vdb" not in below
        events.pass_time(2000.0, 4096)
        pass_until_over(events, 2000.0, 2999.0)
        assert events.reasons() == []
        measured = {each.metric: each.mean for each in events.measurements([], 1.0)}
        assert measured["mismatched_sectors"] == 0.0
        sandbox.run("echo 3 >/proc/sys/vm/drop_caches")
        assert sandbox.run(f"md5sum {POINT}/kept") == checksum
    assert_clean(sandbox)


def test_disk_of_a_logical_raid_goes_offline_and_comes_back_with_its_content(sandbox: LabSandbox) -> None:
    with site(sandbox.address) as connected, layouts(connected, SAS) as session:
        assert session.apply("disks sas-1,sas-2 / lvm type=raid1 / ext4").state is ChangeState.VERIFIED
        planned = [
            PlannedEvent(at_s=0.0, action="offline", disk="sas-2", until_s=10.0),
            PlannedEvent(at_s=10.0, action="add", disk="sas-2"),
            PlannedEvent(at_s=1000.0, action="offline", disk="sas-1"),
        ]
        events = TrialEvents(connected.host, session, planned, no_job, list, list)
        events.pass_time(0.0)
        while " AD " not in sandbox.run(STATUS):
            sandbox.run(f"{WRITE}; sync")
        events.pass_time(10.0)
        pass_until_over(events, 10.0, 999.0)
        assert " AA " in sandbox.run(STATUS)
        events.pass_time(1000.0)  # it is still offline when the layout is taken apart
        assert events.reasons() == []
    assert sandbox.run("cat /sys/block/sd?/device/state").split() == ["running"] * 3
    assert_clean(sandbox)


def test_disk_below_a_volume_group_is_slow_for_a_while(sandbox: LabSandbox) -> None:
    with site(sandbox.address) as connected, layouts(connected, SSDS, "ssd-2") as session:
        assert session.apply("disks ssd-1,ssd-2 / lvm type=striped / ext4").state is ChangeState.VERIFIED
        slow = PlannedEvent(at_s=0.0, action="delay", disk="ssd-2", until_s=10.0, delay_s=0.1)
        events = TrialEvents(connected.host, session, [slow], no_job, list, list)
        tables = "dmsetup table paribus-ab12-over-virtio-ssd-2"
        events.pass_time(0.0)
        assert " delay " in sandbox.run(tables)
        events.pass_time(10.0)
        assert " linear " in sandbox.run(tables)
    assert_clean(sandbox)
