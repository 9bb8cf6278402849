"""Builds of layouts: commands, geometry and capacity."""

import pytest

from paribus.knobs.layouts.build import build_of
from paribus.knobs.layouts.layout import label_of_layout, parse_layout
from paribus.knobs.layouts.volume import LayoutError, Names

GIB = 1 << 30
FOUR = {f"/dev/disk/by-id/ssd-{number}": 8 * GIB for number in range(1, 5)}
NAMES = Names("ab12")


def commands(written: object, disks: dict[str, int] = FOUR) -> list[str]:
    build = build_of(parse_layout(written), disks, NAMES, "/data")
    return [" ".join(step.argv) for step in build.steps if step.argv and step.argv[0] != "udevadm"]


def test_an_array_under_xfs_gives_it_its_geometry() -> None:
    made = commands({"md": {"level": 10, "chunk": "64KiB", "bitmap": "none"}, "xfs": {}, "mount": ["noatime"]})
    disks = " ".join(FOUR)
    assert made == [
        "mdadm --create /dev/md/paribus-ab12-0 --run --quiet --metadata=1.2 --level=10 --raid-devices=4 --chunk=64K "
        f"--bitmap=none {disks}",
        "mkfs.xfs -f -q -d su=65536,sw=2 /dev/md/paribus-ab12-0",
        "mount -t xfs -o noatime /dev/md/paribus-ab12-0 /data",
    ]


def test_a_disk_that_is_to_fail_lies_below_a_device_that_passes_on() -> None:
    faulty = "/dev/disk/by-id/ssd-2"
    build = build_of(parse_layout({"md": {"level": 1}}), FOUR, NAMES, "/data", {faulty})
    create, made = (" ".join(step.argv) for step in build.steps if step.argv[:1] in (("dmsetup",), ("mdadm",)))
    over = "paribus-ab12-over-ssd-2"
    assert create == f"dmsetup create {over} --table 0 16777216 linear {faulty} 0"
    assert made.endswith(f"/dev/disk/by-id/ssd-1 /dev/mapper/{over} /dev/disk/by-id/ssd-3 /dev/disk/by-id/ssd-4")


@pytest.mark.parametrize(
    ("level", "data_disks", "writes", "share"),
    [(0, 4, 1.0, 4.0), (1, 1, 4.0, 1.0), (5, 3, 4 / 3, 3.0), (6, 2, 2.0, 2.0), (10, 2, 2.0, 2.0)],
)
def test_levels_have_their_capacity_and_their_full_stripe_writes(
    level: int, data_disks: int, writes: float, share: float
) -> None:
    build = build_of(parse_layout({"md": {"level": level}}), FOUR, NAMES, "/data")
    assert build.top.data_disks == data_disks
    assert build.top.writes_per_write == pytest.approx(writes)
    assert 0.99 * share * 8 * GIB < build.usable_bytes < share * 8 * GIB
    assert any(step.waits_for for step in build.steps) is (level != 0)


def test_logical_volumes_on_arrays_stripe_over_them() -> None:
    made = commands({"md": {"level": 1, "arrays": 2}, "lvm": {"type": "striped", "stripe_size": "128KiB"}, "ext4": {}})
    assert [line.split()[2] for line in made[:2]] == ["/dev/md/paribus-ab12-0", "/dev/md/paribus-ab12-1"]
    assert "--stripes 2 --stripesize 128k --extents 100%FREE paribus_ab12" in made[3]
    assert "mkfs.ext4 -F -q -b 4096" in made[4]
    assert "stride=32,stripe_width=64" in made[4]


def test_bcache_attaches_a_cache_set_and_is_found_by_its_label() -> None:
    fast = next(iter(FOUR))
    written = {
        "md": {"level": 5},
        "bcache": {"on": [fast], "mode": "writeback", "writeback_percent": "20%"},
        "ext4": {},
    }
    build = build_of(parse_layout(written), FOUR, NAMES, "/data")
    texts = [" ".join(step.argv) for step in build.steps]
    [cache] = [text for text in texts if " -C " in text]
    [attributes] = [step.attributes for step in build.steps if step.attributes]
    assert cache.endswith(fast)
    assert attributes[0] == ("/dev/md/paribus-ab12-0", "bcache/attach", cache.split()[5])
    assert attributes[-1] == ("/dev/md/paribus-ab12-0", "bcache/label", "paribus-ab12")
    assert ("/dev/md/paribus-ab12-0", "bcache/writeback_percent", "20") in attributes
    assert build.top.path == "/dev/bcache/by-label/paribus-ab12"
    assert build.top.data_disks == 2
    for wrong, said in (
        ({"on": [fast], "bucket": "32MiB"}, "too few buckets"),
        ({"on": list(FOUR)[:2]}, "takes one disk"),
    ):
        with pytest.raises(LayoutError, match=said):
            commands({"md": {"level": 0}, "bcache": wrong, "ext4": {}})


