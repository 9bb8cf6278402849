"""Alignment below a file system, from what the kernel shows."""

import pytest

from paribus.hosts.fake import FakeHost
from paribus.hosts.storage.alignment import alignment
from paribus.model import Fitness, Mounted

DISK = "/sys/dev/block/8:0"
PART = f"{DISK}/sda1"
MD = {f"{DISK}/md/chunk_size": "65536\n", f"{DISK}/queue/optimal_io_size": "196608\n"}


class LinkedHost(FakeHost):
    """A host with a partition."""

    def resolve(self, path: str) -> str:
        return PART if path == "/sys/dev/block/8:1" else path


def _words(files: dict[str, str], device: str, filesystem: str = "ext4", options: str = "rw") -> str:
    mount = Mounted(point="/", source="/dev/sda", filesystem=filesystem, flags="rw", options=options)
    [condition] = alignment(LinkedHost(files), device, mount)
    return "" if condition.fitness is Fitness.FIT else condition.found


def _partition(start: int, **files: str) -> dict[str, str]:
    return {f"{PART}/partition": "1\n", f"{PART}/start": f"{start}\n", f"{DISK}/size": "9\n"} | {
        f"{DISK}/{name.replace('__', '/')}": text for name, text in files.items()
    }


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (_partition(2048), ""),
        (_partition(63), "sda1 starts at byte 32,256"),
        (_partition(2048) | {f"{PART}/alignment_offset": "-1\n"}, "sda1 does not start on a whole block"),
        (_partition(2048, queue__optimal_io_size="196608\n"), "within a stripe of 192 KiB"),
        (_partition(2048, queue__optimal_io_size="33553920\n"), ""),
        (_partition(3072, queue__optimal_io_size="196608\n"), ""),
    ],
)
def test_a_partition_is_on_whole_blocks_and_stripes_or_not(files: dict[str, str], said: str) -> None:
    words = _words(files, "8:1")
    assert said in words
    assert bool(said) == bool(words)


@pytest.mark.parametrize(
    ("filesystem", "options", "said"),
    [
        ("ext4", "rw,stripe=48", ""),
        ("ext4", "rw", "ext4 has stripe of none, and 8:0 has 192 KiB"),
        ("xfs", "rw,sunit=128,swidth=384,noquota", ""),
        ("xfs", "rw,sunit=64,swidth=384", "xfs has sunit and swidth of 32 KiB and 192 KiB"),
        ("btrfs", "rw", ""),
    ],
)
def test_a_file_system_knows_the_stripes_below_it_or_not(filesystem: str, options: str, said: str) -> None:
    words = _words(MD, "8:0", filesystem, options)
    assert said in words
    assert bool(said) == bool(words)


def test_a_file_system_without_a_device_is_not_examined() -> None:
    mount = Mounted(point="/", source="tmpfs", filesystem="tmpfs", flags="rw", options="rw")
    assert alignment(FakeHost({}), "0:40", mount) == []
