"""Queue limits and discards through the layers, from what the kernel shows."""

from paribus.hosts.fake import FakeHost
from paribus.hosts.storage.layers import layers
from paribus.model import Fitness

BLOCK, TOP = "/sys/class/block", "/sys/dev/block/9:127"


def _queue(folder: str, *numbers: int) -> dict[str, str]:
    names = ("max_sectors_kb", "logical_block_size", "minimum_io_size", "optimal_io_size", "discard_max_bytes")
    return {f"{folder}/queue/{name}": f"{number}\n" for name, number in zip(names, numbers, strict=True)}


def _array(discard: int) -> FakeHost:
    files = _queue(TOP, 1280, 512, 65536, 131072, discard)
    for disk in ("sda", "sdb"):
        files |= {f"{TOP}/slaves/{disk}/size": "9\n"} | _queue(f"{BLOCK}/{disk}", 1280, 512, 512, 0, 1 << 30)
    return FakeHost(files)


def test_every_layer_has_its_limits_from_the_top_to_the_disks() -> None:
    [condition] = layers(_array(discard=1 << 20), "9:127")
    assert condition.fitness is Fitness.FIT
    top, *disks = condition.found.split("; ")
    assert top == (
        "9:127: requests up to 1.25 MiB, blocks of 512 bytes, chunks of 64 KiB in stripes of 128 KiB, discards"
    )
    assert disks == [f"{disk}: requests up to 1.25 MiB, blocks of 512 bytes, discards" for disk in ("sda", "sdb")]


def test_an_array_that_passes_no_discards_on_is_noted() -> None:
    _, condition = layers(_array(discard=0), "9:127")
    assert condition.fitness is Fitness.NOTE
    assert condition.found.startswith("9:127 passes no discards on")


def test_a_disk_by_itself_has_no_layers() -> None:
    assert layers(FakeHost(_queue("/sys/dev/block/8:0", 1280, 512, 512, 0, 0)), "8:0") == []
    assert layers(FakeHost({}), "0:40") == []
