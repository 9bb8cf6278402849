"""Sandboxes as the words of a command line order them."""

import pytest

from paribus.sandbox.specification import Disk, Specification, parse_disks


def test_disks_of_one_name_are_numbered_over_all_texts() -> None:
    disks = parse_disks(["ssd:1GiB:count=2,iops=8000,bandwidth=500MiB/s", "sas:4GiB:bus=scsi,latency=5ms", "ssd:2GiB"])
    assert [disk.serial for disk in disks] == ["ssd-1", "ssd-2", "sas-1", "ssd-3"]
    assert disks[0] == Disk(serial="ssd-1", size_bytes=1 << 30, iops=8000, bytes_per_s=500 << 20)
    assert disks[2] == Disk(serial="sas-1", size_bytes=4 << 30, bus="scsi", latency_s=0.005)


def test_a_name_that_begins_like_another_is_another() -> None:
    serials = [disk.serial for disk in parse_disks(["a:1GiB:count=2", "a-b:1GiB", "a:1GiB"])]
    assert serials == ["a-1", "a-2", "a-b-1", "a-3"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ssd", "is not a disk"),
        ("ssd:", "is not a disk"),
        ("SSD:1GiB", "is not a disk"),
        ("ssd,if=none:1GiB", "is not a disk"),
        ("ssd:1 parsec", "is not a disk"),
        ("ssd:1KiB", "at least 16 MiB"),
        ("ssd:20000001", "whole sectors"),
        ("ssd:1GiB:iops", "has no value"),
        ("ssd:1GiB:iops=fast", "is not a disk"),
        ("ssd:1GiB:iops=-1", "not negative"),
        ("ssd:1GiB:count=0", "at least 1"),
        ("ssd:1GiB:bus=ide", "'ide' is not a bus"),
        ("ssd:1GiB:colour=red", "'colour' is unknown"),
        ("ssd:1GiB:latency=soon", "is not a disk"),
    ],
)
def test_invalid_disks_are_refused_with_an_example(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said) as refused:
        parse_disks([text])
    assert "write for example ssd:2GiB" in str(refused.value)


def test_machines_that_cannot_be_are_refused() -> None:
    disks = parse_disks(["ssd:1GiB"])
    with pytest.raises(ValueError, match="2 cores cannot be divided among 3 NUMA nodes"):
        Specification(disks=disks, nodes=3)
    with pytest.raises(ValueError, match="at most 24 disks, not 25"):
        Specification(disks=parse_disks(["ssd:1GiB:count=25"]))
    with pytest.raises(ValueError, match="'emacs' is not a package"):
        Specification(disks=disks, packages=("emacs",))
