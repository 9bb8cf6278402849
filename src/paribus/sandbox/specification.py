"""Specification of a sandbox: its disks, processors, memory, NUMA nodes and packages.

In: the words of a command line or of a plan. Out: a `Specification`. Pure.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from paribus.units import parse_duration, parse_size

BUSES = ("virtio", "scsi", "nvme")
PACKAGES = ("mariadb-server", "postgresql", "sysbench", "fio", "zfs-dkms")
"""Packages that a sandbox can have beside the storage tools."""

_NAME = re.compile(r"[a-z][a-z0-9-]{0,14}")
_FORM = "write for example ssd:2GiB:count=4,iops=8000,bandwidth=500MiB"
_MOST_DISKS = 24  # slots of the virtual machine
_LEAST_DISK_BYTES = 16 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """A disk of a sandbox; 0 is no limit. `serial` identifies it for good."""

    serial: str
    size_bytes: int
    bus: str = "virtio"
    iops: int = 0
    bytes_per_s: int = 0
    latency_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Specification:
    """A sandbox as ordered."""

    disks: tuple[Disk, ...]
    cores: int = 2
    nodes: int = 1
    memory_bytes: int = 1 << 30
    packages: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raises ValueError where no machine can be so."""
        if len(self.disks) > _MOST_DISKS:
            raise ValueError(f"a sandbox has at most {_MOST_DISKS} disks, not {len(self.disks)}")
        if not 1 <= self.nodes <= self.cores:
            raise ValueError(f"{self.cores} cores cannot be divided among {self.nodes} NUMA nodes")
        if unknown := sorted(set(self.packages) - set(PACKAGES)):
            raise ValueError(f"{unknown[0]!r} is not a package of sandboxes: {', '.join(PACKAGES)} are")


def parse_disks(texts: Sequence[str]) -> tuple[Disk, ...]:
    """Disks from texts such as `ssd:2GiB:count=4,iops=8000`; their serials are ssd-1, ssd-2, …  Raises ValueError."""
    disks: list[Disk] = []
    for text in texts:
        name = text.partition(":")[0]
        size, _, options = text.partition(":")[2].partition(":")
        if not _NAME.fullmatch(name) or not size:
            raise ValueError(f"{text!r} is not a disk: {_FORM}")
        try:
            disks += _disks(name, parse_size(size), dict(_pairs(options)), len(_of(disks, name)))
        except ValueError as error:
            raise ValueError(f"{text!r} is not a disk: {error}; {_FORM}") from error
    return tuple(disks)


def _of(disks: Iterable[Disk], name: str) -> list[Disk]:
    return [disk for disk in disks if disk.serial.rpartition("-")[0] == name]


def _pairs(options: str) -> Iterable[tuple[str, str]]:
    for option in filter(None, options.split(",")):
        key, equals, value = option.partition("=")
        if not equals:
            raise ValueError(f"{option!r} has no value")
        yield key.strip(), value.strip()


def _disks(name: str, size_bytes: int, options: dict[str, str], before: int) -> list[Disk]:
    """The disks of one text; `before` disks have that name already. Raises ValueError."""
    count, bus = int(options.pop("count", "1")), options.pop("bus", "virtio")
    iops, bandwidth = int(options.pop("iops", "0")), options.pop("bandwidth", "0").removesuffix("/s")
    latency = options.pop("latency", "")
    if options:
        raise ValueError(f"{next(iter(options))!r} is unknown: count, bus, iops, bandwidth and latency are known")
    if bus not in BUSES:
        raise ValueError(f"{bus!r} is not a bus: {', '.join(BUSES)} are")
    if count < 1 or iops < 0:
        raise ValueError("count must be at least 1, and iops not negative")
    if size_bytes < _LEAST_DISK_BYTES or size_bytes % 512:
        raise ValueError(f"the size must be whole sectors of 512 bytes, and at least {_LEAST_DISK_BYTES >> 20} MiB")
    return [
        Disk(
            serial=f"{name}-{number}",
            size_bytes=size_bytes,
            bus=bus,
            iops=iops,
            bytes_per_s=parse_size(bandwidth),
            latency_s=parse_duration(latency) if latency else 0.0,
        )
        for number in range(before + 1, before + count + 1)
    ]
