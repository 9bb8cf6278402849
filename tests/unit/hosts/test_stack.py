"""Devices between files and disks, as the kernel links them."""

import pytest

from paribus.errors import HostError
from paribus.hosts.fake import FakeHost
from paribus.hosts.storage.stack import stack_of
from paribus.model import Stack

BLOCK = "/sys/class/block"
FILES = [
    "sda/size",
    "sdb/size",
    "sdb/sdb1/partition",
    "sdc/size",
    "md0/md/level",
    "md0/slaves/sda",
    "md0/slaves/sdb1",
    "dm-0/slaves/md0",
    "dm-0/slaves/sdc",
]


class LinkedHost(FakeHost):
    """A host whose partitions have links, as under /sys/class/block."""

    def resolve(self, path: str) -> str:
        links = {f"{BLOCK}/sdb1": f"{BLOCK}/sdb/sdb1", "/sys/dev/block/8:17": f"{BLOCK}/sdb/sdb1"}
        return links.get(path, path)


HOST = LinkedHost({f"{BLOCK}/{file}": "" for file in FILES})


@pytest.mark.parametrize(
    ("device", "stack"),
    [
        ("/dev/sda", Stack(top="/dev/sda", disks=("/dev/sda",))),
        ("8:17", Stack(top="/dev/sdb", disks=("/dev/sdb",))),
        ("/dev/md0", Stack(top="/dev/md0", disks=("/dev/sda", "/dev/sdb"), arrays=("/dev/md0",))),
        ("/dev/dm-0", Stack(top="/dev/dm-0", disks=("/dev/sda", "/dev/sdb", "/dev/sdc"), arrays=("/dev/md0",))),
    ],
)
def test_a_device_consists_of_disks(device: str, stack: Stack) -> None:
    assert stack_of(HOST, device) == stack


def test_missing_device_is_refused() -> None:
    with pytest.raises(HostError, match="not a block device"):
        stack_of(HOST, "/dev/sdx")
