"""Queue limits and discards of every layer between files and disks.

In: the device of a folder. Out: conditions. Called by the examination of a machine.

Source: Documentation/ABI/stable/sysfs-block of the kernel (max_sectors_kb, logical_block_size, minimum_io_size,
optimal_io_size, discard_max_bytes).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from paribus.errors import HostError
from paribus.hosts.storage.stack import folders_below
from paribus.hosts.transport import Host
from paribus.model import Condition, Fitness
from paribus.units import show_size

_NAME = "layers"


@dataclass(frozen=True, slots=True)
class _Limits:
    """Limits of one device's queue, in bytes; 0 where the kernel shows none."""

    name: str
    request_bytes: int
    block_bytes: int
    chunk_bytes: int
    stripe_bytes: int
    discard_bytes: int
    is_disk: bool


def layers(host: Host, device: str) -> list[Condition]:
    """Return the limits of each layer below a folder on `device`, such as 9:127; none where that is a disk itself."""
    try:
        folders = folders_below(host, device)
    except HostError:  # a file system without a block device
        return []
    limits = [_limits(host, folder) for folder in folders if "partition" not in host.names(folder)]
    if len(limits) < 2:
        return []
    return [Condition(_NAME, Fitness.FIT, "; ".join(map(_text, limits))), *_lost_discards(limits)]


def _lost_discards(limits: Sequence[_Limits]) -> list[Condition]:
    """The layers that take no discards although all disks do."""
    if not all(each.discard_bytes for each in limits if each.is_disk):
        return []
    refusing = [each.name for each in limits if not each.is_disk and not each.discard_bytes]
    if not refusing:
        return []
    text = f"{', '.join(refusing)} passes no discards on, so the disks keep what files no longer need"
    fix = "open dm-crypt with --allow-discards; for RAID 4, 5 and 6 see raid456.devices_handle_discard_safely"
    return [Condition(_NAME, Fitness.NOTE, text, fix)]


def _limits(host: Host, folder: str) -> _Limits:
    names = ("max_sectors_kb", "logical_block_size", "minimum_io_size", "optimal_io_size", "discard_max_bytes")
    texts = host.read_each([f"{folder}/queue/{name}" for name in names])
    request_kib, block, chunk, stripe, discard = (
        int(text) if text and text.strip().isdecimal() else 0 for text in texts
    )
    name, is_disk = folder.rpartition("/")[2], not host.names(f"{folder}/slaves")
    return _Limits(name, request_kib << 10, block, chunk, stripe, discard, is_disk)


def _text(limits: _Limits) -> str:
    """`md127: requests up to 1 MiB, blocks of 512 bytes, chunks of 64 KiB in stripes of 256 KiB, discards`."""
    words = [f"requests up to {show_size(limits.request_bytes)}"] if limits.request_bytes else []
    words += [f"blocks of {limits.block_bytes} bytes"] if limits.block_bytes else []
    if limits.stripe_bytes > limits.chunk_bytes > 0 and not limits.is_disk:
        words.append(f"chunks of {show_size(limits.chunk_bytes)} in stripes of {show_size(limits.stripe_bytes)}")
    words.append("discards" if limits.discard_bytes else "no discards")
    return f"{limits.name}: {', '.join(words)}"
