"""Alignment: partitions and file systems that do not match the blocks and stripes of the devices below them.

In: the device of a folder, and how its file system is mounted. Out: conditions. Called by the examination of a machine.

Sources: Documentation/ABI/stable/sysfs-block of the kernel (alignment_offset, optimal_io_size, start); the manual pages
xfs(5), where sunit and swidth are in units of 512 bytes, and ext4(5), where stripe is in blocks of the file system.
"""

from collections.abc import Iterator, Sequence

from paribus.errors import HostError
from paribus.hosts.storage.devices import SECTOR_BYTES
from paribus.hosts.storage.stack import folders_below
from paribus.hosts.transport import Host
from paribus.model import Condition, Fitness, Mounted
from paribus.units import show_size

_PAGE_BYTES = 4096  # of flash and of disks with large sectors, also those that report 512 bytes
_BLOCK_BYTES = 4096
_NAME = "alignment"


def alignment(host: Host, device: str, mount: Mounted) -> list[Condition]:
    """Return the misalignments below a file system on `device`, such as 8:1; without any, one fit condition."""
    try:
        folders = folders_below(host, device)
    except HostError:  # a file system without a block device
        return []
    deviations = [
        *(condition for folder in folders for condition in _offset(host, folder)),
        *_geometry(host, folders, mount),
    ]
    return deviations or [Condition(_NAME, Fitness.FIT, "every layer starts on whole blocks and stripes")]


def _offset(host: Host, folder: str) -> Iterator[Condition]:
    name = folder.rpartition("/")[2]
    start_bytes = _number(host, f"{folder}/start") * SECTOR_BYTES
    stripe_bytes = _number(host, f"{folder.rpartition('/')[0]}/queue/optimal_io_size") if start_bytes else 0
    if _number(host, f"{folder}/alignment_offset") != 0:
        text = f"{name} does not start on a whole block of what it lies on"
        yield Condition(_NAME, Fitness.UNFIT, text, "make it anew with its start at a multiple of 1 MiB")
    elif start_bytes % _PAGE_BYTES:
        text = f"{name} starts at byte {start_bytes:,}, so each block of 4 KiB lies on two of the disk"
        yield Condition(_NAME, Fitness.UNFIT, text, "make it anew with its start at a multiple of 1 MiB")
    elif stripe_bytes and stripe_bytes % _PAGE_BYTES == 0 and start_bytes % stripe_bytes:  # bridges report odd sizes
        text = f"{name} starts at byte {start_bytes:,}, within a stripe of {show_size(stripe_bytes)}"
        fix = "writes of whole stripes then touch two: make it anew with its start at a multiple of the stripe"
        yield Condition(_NAME, Fitness.NOTE, text, fix)


def _geometry(host: Host, folders: Sequence[str], mount: Mounted) -> Iterator[Condition]:
    """Whether a file system directly on a striped array knows its stripes."""
    chunk_bytes = _number(host, f"{folders[0]}/md/chunk_size")
    stripe_bytes = _number(host, f"{folders[0]}/queue/optimal_io_size")
    options = dict(option.partition("=")[::2] for option in mount.options.split(","))
    if not chunk_bytes or mount.filesystem not in ("xfs", "ext4"):
        return
    of_file_system: tuple[int, ...]
    of_array: tuple[int, ...]
    if mount.filesystem == "xfs":
        of_file_system = int(options.get("sunit", 0)) * SECTOR_BYTES, int(options.get("swidth", 0)) * SECTOR_BYTES
        of_array, option_names = (chunk_bytes, stripe_bytes), "sunit and swidth"
    else:
        of_file_system = (int(options.get("stripe", 0)) * _BLOCK_BYTES,)
        of_array, option_names = (stripe_bytes,), "stripe"
    if of_file_system == of_array:
        return
    name = folders[0].rpartition("/")[2]
    text = f"{mount.filesystem} has {option_names} of {_sizes(of_file_system)}, and {name} has {_sizes(of_array)}"
    yield Condition(_NAME, Fitness.NOTE, text, f"mkfs.{mount.filesystem} finds them by itself on a new file system")


def _sizes(sizes: Sequence[int]) -> str:
    return " and ".join(show_size(size) for size in sizes) if any(sizes) else "none"


def _number(host: Host, path: str) -> int:
    """The number in a file; 0 where there is none."""
    try:
        text = host.read(path).strip()
    except HostError:
        return 0
    return int(text) if text.removeprefix("-").isdecimal() else 0
