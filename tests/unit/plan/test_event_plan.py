"""Plans with events: what they need, and what they change in the protocol."""

import dataclasses
from collections.abc import Mapping

import pytest
from plan_samples import checked, offer
from test_layout_plan import DISKS, FILEIO, OFFERS, PRESENT, TARGET

from paribus.errors import PlanError
from paribus.model import BlockDevice, Plan, PlannedEvent

LAYOUTS = "[factors]\nlayout = [{ md = { level = 5 }, ext4 = {} }, { md = { level = 1 }, ext4 = {} }]\n"
RAW = "[factors]\nlayout = [{ md = { level = 5 } }, { md = { level = 1 } }]\n"
FAIL = '[[event]]\nat = "20s"\ndo = "fail-member"\ndisk = "ssd-2"\n'
BREAK = FAIL.replace("fail-member", "error")
OFFLINE = FAIL.replace("fail-member", "offline")
SLOW = FAIL.replace("fail-member", "delay") + "delay = '20ms'\n"
PARTED = LAYOUTS.replace("{ md = { level = 1 }", "{ partition = {}, md = { level = 1 }")
CACHED = "lvm = { type = 'raid1' }, cache = { on = ['ssd-4'] }"
PRESENCE = '[factors]\n"event.backup" = ["off", "on"]\n'
JOB = "[[event]]\nat = 0\ndo = 'run'\nrun = ['ls', '/etc']\nname = 'backup'\n"
ONLY_TWO = LAYOUTS.replace("{ md = { level = 1 }", '{ disks = ["ssd-1", "ssd-3"], md = { level = 1 }')
ADD = '[[event]]\nat = "30s"\ndo = "add"\n'
KILL = "[[event]]\nat = 5\ndo = 'kill-server'\n"
SERVER = '[database]\nkind = "mariadb"\n'
OLTP = '[[workload]]\nkind = "oltp_read_write"\nthreads = [2]\n'
AFTER_2_GIB = "[[event]]\nafter = { bytes = '2GiB' }\ndo = 'trim'\n"
REPLACE = '[[event]]\nat = "30s"\ndo = "replace"\n'


def _plan(text: str, block_devices: Mapping[str, BlockDevice] = PRESENT) -> Plan:
    offers = {**OFFERS, "event.backup": offer("event.backup", "OFF")}
    missing = frozenset({"nosuchprogram"})
    return checked(f'name = "n"\n{text}', offers=offers, block_devices=block_devices, missing_programs=missing)


def _refused(text: str) -> str:
    with pytest.raises(PlanError) as error:
        _plan(text)
    return str(error.value)


def test_events_come_in_the_order_of_time_and_give_every_trial_a_layout_of_its_own() -> None:
    response = 'response = ["degraded_share", "rebuild_s"]\n'
    plan = _plan(f"{TARGET}{LAYOUTS}{REPLACE}{FAIL}{FILEIO}{response}")
    assert plan.events == (
        PlannedEvent(at_s=20.0, action="fail-member", disk="ssd-2"),
        PlannedEvent(at_s=30.0, action="replace", disk="ssd-2"),
    )
    assert (plan.protocol.in_flight, plan.protocol.sub_trials) == (False, 1)
    assert plan.workloads[0].responses == ("degraded_share", "rebuild_s")


def test_a_replacement_without_a_disk_is_the_last_of_those_that_are_still_failed() -> None:
    both = FAIL + TWICE
    mirrors = LAYOUTS.replace("= 5", "= 1")
    plan = _plan(f"{TARGET}{mirrors}{both}{REPLACE}{REPLACE.replace('30', '40')}{FILEIO}")
    assert [event.disk for event in plan.events] == ["ssd-2", "ssd-1", "ssd-1", "ssd-2"]


def test_a_program_beside_the_load_needs_no_layout_and_may_be_a_factor() -> None:
    plan = _plan(f"{PRESENCE}{JOB}until = '30s'\n{FILEIO}")
    assert plan.events == (PlannedEvent(at_s=0.0, action="run", argv=("ls", "/etc"), name="backup", until_s=30.0),)
    assert plan.factors[0].levels == ("OFF", "ON")
    assert plan.protocol.sub_trials is None


