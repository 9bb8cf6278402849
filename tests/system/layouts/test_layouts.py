"""Storage layouts with real md, LVM, dm-crypt and file systems in a sandbox: built, measured, taken apart."""

import json
import os
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from command import RUN_ENDED, Running, run_paribus
from lab_sandbox import LabSandbox
from layout_sessions import POINT, SSDS, assert_clean, layouts

from paribus.errors import HostError
from paribus.knobs.layouts.layout import parse_layout
from paribus.lab.machine.connection import site
from paribus.model import ChangeState

ALL = "PARIBUS_EXPLORE" in os.environ  # `make proof`: every layer, and more faults
FAST = "/dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_fast-1"
PLAN = """
name = "raid {process}"
[target]
host = "{address}"
path = "/var/tmp"
devices = {disks}
may_destroy = {disks}
[sandbox]
disks = ["slow:128MiB:count=2,iops=300"]
[hold]
"block.scheduler" = "mq-deadline"
[factors]
layout = {levels}
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
SLOW = [f"/dev/disk/by-id/virtio-slow-{number}" for number in (1, 2)]
RAID_0 = '{ name = "RAID 0", md = { level = 0, chunk = "64KiB" }, ext4 = {}, mount = ["noatime"] }'
RAID_1 = '{ name = "RAID 1", md = { level = 1 }, ext4 = {}, mount = ["noatime"] }'
RAW_1 = '{ name = "RAID 1 itself", md = { level = 1 } }'


@pytest.fixture
def written(sandbox: LabSandbox, tmp_path: Path) -> Callable[..., str]:
    def write(*levels: str, disks: Sequence[str] = SSDS) -> str:
        path = tmp_path / "plan.toml"
        names = json.dumps(list(disks))
        levels_of_plan = f"[{', '.join(levels)}]"
        text = PLAN.format(process=os.getpid(), address=sandbox.address, disks=names, levels=levels_of_plan)
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


if ALL:  # minutes of an emulated machine

    def test_in_a_sandbox_of_its_own_a_plan_finds_the_second_copy_of_every_write(written: Callable[..., str]) -> None:
        done = run_paribus("sandbox", "run", "--keep", written(RAID_0, RAW_1, disks=SLOW))
        own = LabSandbox(f"plan-raid-{os.getpid()}", ())
        try:
            assert done.code in RUN_ENDED, done.err
            answer = run_paribus("report", "last", "--format", "json").json
            [effect] = [each for each in answer["effects"] if each["load"] is None]
            assert effect["verdict"] == "worse", done.out  # every byte is written twice
            assert "emulated processors" in run_paribus("report", "last").out.partition("\n\n")[0]
            assert_clean(own)
        finally:
            own.remove()

    def test_a_small_write_to_raid_5_is_four_operations(written: Callable[..., str], sandbox: LabSandbox) -> None:
        small = 'partition = { over_provision = "75%" }, md = { level = '
        plan = written(*(f'{{ name = "{level}", {small}{level}, chunk = "64KiB" }} }}' for level in (5, 10)))
        done = run_paribus("run", plan, "--set", "workload.0.threads=[1]")
        assert done.code in RUN_ENDED, done.err
        uses = {use["level"]: use for use in run_paribus("report", "last", "--format", "json").json["layouts"]}
        five, ten = uses["5"], uses["10"]  # old data and parity are read, new data and parity written; or two copies
        assert 3.4 < five["operations_per_operation"] < 4.6  # samples of the disks are not exactly the load's seconds
        assert 1.7 < ten["operations_per_operation"] < 2.4
        assert 1.7 < five["written_per_byte"] < 2.4
        assert 1.7 < ten["written_per_byte"] < 2.4
        assert_clean(sandbox)


LAYERS: list[tuple[dict[str, Any], str, list[str]]] = [  # a layout, what shows it, and words of that
    (
        {"partition": {"over_provision": "15%"}, "md": {"level": 5, "chunk": "64KiB"}, "xfs": {}},
        f"xfs_info {POINT}",
        ["sunit=16", "swidth=48"],  # in blocks of 4 KiB
    ),
    (
        {"md": {"level": 1, "arrays": 2}, "lvm": {"type": "striped", "stripe_size": "128KiB"}, "ext4": {}},
        "dumpe2fs -h /dev/paribus_ab12/data 2>/dev/null",
        ["RAID stride:              32", "RAID stripe width:        64"],
    ),
    ({"lvm": {"type": "raid10"}, "xfs": {}}, "lvs --noheadings -o segtype", ["raid10"]),
    ({"lvm": {"type": "raid5"}, "ext4": {}}, "lvs --noheadings -o segtype,sync_percent", ["raid5", "100.00"]),
    ({"lvm": {"type": "thin"}, "ext4": {}}, "lvs --noheadings -o segtype", ["thin"]),
    (
        {"crypt": {"no_read_workqueue": True}, "md": {"level": 6}, "xfs": {"su": "none"}},
        "dmsetup table paribus-ab12-crypt3",
        ["crypt aes-xts-plain64", "no_read_workqueue", "sector_size:4096"],
    ),
    ({"btrfs": {"data": "raid10"}}, f"btrfs filesystem df {POINT}", ["Data, RAID10"]),
    (
        {"zfs": {"data": "raidz1", "recordsize": "16KiB", "compression": "off"}, "mount": ["noatime"]},
        f"zpool list -v paribus-ab12; zfs get -H recordsize paribus-ab12; grep {POINT} /proc/mounts",
        ["raidz1-0", "16K", "zfs rw,noatime"],
    ),
    ({"md": {"level": 5}, "zfs": {}}, "zpool status -LP", ["/dev/md127"]),
    ({"partition": {"over_provision": "15%"}, "zfs": {"data": "mirror"}}, "zpool status", ["mirror-1", "part1"]),
]


CACHES: list[tuple[dict[str, Any], str, list[str]]] = [
    (
        {"lvm": {}, "cache": {"on": [FAST], "mode": "writeback"}, "ext4": {}},
        "dmsetup table paribus_ab12-data",
        ["cache", "writeback"],
    ),
    (
        {"bcache": {"on": [FAST], "bucket": "64KiB", "mode": "writeback", "writeback_percent": "20%"}, "ext4": {}},
        "cat /sys/block/bcache?/bcache/{cache_mode,state,writeback_percent}",
        ["[writeback]", "dirty", "20"],
    ),
    ({"lvm": {}, "cache": {"on": [FAST], "type": "writecache"}, "xfs": {}}, "dmsetup table", ["writecache"]),
]


@pytest.mark.parametrize(
    ("disks", "cases"),
    [(SSDS, LAYERS), ([SSDS[0], FAST], CACHES)] if ALL else [(SSDS, LAYERS[:2])],
    ids=["equal disks", "a faster disk"] if ALL else ["equal disks"],
)
def test_layers_are_what_was_ordered_and_leave_nothing(
    sandbox: LabSandbox, disks: list[str], cases: list[tuple[dict[str, Any], str, list[str]]]
) -> None:
    with site(sandbox.address) as connected, layouts(connected, disks) as session:
        for written_layout, shown, said in cases:
            text = parse_layout(written_layout).text
            refused = session.apply(f"{text} / mount nosuchoption") if "cache" in text else None
            assert refused is None or "mount" in refused.refused, text
            change = session.apply(text)
            assert change.state is ChangeState.VERIFIED, (text, change.refused)
            assert session.verify() == ()
            assert not session.cache_use()  # nothing was counted before
            sandbox.run(f"echo x >{POINT}/file && sync && echo 3 >/proc/sys/vm/drop_caches && cat {POINT}/file")
            counted = {each.metric: each.mean for each in session.cache_use()}
            assert (counted.get("cache_dirty_bytes", 0.0) > 0) == ("cache" in text), text
            answer = sandbox.run(shown)
            for word in said:
                assert word in answer, text
            free = int(sandbox.run(f"stat --file-system --format '%a %S' {POINT} | awk '{{print $1 * $2}}'"))
            assert session.build(text).usable_bytes <= free * 1.02, text
    assert_clean(sandbox)


SAS = [f"/dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_sas-{number}" for number in range(1, 4)]
UBERBLOCKS = (  # of ZFS, by their magic: blkid wants several of them
    "for n in 0 1 2 3 4 5 6 7; do printf '\\014\\261\\272\\000' | "
    "dd of={0} bs=1 seek=$((131072 + 1024 * n)) conv=notrunc status=none; done"
)
TRAPS = {  # by disk: what is on it, made by this line, and what is said of it
    SSDS[0]: ("mkfs.ext4 -q {0} && mkdir -p /mnt/x && mount {0} /mnt/x", "is mounted at /mnt/x"),
    SSDS[1]: ("mkswap {0} && swapon {0}", "is swap"),
    SSDS[2]: ("pvcreate --quiet {0}", "holds LVM2_member"),
    SSDS[3]: ("mdadm --create /dev/md9 --run --level=0 --force --raid-devices=1 {0}", "is held by /dev/md9"),
    SAS[0]: ("echo x | cryptsetup luksFormat --batch-mode --pbkdf pbkdf2 {0} -", "holds crypto_LUKS"),
    SAS[1]: (
        "echo 0 $(blockdev --getsz {0}) multipath 0 0 1 1 round-robin 0 1 1 {0} 1 | dmsetup create paths",
        "is held by /dev/mapper/paths",
    ),
    SAS[2]: (UBERBLOCKS, "holds zfs_member"),
    FAST: ("make-bcache -B {0}", "is held by /dev/bcache0"),
}


def test_used_disks_are_refused_and_left_unchanged(sandbox: LabSandbox, written: Callable[..., str]) -> None:
    for disk, (line, _) in TRAPS.items():
        sandbox.run(f"({line}) >/dev/null 2>&1".format(disk))
    sandbox.run("udevadm settle")
    look = "lsblk --output NAME,FSTYPE,MOUNTPOINT && wipefs /dev/vd? /dev/sd? /dev/nvme?n1"
    before = sandbox.run(look)
    root = sandbox.run("readlink -f /dev/disk/by-id/*root").split()[0]
    done = run_paribus("run", written(RAID_0, RAID_1, disks=[*TRAPS, root]))
    assert done.code == 2
    for number, (_, said) in enumerate(TRAPS.values()):
        assert said in done.err, said
        assert f"target.devices[{number}]" in done.err
    assert "is mounted at /" in done.err
    assert sandbox.run(look) == before
    sandbox.run("umount /mnt/x; swapoff {1}; mdadm --quiet --stop /dev/md9; dmsetup remove paths".format(*SSDS))
    sandbox.run("echo 1 >/sys/block/bcache0/bcache/stop")
    for disk in TRAPS:
        sandbox.run(f"until wipefs -qa {disk}; do sleep 0.1; done")
    sandbox.run("udevadm trigger --action=change --settle")
    assert_clean(sandbox)


def test_a_name_that_leads_to_another_disk_is_refused(sandbox: LabSandbox) -> None:
    with site(sandbox.address) as connected, layouts(connected, SSDS[:2]) as session:
        assert session.apply("md level=0 / ext4").state is ChangeState.VERIFIED
        was = sandbox.run(f"readlink {SSDS[0]}").strip()
        sandbox.run(f"ln -sf $(readlink {SSDS[3]}) {SSDS[0]}")
        try:
            with pytest.raises(HostError, match="another device has this name now"):
                session.apply("md level=1 / ext4")
        finally:
            sandbox.run(f"ln -sf {was} {SSDS[0]}")
    assert_clean(sandbox)


def test_a_partition_that_the_kernel_still_has_is_forgotten(sandbox: LabSandbox) -> None:
    """As where udev looked at it while its table was wiped; repeated where udev asks the kernel again at once."""
    is_kept = False
    while not is_kept:
        with site(sandbox.address) as connected, layouts(connected, SSDS[:1]) as session:
            assert session.apply("partition / ext4").state is ChangeState.VERIFIED
            sandbox.run(
                f"umount {POINT}; exec 3<{SSDS[0]}-part1; wipefs --all --force --quiet {SSDS[0]} 2>/dev/null || true"
            )
            is_kept = "part" in sandbox.run(f"lsblk --noheadings --output TYPE {SSDS[0]}")
        assert_clean(sandbox)


def test_an_array_that_is_made_again_by_its_node_is_stopped(sandbox: LabSandbox) -> None:
    """As where udev opens the node while the array is stopped; repeated until that happened."""
    is_made_again = False
    while not is_made_again:
        with site(sandbox.address) as connected, layouts(connected, SSDS[:2]) as session:
            assert session.apply("md level=0 / ext4").state is ChangeState.VERIFIED
            array = sandbox.run("echo /sys/block/md*").strip()
            sandbox.run(f"rm -f /tmp/node /tmp/made; mknod /tmp/node b $(tr : ' ' <{array}/dev)")
            opens = f"while [ -e {array} ]; do :; done; : </tmp/node; ls -d {array} >/tmp/made"
            sandbox.run(f"({opens}) >/dev/null 2>&1 </dev/null &")
        is_made_again = "md" in sandbox.run("cat /tmp/made")
        assert_clean(sandbox)


@pytest.mark.gate
@pytest.mark.parametrize("fault", ["controller", *(["power", "everything"] if ALL else [])])
def test_a_half_built_layout_is_taken_apart(sandbox: LabSandbox, written: Callable[..., str], fault: str) -> None:
    running = Running("run", written(RAID_0, RAID_1))
    while "active" not in sandbox.run("cat /proc/mdstat 2>/dev/null || true"):  # it comes with the first array
        time.sleep(0.05)
    if fault == "power":
        assert sandbox.command("power-cut").code == 0
    if fault == "everything":
        sandbox.run("pkill -9 -f '[p]aribus-engine.* journal'")
    os.kill(running.pid, signal.SIGKILL)
    running.end(60)
    if fault == "power":
        sandbox.up()
    deadline = time.monotonic() + 120
    while (undone := run_paribus("undo", "--target", sandbox.address)).code != 0:  # until the keeper has restored it
        assert time.monotonic() < deadline, undone.err
        time.sleep(1)
    assert_clean(sandbox)
    assert run_paribus("undo", "--target", sandbox.address).code == 0