def test_a_volume_with_parity_is_waited_for_or_not() -> None:
    for written, waits in (({}, 1), ({"resync": "during"}, 0)):
        build = build_of(parse_layout({"lvm": {"type": "raid5", **written}}), FOUR, NAMES, "/data")
        assert sum(bool(step.waits_for) for step in build.steps) == waits


def test_arrays_may_lie_on_some_of_the_disks_each() -> None:
    written = {
        "md": [{"level": 0, "on": ["ssd-1", "ssd-3"]}, {"level": 1, "on": ["ssd-2", "ssd-4"]}],
        "lvm": {},
        "xfs": {},
    }
    layout = parse_layout(written)
    assert parse_layout(layout.text) == layout
    made = commands(written)
    assert made[0].endswith("--level=0 --raid-devices=2 /dev/disk/by-id/ssd-1 /dev/disk/by-id/ssd-3")
    assert made[1].startswith("mdadm --create /dev/md/paribus-ab12-1 ")
    assert made[1].endswith("--level=1 --raid-devices=2 /dev/disk/by-id/ssd-2 /dev/disk/by-id/ssd-4")
    assert made[2].endswith("paribus_ab12 /dev/md/paribus-ab12-0 /dev/md/paribus-ab12-1")
    over = {"partition": {}, "md": {"level": 0, "on": ["ssd-1", "ssd-3"]}}
    with pytest.raises(LayoutError, match="needs one volume, and 3"):
        commands(over)


def test_a_layout_may_leave_disks_alone() -> None:
    layout = parse_layout({"name": "two", "disks": ["ssd-2", "ssd-1"], "md": {"level": 1}, "ext4": {}})
    assert layout.text == "disks ssd-2,ssd-1 / md level=1 / ext4"
    assert parse_layout(layout.text) == layout
    assert commands(layout.text)[0].endswith("/dev/disk/by-id/ssd-2 /dev/disk/by-id/ssd-1")
    for wrong, said in (
        ({"disks": ["ssd-9"], "ext4": {}}, "ssd-9 is not among target.devices"),
        ({"disks": ["-1", "/dev"], "md": {"level": 1}}, "/dev is not among"),
        ({"md": {"level": 0, "on": ["ssd-1", ""]}}, "is one of"),
        ({"md": {"level": 1}, "disks": ["ssd-1"]}, "write disks first"),
        ({"disks": "ssd-1", "ext4": {}}, "disks is a list"),
    ):
        with pytest.raises(LayoutError, match=said):
            commands(wrong)


def test_a_partition_leaves_a_share_of_every_disk_free_and_discarded() -> None:
    made = commands({"partition": {"over_provision": "15%"}, "md": {"level": 0}, "xfs": {"su": "none"}})
    assert made[0] == "blkdiscard --force /dev/disk/by-id/ssd-1"
    assert "mkpart paribus 1048576 " in made[1]
    end = int(made[1].split()[-1])
    assert 0.84 < end / (8 * GIB) < 0.86
    assert "/dev/disk/by-id/ssd-4-part1" in made[-3]
    assert "-d noalign " in made[-2]


def test_a_cache_takes_its_own_disks_and_leaves_the_others_below() -> None:
    fast = "/dev/disk/by-id/ssd-4"
    made = commands({"lvm": {}, "cache": {"on": [fast], "mode": "writeback"}, "xfs": {}})
    assert fast not in made[0]
    assert any("--cachevol fast --cachemode writeback paribus_ab12/data" in line for line in made)