def test_a_disk_may_be_slow_or_fail_for_a_while() -> None:
    response = 'response = ["slow_per_s", "degraded_per_s"]\n'
    slow = SLOW.replace("20s", "0s")
    plan = _plan(f"{TARGET}{LAYOUTS}{slow}until = '20s'\n{BREAK}until = '30s'\n{REPLACE}{FILEIO}{response}")
    assert plan.events == (
        PlannedEvent(at_s=0.0, action="delay", disk="ssd-2", until_s=20.0, delay_s=0.02, over_disk=True),
        PlannedEvent(at_s=20.0, action="error", disk="ssd-2", until_s=30.0, over_disk=True),
        PlannedEvent(at_s=30.0, action="replace", disk="ssd-2"),
    )


def test_events_after_an_amount_of_work_keep_the_order_of_the_file() -> None:
    fails = FAIL.replace('at = "20s"', 'after = { bytes = "1GiB" }')
    plan = _plan(f"{TARGET}{LAYOUTS}{fails}{REPLACE}{FILEIO}")
    assert plan.events == (
        PlannedEvent(at_s=0.0, after_bytes=1 << 30, action="fail-member", disk="ssd-2"),
        PlannedEvent(at_s=30.0, action="replace", disk="ssd-2"),
    )
    assert [plan.events[0].is_due(9.0, done) for done in ((1 << 30) - 1, 1 << 30)] == [False, True]
    assert not plan.events[1].is_due(29.0, 1 << 40), "work does not stand for time"


