"""Identity of a machine and a disk: as the kernel's files have it, and only what they have."""

from paribus.hosts.facts import device_fingerprint, fingerprint
from paribus.hosts.fake import FakeHost


def test_a_machine_is_told_by_what_a_reader_asks_first() -> None:
    host = FakeHost(
        {
            "/proc/cpuinfo": "processor\t: 0\nmodel name\t: AMD EPYC 7543P\n",
            "/proc/meminfo": "MemTotal:       131072000 kB\nMemFree:        1 kB\n",
            "/sys/devices/system/cpu/present": "0-3,8\n",
            "/sys/devices/system/node/possible": "0-1\n",
            "/sys/block/sda/size": "536870912\n",
        }
    )
    assert fingerprint(host) == {
        "cpu": "AMD EPYC 7543P",
        "processors": "5",
        "numa_nodes": "2",
        "memory": "125 GiB",
    }
    assert device_fingerprint(host, "/dev/sda") == {"device": "/dev/sda", "device_size": "256 GiB"}


def test_unreadable_facts_are_left_out() -> None:
    assert fingerprint(FakeHost({})) == {}
    assert device_fingerprint(FakeHost({"/sys/block/sda/size": "?"}), "/dev/sda") == {"device": "/dev/sda"}
