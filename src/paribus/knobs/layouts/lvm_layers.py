"""Logical volumes, and caches of faster disks before them.

Sources of the options: the manual pages of lvcreate, lvmcache, lvmraid and lvmthin.
"""

import dataclasses
import re
from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from paribus.knobs.layouts.faults import is_fault_device
from paribus.knobs.layouts.layer import Layer, Size, Words
from paribus.knobs.layouts.volume import (
    SETTLE,
    BuildStep,
    LayoutError,
    MadeLayer,
    Names,
    RedundantMembers,
    Volume,
    disks_of,
    only,
    whole_stripes,
)

DATA = "data"
"""The name of the logical volume in its group."""

_FAST = "fast"
_UNSAFE = re.compile(r"[^A-Za-z0-9/_-]")  # in a pattern of LVM
_INACTIVE = ("--activate", "n", "--zero", "n", "--wipesignatures", "n")  # a writecache takes no other volume
_EXTENT_BYTES = 4 << 20
_DEFAULT_STRIPE = 64 * 1024
_ALL = "100%FREE"
_THIN_SHARE = 0.95  # of the group; the rest is for metadata
_LEAST_VOLUMES = {"striped": 2, "raid0": 2, "raid1": 2, "raid5": 3, "raid10": 4}
_REDUNDANT = ("raid1", "raid5", "raid10")
_STRIPING = ("striped", "raid0", "raid5", "raid10")


def lvm_command(program: str, among: Sequence[str], *words: str) -> tuple[str, ...]:
    """Return a command of LVM on a group of the devices `among`, which keeps nothing about it on this machine.

    Where a device of `layouts.faults` lies over a disk, the command sees only `among`: else it would also find the
    disk below, which has the same content.
    """
    settings = "use_devicesfile=0"
    if any(is_fault_device(path) for path in among):
        accepted = "".join(f'"a|^{_UNSAFE.sub(".", path)}$|",' for path in among)
        settings += f' filter=[{accepted}"r|.*|"]'
    config = f"backup{{backup=0 archive=0}} devices{{{settings}}}"
    return (program, "--yes", "--quiet", "--config", config, *words)


def data_volume(names: Names) -> str:
    """The node of the logical volume that the next layer lies on."""
    return f"/dev/{names.group}/{DATA}"


