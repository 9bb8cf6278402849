"""Plans with layouts: their disks, programs, capacity and costs."""

import dataclasses
import tomllib
from pathlib import Path

import plan_samples
import pytest
from plan_samples import checked

from paribus.errors import PlanError
from paribus.knobs.catalog import load
from paribus.knobs.catalog.own_rows import rows_of
from paribus.model import BlockDevice, DatabaseFacts, Knob, Offer, Plan
from paribus.plan.check import check
from paribus.plan.checks.layouts import commands_of, lasting_lines
from paribus.sandbox.specification import parse_disks

DISKS = [f"/dev/disk/by-id/ssd-{number}" for number in (1, 2, 3)]
GIB = 1 << 30
TARGET = f'[target]\ndevices = {DISKS}\nmay_destroy = ["ssd-1", "ssd-2", "ssd-3"]\n'
RAIDS = 'layout = [{ md = { level = 0 }, ext4 = {} }, { name = "RAID 5", md = { level = 5 }, xfs = {} }]\n'
FILEIO = '[[workload]]\nkind = "fileio"\ntotal_size = "1GiB"\n'


def _disk(number: int, **fields: object) -> BlockDevice:
    whole = {"path": f"/dev/sd{'xbcd'[number]}", "size_bytes": 8 * GIB, "ids": (f"ssd-{number}",)}
    return BlockDevice(**(whole | fields))  # type: ignore[arg-type]


PRESENT = {path: _disk(number) for number, path in enumerate(DISKS, 1)}
POOL, LOG = (
    Knob(
        name=f"mysql.{name}", kind="variable", addresses=(name,), type="number",
        summary="", documentation="", takes_effect="restart", aliases=(f"mariadb.{name}",),
    )
    for name in ("innodb_buffer_pool_size", "innodb_log_file_size")
)  # fmt: skip
SERVER = DatabaseFacts(name="mariadb 10.11", rows=(POOL, LOG), empty_bytes=100 << 20, copy_bytes_per_s=1e8)
OFFERS = plan_samples.OFFERS | {"layout": plan_samples.offer("layout", "clean")}


def _plan(text: str, **changed: object) -> Plan:
    return checked(f'name = "n"\n{text}', **{"offers": OFFERS, "block_devices": PRESENT, **changed})


def _refused(text: str, **changed: object) -> str:
    with pytest.raises(PlanError) as error:
        _plan(text, **changed)
    return str(error.value)


def test_levels_are_texts_with_names_and_take_a_time_of_their_own() -> None:
    plan = _plan(f"{TARGET}[factors]\n{RAIDS}{FILEIO}")
    [factor] = plan.factors
    assert factor.levels == ("md level=0 / ext4", "md level=5 / xfs")
    assert factor.labels == ("md level=0 / ext4", "RAID 5")
    assert plan.target.devices == tuple(DISKS)
    assert 40 < plan.protocol.apply_s["layout"] < 90  # RAID 5 is synchronised
    [create, *_, mount] = commands_of(plan, "md level=5 / xfs")
    assert create.startswith("mdadm --create /dev/md/paribus-0000-0 ")
    assert mount.startswith("mount -t xfs ")


@pytest.mark.parametrize("example", ["layouts", "storage-combinations", "disk-failure", "cache"])
def test_examples_fit_on_the_disks_of_their_sandboxes(example: str) -> None:
    path = Path(__file__).parents[3] / "examples" / f"{example}.toml"
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    disks = {
        f"/dev/disk/by-id/{'scsi-0QEMU_QEMU_HARDDISK_' if disk.bus == 'scsi' else 'virtio-'}{disk.serial}": disk
        for disk in parse_disks(table["sandbox"]["disks"])
    }
    assert list(disks) == table["target"]["devices"]
    present = {
        name: BlockDevice(path=f"/dev/{disk.serial}", size_bytes=disk.size_bytes, ids=(name.rpartition("/")[2],))
        for name, disk in disks.items()
    }
    parsed = plan_samples.parsed(path.read_text(encoding="utf-8"))
    own = rows_of(parsed.table.knob)
    of_example = {row.name: Offer(knob=row, current=row.allowed[0], allowed=row.allowed) for row in own}
    of_server = {knob.name: Offer(knob=knob, current=1 << 27, allowed=()) for knob in (POOL, LOG)}
    offers = (
        OFFERS | of_example | of_server | {"block.write_cache": plan_samples.offer("block.write_cache", "write back")}
    )
    facts = plan_samples.facts(offers=offers, block_devices=present, database=SERVER)
    plan = check(parsed, load().with_rows(own), facts)
    texts = [plan.baseline["layout"], *(each.settings.get("layout") for each in plan.combinations)]
    texts += [level for factor in plan.factors for level in factor.levels]
    assert all(commands_of(plan, str(each)) for each in filter(None, texts))