def test_a_disk_of_lvm_fails_by_a_device_over_it_in_all_arms_alike() -> None:
    arms = LAYOUTS.replace("md = { level = 1 }", 'lvm = { type = "raid1" }')
    assert [event.over_disk for event in _plan(f"{TARGET}{arms}{FAIL}{REPLACE}{FILEIO}").events] == [True, False]
    assert [event.over_disk for event in _plan(f"{TARGET}{LAYOUTS}{FAIL}{REPLACE}{FILEIO}").events] == [False, False]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            f"{TARGET}{LAYOUTS.replace('md = { level = 1 }', CACHED)}{FAIL}{FILEIO}",
            "lvm type=raid1 / cache on=ssd-4 / ext4 has no array with redundancy",
        ),
        (f"{TARGET}{LAYOUTS}[[event]]\ndo = 'trim'\n{FILEIO}", "it does not say when trim happens"),
        (f"{TARGET}{LAYOUTS}[[event]]\nafter = {{ bytes = 0 }}\ndo = 'trim'\n{FILEIO}", "event[0].after.bytes"),
        (f"{SERVER}[[event]]\nafter = {{ bytes = 9 }}\ndo = 'kill-server'\n{OLTP}", "are not counted"),
        (
            f"{TARGET}{LAYOUTS}[[event]]\nafter = {{ bytes = 9 }}\ndo = 'delay'\ndelay = '1s'\ndisk = 'ssd-2'\n"
            f"until = '9s'\n{FILEIO}",
            "an event after an amount of work has no known time",
        ),
        (
            f"{TARGET}{LAYOUTS}{SLOW}until = '25s'\n{FAIL.replace('20s', '22s')}{FILEIO}",
            "the delay of ssd-2 goes on then",
        ),
        (f"{TARGET}{LAYOUTS}{FAIL}{FAIL.replace('20s', '22s')}{FILEIO}", "the fail-member of ssd-2 goes on then"),
        (f"{TARGET}{LAYOUTS}{FAIL}{FILEIO}[protocol]\ntrial = '20s'\n", "it would happen after the 20 s of a trial"),
        (f"{TARGET}{LAYOUTS}{FAIL.replace('ssd-2', 'ssd-9')}{FILEIO}", "ssd-9 is not among target.devices"),
        (f"{TARGET}{LAYOUTS}{FAIL.rpartition('disk')[0]}{FILEIO}", "it does not say to which disk fail-member happens"),
        (f"{TARGET}{LAYOUTS}{REPLACE}{FILEIO}", "no disk has failed before"),
        (f"{TARGET}{LAYOUTS}{FAIL.replace('fail-member', 'trim')}{FILEIO}", "trim is not of a disk"),
        (f"{TARGET}{LAYOUTS.replace('= 5', '= 0')}{FAIL}{FILEIO}", "md level=0 / ext4 has no array with redundancy"),
        (f'[factors]\n"block.scheduler" = ["none", "mq-deadline"]\n{FAIL}{FILEIO}', "this plan has none"),
        (f'[factors]\n"event.backup" = ["off", "on"]\n{FILEIO}', "no event of this plan is called backup"),
        (f"{PRESENCE}[[event]]\nat = 0\ndo = 'run'\nname = 'backup'\n{FILEIO}", "it does not say which program runs"),
        (f"{TARGET}{LAYOUTS}{FAIL}name = 'pull'\n{REPLACE}{FILEIO}", "pull may be off, and failure and replacement"),
        (f"{TARGET}{ONLY_TWO}{SLOW}{FILEIO}", "an event is of /dev/disk/by-id/"),
        (f"{PRESENCE}{JOB}{JOB}{FILEIO}", "backup is the name of several events"),
        (f"{PRESENCE}{JOB.replace('/etc', '{socket}')}{FILEIO}", "{socket} is of a server, and this plan has none"),
        (f"{PRESENCE}{JOB.replace('ls', 'nosuchprogram')}{FILEIO}", "has no program 'nosuchprogram'"),
        (f'{TARGET}{LAYOUTS}{FAIL}{FILEIO}response = "rebuild_s"\n', 'add [[event]] with do = "replace"'),
        (f"{TARGET}{LAYOUTS}[[event]]\nat = 5\ndo = 'explode'\n{FILEIO}", "event[0].do"),
        (f"{TARGET}{RAW}[[event]]\nat = 5\ndo = 'trim'\n{FILEIO}", "md level=5 has no file system to trim"),
        (f"{TARGET}{LAYOUTS}{SLOW.rpartition('delay =')[0]}{FILEIO}", "it does not say by how much the disk is slow"),
        (f"{TARGET}{LAYOUTS}{SLOW}until = '5s'\n{FILEIO}", "it is not after 20 s, when the event begins"),
        (f"{TARGET}{LAYOUTS}{FAIL}until = '25s'\n{FILEIO}", "fail-member has none"),
        (f"{TARGET}{LAYOUTS}{BREAK}delay = '1s'\n{FILEIO}", "error has none"),
        (f"{TARGET}{LAYOUTS}{BREAK}{REPLACE}{FILEIO}", "ssd-2 still fails then"),
        (f"{TARGET}{LAYOUTS}{OFFLINE}{ADD}{FILEIO}", "until = 30 under its offline"),
        (f"{TARGET}{LAYOUTS}{ADD}{FILEIO}", "no disk has failed before"),
        (f"{TARGET}{LAYOUTS.replace('= 5', '= 0')}{BREAK}{FILEIO}", "md level=0 / ext4 has no array with redundancy"),
        (f"{TARGET}{PARTED}{SLOW}{FILEIO}", "device-mapper lies between disks and layers there"),
        (f'{TARGET}{LAYOUTS}{FAIL}{FILEIO}response = "slow_share"\n', 'add [[event]] with do = "delay"'),
        (
            f'{TARGET}{LAYOUTS}{SLOW.replace("20s", "0s")}{FILEIO}response = "slow_share"\n',
            "slow_share is of the throughput before, and an event begins at once",
        ),
        (
            f"{SERVER}{KILL}{OLTP}recovery = true\n".replace("recovery", "[protocol]\nrecovery"),
            "also killed by an event",
        ),
        (f"{KILL}{OLTP}", "this plan has no server that could be killed"),
        (f"{SERVER}{KILL}{OLTP}{FILEIO}", "is not on the server"),
        (f'{SERVER}dsn = "mysql://127.0.0.1/"\n{KILL}{OLTP}', "a server that others use is not killed"),
        (f"{SERVER}{KILL}disk = 'ssd-1'\n{OLTP}", "kill-server is not of a disk"),
        (f'{SERVER}{OLTP}response = "outage_s"\n', 'add [[event]] with do = "kill-server"'),
        (f'{PRESENCE}{JOB}{FILEIO}response = "job_s"\n', "job_s does not exist in trials without backup"),
    ],
)
def test_events_that_cannot_happen_are_refused(text: str, said: str) -> None:
    assert said in _refused(text)


