"""Conditions of all trials are read at once, without those that trials set themselves."""

from paribus.hosts.fake import FakeHost
from paribus.hosts.local import LocalHost
from paribus.knobs.catalog import load
from paribus.knobs.conditions import ABSENT, Conditions, digest
from paribus.knobs.discovery import touched
from paribus.model import Location

QUEUE = "/sys/block/sda/queue"
FILES = {
    "/proc/sys/kernel/osrelease": "6.12\n",
    "/proc/sys/kernel/random/boot_id": "b1\n",
    "/sys/devices/system/cpu/online": "0-3\n",
    "/proc/meminfo": "MemTotal:        8000 kB\nMemFree: 12 kB\n",
    "/proc/self/mountinfo": "1 1 8:0 / / rw,relatime - ext4 /dev/sda rw,discard\n",
    "/proc/sys/vm/swappiness": "60\n",
    f"{QUEUE}/scheduler": "none [mq-deadline]\n",
    f"{QUEUE}/nr_requests": "64\n",
    f"{QUEUE}/read_ahead_kb": "128\n",
    f"{QUEUE}/iosched/read_expire": "500\n",
    "/sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq": "3000000\n",
    "/sys/devices/system/cpu/cpufreq/policy1/scaling_max_freq": "2000000\n",
}
HERE = Location("/dev/sda", "/")


def _conditions(host: FakeHost, *keys: str) -> Conditions:
    return Conditions.of(host, load(), HERE, touched(host, load(), keys, HERE), {"load engine": "e 1"})


def test_all_that_no_trial_sets_is_read() -> None:
    assert _conditions(FakeHost(FILES)).read() == {
        "kernel": "6.12",
        "boot": "b1",
        "clock source": ABSENT,
        "online processors": "0-3",
        "memory": "8000 kB",
        "mount options": "/dev/sda ext4 rw,relatime,rw,discard",
        "block.scheduler": "mq-deadline",
        "block.nr_requests": "64",
        "block.read_ahead_kb": "128",
        "block.iosched.read_expire": "500",
        "vm.swappiness": "60",
        "cpu.max_frequency_khz": "3000000|2000000",
        "load engine": "e 1",
    }


def test_settings_of_trials_and_their_side_effects_are_left_out() -> None:
    facts = _conditions(FakeHost(FILES), "block.scheduler", "vm.swappiness", "fileio.direct").read()
    assert not {"block.scheduler", "block.nr_requests", "block.iosched.read_expire", "vm.swappiness"} & set(facts)
    assert "block.read_ahead_kb" in facts


def test_the_mount_is_left_out_where_trials_set_options_of_it() -> None:
    host = FakeHost(FILES)
    assert "mount options" not in _conditions(host, "mount.atime").read()
    assert "mount options" not in Conditions.of(host, load(), Location("/dev/sda"), set(), {}).read()


def test_removed_or_changed_conditions_have_another_digest() -> None:
    host = FakeHost(FILES)
    conditions = _conditions(host)
    before = conditions.read()
    assert digest(before) == digest(conditions.read())
    host.files[f"{QUEUE}/read_ahead_kb"] = "0\n"
    del host.files[f"{QUEUE}/iosched/read_expire"]
    after = conditions.read()
    assert {name for name in before if before[name] != after[name]} == {
        "block.read_ahead_kb",
        "block.iosched.read_expire",
    }
    assert after["block.iosched.read_expire"] == ABSENT
    assert digest(before) != digest(after)


def test_this_machine_tells_its_own() -> None:
    facts = Conditions.of(LocalHost(), load(), Location(None, "/"), set(), {}).read()
    assert facts["kernel"] and facts["memory"].endswith(" kB")
    assert "vm.swappiness" in facts
    assert not any(name.startswith("block.") for name in facts)