def test_the_example_of_ten_combinations_has_each_of_them() -> None:
    path = Path(__file__).parents[3] / "examples" / "storage-combinations.toml"
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    names = [each["name"] for each in table["combination"]]
    assert [name.partition(":")[0] for name in names] == ["1", "3", "4", "5", "6 and 7", "8", "9", "10"]
    as_found = {"ssd.write_policy": "write back", "block.write_cache": "write back"}
    arms = [as_found | table["hold"], *(as_found | table["hold"] | each["settings"] for each in table["combination"])]
    assert len({repr(sorted(arm.items())) for arm in arms}) == 9


def test_a_load_on_files_may_lie_on_the_device_itself() -> None:
    raw = "{ name = 'raw', md = { level = 0 } }"
    plan = _plan(f"{TARGET}[factors]\nlayout = [{raw}, {{ md = {{ level = 0 }}, xfs = {{}} }}]\n{FILEIO}")
    commands = commands_of(plan, plan.factors[0].levels[0])
    assert not any("mount" in command for command in commands)
    sqlite = f'[database]\nkind = "sqlite"\n{TARGET}'
    for target, workload in (
        (sqlite, '[[workload]]\nkind = "oltp_read_write"\n'),
        (TARGET, f'{FILEIO}mode = "seqwr"\n'),
        (TARGET, '[[workload]]\nkind = "command"\nrun = ["x"]\nthroughput = "(?P<value>[0-9]+)"\n'),
    ):
        said = _refused(f'{target}[hold]\nlayout = {raw}\n[factors]\n"vm.swappiness" = [1, 60]\n{workload}')
        assert "it has no file system" in said, workload


def test_the_space_and_the_file_system_of_the_path_do_not_matter() -> None:
    assert _plan(f"{TARGET}[factors]\n{RAIDS}{FILEIO}direct = true\n", free_bytes=0, direct_refused="no")