SPARE = LAYOUTS.replace("{ md", '{ disks = ["ssd-1", "ssd-2"], md').replace("= 5", "= 1")
TWICE = FAIL.replace("ssd-2", "ssd-1").replace("20s", "22s")
OTHER = REPLACE + 'disk = "ssd-3"\n'
SMALL = {path: dataclasses.replace(disk, size_bytes=1 << 30 if "3" in path else disk.size_bytes)
         for path, disk in PRESENT.items()}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{ONLY_TWO}{FAIL}", "ssd-2 is in no array of disks ssd-1,ssd-3 / md level=1 / ext4"),
        (f"{LAYOUTS}{FAIL}{TWICE}", "does without 1 disk there, and ssd-2 has failed before"),
        (f"{LAYOUTS}{FAIL}{OTHER}", "ssd-3 is in use in md level=5 / ext4"),
        (f"{SPARE}{FAIL}{ADD}disk = 'ssd-3'\n", "ssd-3 has not failed before, and add brings back"),
        (f"{LAYOUTS}{FAIL}{REPLACE}{REPLACE.replace('30', '40')}", "every disk that failed is replaced by then"),
        (f"{SPARE}{FAIL}{OTHER}{FAIL.replace('20', '40')}", "ssd-2 is in no array of disks ssd-1,ssd-2 / md level=1"),
        (f"{LAYOUTS}{FAIL}[[event]]\nat = '9s'\nafter = {{ bytes = '1GiB' }}\ndo = 'trim'\n", "waits for 20 s"),
        (f"{LAYOUTS}{AFTER_2_GIB}{AFTER_2_GIB.replace('2GiB', '1GiB')}", "an event above it waits for 2 GiB"),
    ],
)
def test_failures_are_followed_through_each_layout(text: str, said: str) -> None:
    assert said in _refused(f"{TARGET}{text}{FILEIO}")


def test_a_free_disk_takes_the_place_of_a_failed_one_where_it_is_large_enough() -> None:
    text = f"{TARGET}{SPARE}{FAIL}{OTHER}{FAIL.replace('20', '40').replace('ssd-2', 'ssd-3')}{FILEIO}"
    assert len(_plan(text).events) == 3
    with pytest.raises(PlanError, match="ssd-3 has 1 GiB, and takes the place of 8 GiB"):
        _plan(text, block_devices=SMALL)


def test_raid_10_does_without_one_disk_of_each_pair_and_raid_6_without_two() -> None:
    disks = [*DISKS, DISKS[0].replace("1", "4")]
    target = TARGET.replace(str(DISKS), str(disks)).replace('"ssd-3"]', '"ssd-3", "ssd-4"]')
    present = {**PRESENT, disks[3]: dataclasses.replace(PRESENT[DISKS[0]], path="/dev/sde", ids=("ssd-4",))}
    six, ten = "[hold]\nlayout = { md = { level = 6 } }\n", "[hold]\nlayout = { md = { level = 10 } }\n"
    factor = '[factors]\n"block.scheduler" = ["none", "mq-deadline"]\n'
    for layout in (six, ten):
        both = f"{target}{layout}{factor}{FAIL}{FAIL.replace('ssd-2', 'ssd-3').replace('20', '22')}{FILEIO}"
        assert len(_plan(both, block_devices=present).events) == 2
    with pytest.raises(PlanError, match="md level=10 does without 1 disk there"):
        _plan(f"{target}{ten}{factor}{FAIL}{TWICE}{FILEIO}", block_devices=present)


