"""A cache on a faster disk before any volume: bcache.

Sources of the options: the manual page of make-bcache, and Documentation/admin-guide/bcache.rst of the kernel.
"""

import dataclasses
import uuid
from typing import ClassVar, Literal

from pydantic import Field

from paribus.knobs.layouts.layer import Layer, Share, Size, Words
from paribus.knobs.layouts.volume import SETTLE, BuildStep, LayoutError, MadeLayer, Names, Volume, only
from paribus.units import show_size

_SUPERBLOCK_BYTES = 8192  # before the data
_TOO_FEW_BUCKETS = 512


class Bcache(Layer):
    """A cache of blocks; requests longer than `sequential_cutoff` in order go past it (0: none does)."""

    kind: ClassVar[str] = "bcache"
    programs: ClassVar[dict[str, str]] = {"make-bcache": "bcache-tools"}
    modules: ClassVar[dict[str, str]] = {"bcache": ""}

    on: Words = Field(min_length=1)
    mode: Literal["writethrough", "writeback", "writearound", "none"] = "writethrough"
    bucket: Size = Field(512 * 1024, ge=4096)
    sequential_cutoff: Size | None = Field(None, ge=0)
    writeback_percent: Share | None = Field(None, ge=0.0, le=0.4)

    def disks(self) -> tuple[str, ...]:
        """The faster disk."""
        return self.on

    def make(self, volumes: tuple[Volume, ...], cache_disks: tuple[Volume, ...], names: Names) -> MadeLayer:
        """A cached device on the volume, found by its label."""
        volume = only(volumes, "bcache")
        if len(cache_disks) != 1:
            raise LayoutError(f"bcache takes one disk, not {len(cache_disks)}: for several write lvm and cache")
        cache = cache_disks[0]
        if cache.size_bytes // self.bucket <= _TOO_FEW_BUCKETS:
            raise LayoutError(f"{cache.path} holds too few buckets of {show_size(self.bucket)}: write a smaller bucket")
        cache_set = str(uuid.uuid5(uuid.NAMESPACE_OID, names.cached))
        bucket = ("--bucket", f"{self.bucket // 1024}k")
        options = {
            "attach": cache_set,  # which the kernel refuses where it has not taken the cache
            "cache_mode": self.mode,
            "sequential_cutoff": self.sequential_cutoff,
            "writeback_percent": None if self.writeback_percent is None else round(self.writeback_percent * 100),
            "label": names.cached,  # the last: the kernel then tells udev
        }
        attributes = [(volume.path, f"bcache/{key}", str(value)) for key, value in options.items() if value is not None]
        steps = (
            BuildStep(argv=("modprobe", "bcache")),
            BuildStep(argv=("make-bcache", "--wipe-bcache", *bucket, "--cset-uuid", cache_set, "-C", cache.path)),
            BuildStep(argv=("make-bcache", "--wipe-bcache", "-B", volume.path)),
            SETTLE,
            BuildStep(attributes=tuple(attributes)),
            SETTLE,
        )
        size_bytes = volume.size_bytes - _SUPERBLOCK_BYTES
        cached = dataclasses.replace(volume, path=names.cached_path, size_bytes=size_bytes)
        return MadeLayer(steps, (cached,))