@pytest.mark.parametrize(
    ("text", "changed", "said"),
    [
        (f"[factors]\n{RAIDS}{FILEIO}", {}, "a layout needs disks"),
        (f'{TARGET}[factors]\n"vm.swappiness" = [1, 60]\n{FILEIO}', {}, "no setting of this plan is a layout"),
        (f"[target]\ndevices = {DISKS}\n[factors]\n{RAIDS}{FILEIO}", {}, "target.may_destroy does not name it"),
        (
            f"{TARGET}[factors]\n{RAIDS}{FILEIO}",
            {"block_devices": PRESENT | {DISKS[1]: _disk(2, claims=("is mounted at /home",))}},
            "it is mounted at /home",
        ),
        (
            f"{TARGET}[factors]\n{RAIDS}{FILEIO}",
            {"missing_programs": frozenset({"mkfs.xfs"})},
            "apt-get install xfsprogs",
        ),
        (f'{TARGET}[factors]\n{RAIDS}[factor_scope]\nlayout = ["fileio"]\n{FILEIO}', {}, "is under every workload"),
        (f'{TARGET}[hold]\n"mount.atime" = "noatime"\n[factors]\n{RAIDS}{FILEIO}', {}, "mount options of its own"),
        (f"{TARGET}[factors]\n{RAIDS}{FILEIO.replace('1GiB', '60GiB')}", {}, "the workloads need 60 GiB"),
        (f"{TARGET}[factors]\n{RAIDS.replace('level = 5', 'level = 6')}{FILEIO}", {}, "RAID 6 needs 4 disks"),
        (
            f"{TARGET}[factors]\n{RAIDS}{FILEIO}".replace("xfs = {}", "xfs = {}, mount = ['nobarrier']"),
            {"kernel": "6.1.0"},
            "xfs has no nobarrier since kernel 4.19",
        ),
        (f'{TARGET}[factors]\nlayout = ["raw", "ext4"]\n{FILEIO}', {}, "needs one volume"),
        (f'{TARGET}[factors]\nlayout = [{{ mdd = {{}} }}, "ext4"]\n{FILEIO}', {}, "did you mean"),
        (f'{TARGET}[factors]\n{RAIDS}"vm.swappiness" = [{{ md = {{}} }}, 60]\n{FILEIO}', {}, "only layout has such"),
        (
            f"{TARGET}[factors]\n{RAIDS}{FILEIO}direct = true\nprecondition = {{}}\n",
            {},
            "lost whenever a layout is built",
        ),
        (
            f"{TARGET}[[combination]]\nname = 'c'\nsettings = {{ layout = 'md level=0 / ext4' }}\n{FILEIO}",
            {},
            "the baseline has no layout",
        ),
    ],
)
def test_impossible_layout_plans_are_refused(text: str, changed: dict[str, object], said: str) -> None:
    assert said in _refused(text, **changed)


def test_disks_of_unlike_sizes_are_told_with_what_stays_unused() -> None:
    unlike = PRESENT | {DISKS[2]: _disk(3, size_bytes=10 * GIB)}
    [note] = [
        note for note in _plan(f"{TARGET}[factors]\n{RAIDS}{FILEIO}", block_devices=unlike).notes if "unlike" in note
    ]
    assert note == "md level=5 / xfs leaves 2 GiB of its disks unused, since they have unlike sizes"


def test_a_plan_for_a_sandbox_is_refused_in_one_line_where_its_disks_are_not() -> None:
    absent = {path: BlockDevice(path=path, refused=f"{path} is no block device of this machine") for path in DISKS}
    text = f'{TARGET}[factors]\n{RAIDS}{FILEIO}[sandbox]\ndisks = ["ssd:1GiB:count=3"]\n'
    message = _refused(text, block_devices=absent)
    assert "1 problem" in message and "paribus sandbox run" in message
    assert "paribus sandbox run" not in _refused(text, block_devices=absent | {DISKS[0]: PRESENT[DISKS[0]]})
    assert _plan(text)


def test_a_disk_that_was_not_looked_at_is_no_free_disk() -> None:
    assert "was not looked at" in _refused(f"{TARGET}[factors]\n{RAIDS}{FILEIO}", block_devices={})


def test_queue_settings_are_those_of_all_disks() -> None:
    plan = _plan(
        f'{TARGET}[hold]\n"block.scheduler" = "none"\n[factors]\n{RAIDS}{FILEIO}',
        device="/dev/sdb",
        more_disks=("/dev/sdc", "/dev/sdd"),
    )
    assert plan.target.location.more_disks == ("/dev/sdc", "/dev/sdd")
    assert dataclasses.replace(plan.target, more_disks=()).location.device == "/dev/sdb"


RESERVE = """layout = [
  { partition = {}, md = { level = 0 }, xfs = {} },
  { name = "reserve", partition = { over_provision = "15%" }, md = { level = 0 }, xfs = {} },
]
"""


def test_a_reserve_needs_a_trial_that_writes_more_than_the_disks_have_free() -> None:
    plan = _plan(f"{TARGET}[factors]\n{RESERVE}{FILEIO}")
    [note] = [note for note in plan.notes if "over_provision" in note]
    assert note == (
        "under fileio a trial must write at least 23 GiB to show an effect of over_provision; "
        "trials become that long if the budget holds them"
    )
    [requirement] = plan.requirements
    assert (requirement.mechanism, requirement.least_bytes) == ("writes beyond an SSD's free blocks", 23 * GIB)