@pytest.mark.parametrize(
    ("layout", "event", "said"),
    [
        ("md = { level = 10, layout = 'f2' }", FAIL + TWICE, "does without 1 disk there, and ssd-2 has failed before"),
        ("md = { level = 10, layout = 'n99' }", FAIL, "RAID 10 of 3 disks has no layout n99"),
        ("md = { level = 10, layout = 'n0' }", FAIL, "RAID 10 of 3 disks has no layout n0"),
        ("md = { level = 1 }", FAIL + FAIL.replace("ssd-2", DISKS[1]).replace("20", "22"), "goes on then"),
        ("md = { level = 5 }", BREAK + REPLACE + f'disk = "{DISKS[1]}"\n', "ssd-2 still fails then"),
    ],
)
def test_copies_and_names_of_disks_are_known(layout: str, event: str, said: str) -> None:
    hold = f'[hold]\nlayout = {{ {layout}, ext4 = {{}} }}\n[factors]\n"block.scheduler" = ["none", "mq-deadline"]\n'
    assert said in _refused(f"{TARGET}{hold}{event}{FILEIO}")


def test_failures_with_names_are_followed_one_at_a_time() -> None:
    named = FAIL + "name = 'first'\n" + TWICE + "name = 'second'\n"
    factors = '[factors]\n"event.first" = ["off", "on"]\n"event.second" = ["off", "on"]\n'
    hold = "[hold]\nlayout = { md = { level = 5 } }\n"
    offers = {**OFFERS, **{f"event.{name}": offer(f"event.{name}", "OFF") for name in ("first", "second")}}
    text = f'name = "n"\n{TARGET}{hold}{factors}{named}{FILEIO}'
    assert len(checked(text, offers=offers, block_devices=PRESENT).events) == 2


def test_a_disk_without_a_state_of_scsi_is_not_taken_offline() -> None:
    present = {path: dataclasses.replace(disk, has_scsi_state=False) for path, disk in PRESENT.items()}
    with pytest.raises(PlanError, match="ssd-2 cannot be taken offline: it is no SCSI, SAS or SATA disk"):
        _plan(f"{TARGET}{LAYOUTS}{OFFLINE}{FILEIO}", block_devices=present)


def test_a_wrong_moment_is_reported_once() -> None:
    text = f"{TARGET}{LAYOUTS}[[event]]\nafter = {{ bytes = 'many' }}\ndo = 'trim'\n{FILEIO}"
    assert "it does not say when" not in _refused(text)


def test_a_program_that_makes_the_load_has_no_events() -> None:
    command = '[[workload]]\nkind = "command"\nrun = ["true"]\nthroughput = "(?P<value>1)"\n'
    assert "events need the load engine" in _refused(f"{TARGET}{LAYOUTS}{FAIL}{command}")


DRIVES = 'may_fail = ["raid.drive_3", "raid.drive_4"]\n'
DRIVE = FAIL.replace("ssd-2", "raid.drive_3")
KNOB = '[factors]\n"event.backup" = ["off", "on"]\n'


def _of_drives(events: str, target: str = f"[target]\n{DRIVES}") -> str:
    return f"{target}{KNOB}{JOB}{events}{FILEIO}"


def test_drives_of_a_controller_fail_without_a_layout() -> None:
    plan = _plan(_of_drives(DRIVE + REPLACE))
    assert [(event.action, event.disk) for event in plan.events][1:] == [
        ("fail-member", "raid.drive_3"),
        ("replace", "raid.drive_3"),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (_of_drives(DRIVE, "[target]\n"), "name a controller's drive in target.may_fail"),
        (_of_drives(DRIVE.replace("fail-member", "error")), "error is of a layout"),
        (_of_drives(DRIVE + "[[event]]\nat = '25s'\ndo = 'trim'\n"), "trim is of a layout"),
        (_of_drives(DRIVE + DRIVE.replace("20s", "25s").replace("_3", "_4")), "raid.drive_3 has failed before"),
        (_of_drives(DRIVE + REPLACE + 'disk = "raid.drive_4"\n'), "raid.drive_4 has not failed, and raid.drive_3 has"),
        (_of_drives(DRIVE, f"[target]\n{DRIVES}guest = 'vm'\n"), "the target is a virtual one"),
        (f"{TARGET}{DRIVES}{LAYOUTS}{DRIVE}{FILEIO}", "and this plan has a layout"),
    ],
)
def test_drives_that_cannot_fail_so_are_refused(text: str, words: str) -> None:
    assert words in _refused(text)