def test_the_text_of_a_layout_is_the_layout() -> None:
    written = {
        "name": "RAID 10",
        "partition": {"over_provision": "15%"},
        "md": {"level": 10, "chunk": "64KiB", "layout": "f2"},
        "crypt": {"no_read_workqueue": True},
        "lvm": {"type": "linear"},
        "cache": {"on": ["/dev/disk/by-id/ssd-4"]},
        "ext4": {"journal": False},
        "mount": ["noatime", "nobarrier"],
    }
    layout = parse_layout(written)
    assert parse_layout(layout.text) == layout
    assert label_of_layout(written) == "RAID 10"
    assert parse_layout("raw") == parse_layout({"raw": {}}) == parse_layout({})
    assert parse_layout("raw").text == "raw"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ({"md": {"level": 3}}, "md.level"),
        ({"md": {}}, "md.level"),
        ({"md": {"level": 6}, "colour": {}}, "'colour' is no layer"),
        ({"mdd": {"level": 6}}, "did you mean"),
        ({"md": {"level": 6, "chunks": 4}}, "md.chunks"),
        ({"md": 5}, "is no table of options"),
        ({"xfs": {}, "md": {"level": 0}}, "write it last"),
        ({"xfs": {}, "ext4": {}}, "only one"),
        ({"mount": ["noatime"]}, "only a file system"),
        ({"mount": ["noatime"], "xfs": {}}, "write mount last"),
        ({"xfs": {}, "mount": "noatime"}, "list of options"),
        ({"xfs": {}, "mount": ["a b"]}, "list of options"),
        ({"raw": {}, "xfs": {}}, "not raw"),
        ({"cache": {"on": ["a b"]}}, "characters"),
        ({"zfs": {"compression": "fast"}}, "zfs.compression"),
        (17, "is no layout"),
    ],
)
def test_invalid_layouts_are_refused(written: object, said: str) -> None:
    with pytest.raises(LayoutError, match=said):
        parse_layout(written)


def test_zfs_makes_a_pool_of_all_volumes_and_is_mounted_by_its_name() -> None:
    log, *others = FOUR
    written = {
        "disks": list(FOUR),
        "zfs": {"data": "raidz1", "recordsize": "16KiB", "compression": "off", "log": [log]},
        "mount": ["noatime"],
    }
    layout = parse_layout(written)
    assert parse_layout(layout.text) == layout
    build = build_of(layout, FOUR, NAMES, "/data")
    assert commands(written) == [
        "zpool create -f -o cachefile=none -O mountpoint=legacy -O recordsize=16384 -O compression=off paribus-ab12 "
        f"raidz1 {' '.join(others)} log {log}",
        "mount -t zfs -o noatime paribus-ab12 /data",
    ]
    assert build.below == tuple(others)
    assert build.top.writes_per_write == 1.5
    assert 0.85 * 16 * GIB < build.usable_bytes < 16 * GIB
    assert commands({"zfs": {"data": "mirror"}})[0].endswith("mirror {} {} mirror {} {}".format(*FOUR))
    assert commands({"md": {"level": 5}, "zfs": {}})[-2].endswith(" paribus-ab12 /dev/md/paribus-ab12-0")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ({"md": {"level": 10, "arrays": 3}}, "for each of 3 arrays"),
        ({"md": {"level": 1, "chunk": "64KiB"}}, "no chunks"),
        ({"md": {"level": 6, "consistency": "ppl"}}, "only RAID 5"),
        ({"xfs": {}}, "xfs needs one volume, and 4 lie below"),
        ({}, "needs one volume"),
        ({"disks": ["ssd-1", "ssd-2", "ssd-3"], "zfs": {"data": "mirror"}}, "makes pairs, and there are 3"),
        ({"disks": ["ssd-1"], "zfs": {"data": "raidz2"}}, "data = raidz2 needs 3 volumes, and there are 1"),
        ({"md": {"level": 0}, "cache": {"on": ["/dev/disk/by-id/ssd-4"]}}, "lies on lvm"),
        ({"lvm": {}, "cache": {"on": ["/dev/sdx"]}}, "not among target.devices"),
        ({"lvm": {}, "cache": {"on": list(FOUR)}}, "no disk is left"),
        ({"lvm": {}, "cache": {"on": ["/dev/disk/by-id/ssd-4"], "type": "writecache", "mode": "writeback"}}, "neither"),
    ],
)
def test_layouts_impossible_on_these_disks_are_refused(written: object, said: str) -> None:
    with pytest.raises(LayoutError, match=said):
        build_of(parse_layout(written), FOUR, NAMES, "/data")


def test_a_disk_too_small_for_a_file_system_is_refused() -> None:
    with pytest.raises(LayoutError, match="xfs needs 300 MiB"):
        build_of(parse_layout({"xfs": {}}), {"/dev/vdb": 64 << 20}, NAMES, "/data")
    with pytest.raises(LayoutError, match="zfs needs 64 MiB on each device"):
        build_of(parse_layout({"zfs": {}}), {"/dev/vdb": 32 << 20}, NAMES, "/data")
    with pytest.raises(LayoutError, match="too small for a partition"):
        build_of(parse_layout({"partition": {}}), {"/dev/vdb": 1 << 20}, NAMES, "/data")