class Lvm(Layer):
    """One logical volume on all volumes below."""

    kind: ClassVar[str] = "lvm"
    programs: ClassVar[dict[str, str]] = {"lvcreate": "lvm2", "dmsetup": "dmsetup"}

    type: Literal["linear", "striped", "raid0", "raid1", "raid5", "raid10", "thin"] = "linear"
    stripe_size: Size = Field(_DEFAULT_STRIPE, ge=4096)
    resync: Literal["wait", "during"] = "wait"

    @property
    def is_redundant(self) -> bool:
        """Whether it works without one of its volumes."""
        return self.type in _REDUNDANT

    def make(self, volumes: tuple[Volume, ...], cache_disks: tuple[Volume, ...], names: Names) -> MadeLayer:  # noqa: ARG002
        """A group of the volumes, and one logical volume in it."""
        count = len(volumes)
        if count < _LEAST_VOLUMES.get(self.type, 1):
            raise LayoutError(f"a volume of type {self.type} needs {_LEAST_VOLUMES[self.type]} volumes, not {count}")
        alignment = whole_stripes(volumes[0])
        aligned = ("--dataalignment", f"{alignment // 1024}k") if alignment else ()
        paths = [volume.path for volume in volumes]
        steps = [BuildStep(argv=lvm_command("vgcreate", paths, *aligned, names.group, *paths))]
        create = lvm_command("lvcreate", paths, "--name", DATA)
        usable = sum(max(0, volume.size_bytes - 2 * _EXTENT_BYTES - alignment) for volume in volumes)
        if self.type == "thin":
            pool = lvm_command("lvcreate", paths, "--type", "thin-pool", "--name", "pool")
            steps.append(BuildStep(argv=(*pool, "--extents", f"{_THIN_SHARE:.0%}FREE", names.group)))
            usable = int(usable * (_THIN_SHARE - 0.03))
            size = f"{usable // 512 * 512}b"
            steps.append(BuildStep(argv=(*create, "--virtualsize", size, "--thinpool", "pool", names.group)))
        else:
            steps.append(BuildStep(argv=(*create, *self._options(count), "--extents", _ALL, names.group)))
        waits = self.type == "raid5" and self.resync == "wait"
        volume = self._volume(volumes, usable, data_volume(names))
        waiting = [BuildStep(argv=(), waits_for=volume.path)] if waits else []
        may_fail = {"raid1": count - 1, "raid5": 1, "raid10": count // 2}.get(self.type, 0)  # at best
        redundancy = RedundantMembers(volume.path, volumes, may_fail)
        return MadeLayer((*steps, SETTLE, *waiting), (volume,), redundancy=(redundancy,))

    def _options(self, count: int) -> list[str]:
        stripes = {"striped": count, "raid0": count, "raid5": count - 1, "raid10": count // 2}.get(self.type, 0)
        striping = ["--stripes", str(stripes), "--stripesize", f"{self.stripe_size // 1024}k"] if stripes else []
        mirrors = {"raid1": ["--mirrors", str(count - 1)], "raid10": ["--mirrors", "1"]}.get(self.type, [])
        no_sync = ["--nosync"] if self.type in ("raid1", "raid10") else []  # nothing is there that could differ
        return ["--type", self.type, *striping, *mirrors, *no_sync]

    def _volume(self, volumes: tuple[Volume, ...], usable: int, path: str) -> Volume:
        count, below = len(volumes), volumes[0]
        shares = {"raid1": 1 / count, "raid10": 0.5, "raid5": (count - 1) / count}
        size = int(usable * shares.get(self.type, 1.0))
        writes = below.writes_per_write / shares.get(self.type, 1.0)
        if self.type in _STRIPING:
            disks = {"raid5": count - 1, "raid10": count // 2}.get(self.type, count)
            unit_bytes = self.stripe_size
        else:
            unit_bytes, disks = below.stripe_unit_bytes, below.data_disks
        return Volume(
            path=path,
            size_bytes=size,
            stripe_unit_bytes=unit_bytes,
            data_disks=disks,
            writes_per_write=writes,
            physical_volumes=tuple(volume.path for volume in volumes),
            disks=disks_of(volumes),
        )


class CacheLayer(Layer):
    """A cache on faster disks before the logical volume below: dm-cache, or dm-writecache for writes only."""

    kind: ClassVar[str] = "cache"
    programs: ClassVar[dict[str, str]] = {"lvconvert": "lvm2"}

    on: Words = Field(min_length=1)
    type: Literal["cache", "writecache"] = "cache"
    mode: Literal["writeback", "writethrough", "passthrough"] = "writethrough"
    policy: Literal["smq", "mq", "cleaner"] | None = None

    def disks(self) -> tuple[str, ...]:
        """The faster disks."""
        return self.on

    def make(self, volumes: tuple[Volume, ...], cache_disks: tuple[Volume, ...], names: Names) -> MadeLayer:
        """Add the faster disks to the group, and put a cache on them before its volume."""
        volume = only(volumes, "cache")
        if volume.path != data_volume(names):
            raise LayoutError("a cache lies on lvm: write lvm = {} below it")
        paths = tuple(disk.path for disk in cache_disks)
        among = (*volume.physical_volumes, *paths)
        fast = (*_INACTIVE, "--name", _FAST, "--extents", "100%PVS")
        kind = ("--type", self.type, "--cachevol", _FAST)
        if self.type == "cache":
            kind = (*kind, "--cachemode", self.mode, *(("--cachepolicy", self.policy) if self.policy else ()))
        elif self.policy or self.mode != "writethrough":
            raise LayoutError("a writecache has neither mode nor policy: remove them")
        steps = (
            BuildStep(argv=lvm_command("vgextend", among, names.group, *paths)),
            BuildStep(argv=lvm_command("lvcreate", among, *fast, names.group, *paths)),
            BuildStep(argv=lvm_command("lvconvert", among, *kind, f"{names.group}/{DATA}")),
            SETTLE,
        )
        return MadeLayer(steps, (dataclasses.replace(volume, physical_volumes=among),))