def test_a_reserve_cannot_act_on_a_load_that_only_reads() -> None:
    plan = _plan(f'{TARGET}[factors]\n{RESERVE}{FILEIO}mode = "rndrd"\n')
    [note] = [note for note in plan.notes if "cannot act" in note]
    assert 'it needs writes beyond an SSD\'s free blocks, and fileio.mode = "rndrd"' in note


def test_layouts_that_differ_in_more_than_the_reserve_act_at_once() -> None:
    assert not _plan(f"{TARGET}[factors]\n{RESERVE.replace('level = 0', 'level = 5', 1)}{FILEIO}").requirements
    assert not _plan(f"{TARGET}[factors]\n{RAIDS}{FILEIO}").requirements


BTRFS = "layout = [{ btrfs = {} }, { zfs = {} }]\n"


def test_knobs_without_meaning_on_several_disks_are_refused() -> None:
    for key in ("block.read_ahead_kb", "block.top.read_ahead_kb"):
        refused = _refused(f'{TARGET}[hold]\n"{key}" = 0\n[factors]\n{BTRFS}{FILEIO}')
        assert "btrfs has a read-ahead of its own" in refused
    refused = _refused(f'{TARGET}[factors]\n"block.top.scheduler" = ["none", "mq-deadline"]\n{BTRFS}{FILEIO}')
    assert "its file system lies on 3 devices, and block.top.scheduler is of one" in refused


def test_a_module_that_the_kernel_lacks_is_named_with_its_package() -> None:
    refused = _refused(f"{TARGET}[factors]\n{BTRFS}{FILEIO}", missing_modules=frozenset({"zfs"}))
    assert "factors.layout[1]" in refused
    assert "has no module zfs" in refused
    assert "apt-get install zfs-dkms" in refused


def test_a_layout_that_is_advised_has_its_commands_and_what_makes_it_last() -> None:
    plan = _plan(f"{TARGET}[factors]\n{RAIDS}{FILEIO}")
    *_, mount = commands_of(plan, "md level=5 / xfs", "data", "/mnt/data")
    assert mount == "mount -t xfs /dev/md/paribus-data-0 /mnt/data"
    assert lasting_lines(plan, "md level=5 / xfs / mount noatime", "data", "/mnt/data") == [
        "mdadm --detail --scan >>/etc/mdadm/mdadm.conf && update-initramfs -u",
        'echo "UUID=$(blkid -s UUID -o value /dev/md/paribus-data-0) /mnt/data xfs noatime 0 0" >>/etc/fstab',
    ]
    assert lasting_lines(plan, "zfs", "data", "/mnt/data") == [
        "zpool set cachefile=/etc/zfs/zpool.cache paribus-data",
        'echo "paribus-data /mnt/data zfs defaults 0 0" >>/etc/fstab',
    ]
    bcache = commands_of(plan, "disks ssd-1,ssd-2 / bcache on=ssd-2 / ext4", "data", "/mnt/data")
    assert any(line.startswith("echo ") and line.endswith("/bcache/attach") for line in bcache)


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ("{ md = { level = 1 } }", "without a file system"),
        ("{ btrfs = {} }", "btrfs cannot be cut off as a power cut does"),
        ("{ ext4 = { journal = false } }", "ext4 without a journal has nothing that repairs it"),
    ],
)
def test_power_cut_needs_a_file_system_that_can_be_cut_off(layout: str, message: str) -> None:
    rest = (
        '[factors]\n"mysql.innodb_buffer_pool_size" = ["64MiB", "128MiB"]\n[database]\nkind = "mariadb"\n'
        '[[workload]]\nkind = "oltp_write_only"\ntable_size = 1000\n[protocol]\nrecovery = "power-cut"\n'
    )
    assert message in _refused(f"{TARGET}[hold]\nlayout = {layout}\n{rest}", database=SERVER)
    plan = _plan(f"{TARGET}[hold]\nlayout = {{ md = {{ level = 1 }}, xfs = {{}} }}\n{rest}", database=SERVER)
    assert (plan.protocol.recovers, plan.protocol.cuts_off) == (True, True)
