"""ZFS at the top of a layout: a pool of all volumes below, with one data set.

Sources of the options: zpool-create(8), zpoolprops(7) and zfsprops(7) of OpenZFS.
"""

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from paribus.knobs.layouts.file_systems import FileSystem
from paribus.knobs.layouts.layer import Size, Words
from paribus.knobs.layouts.volume import LONG_S, SETTLE, BuildStep, LayoutError, MadeLayer, Names, Volume
from paribus.units import MIB

_LEAST_BYTES = 64 * MIB  # of each device of a pool
_PARITY = {"raidz1": 1, "raidz2": 2, "raidz3": 3}


class Zfs(FileSystem):
    """ZFS on all volumes below; `mirror` makes a stripe of pairs, `raidz1` to `raidz3` one group with parity."""

    kind: ClassVar[str] = "zfs"
    programs: ClassVar[dict[str, str]] = {"zpool": "zfsutils-linux"}
    modules: ClassVar[dict[str, str]] = {"zfs": "zfs-dkms"}
    has_own_read_ahead: ClassVar[bool] = True
    share: ClassVar[float] = 0.9
    reserved_bytes: ClassVar[int] = 128 * MIB

    data: Literal["stripe", "mirror", "raidz1", "raidz2", "raidz3"] = "stripe"
    ashift: int | None = Field(None, ge=9, le=16)
    recordsize: Size | None = Field(None, ge=512, le=16 * MIB)
    compression: str | None = Field(None, pattern=r"^(on|off|lz4|lzjb|zle|gzip(-[1-9])?|zstd(-(fast-)?[0-9]+)?)$")
    logbias: Literal["latency", "throughput"] | None = None
    primarycache: Literal["all", "metadata", "none"] | None = None
    sync: Literal["standard", "always", "disabled"] | None = None
    log: Words = ()
    cache: Words = ()

    def disks(self) -> tuple[str, ...]:
        """The disks of its intent log, then those of its second cache."""
        return (*self.log, *self.cache)

    def make(self, volumes: tuple[Volume, ...], cache_disks: tuple[Volume, ...], names: Names) -> MadeLayer:
        """A pool that no boot imports; it is mounted by its name."""
        if small := [volume.path for volume in (*volumes, *cache_disks) if volume.size_bytes < _LEAST_BYTES]:
            raise LayoutError(f"zfs needs {_LEAST_BYTES // MIB} MiB on each device, and {small[0]} has less")
        options = ["-o", "cachefile=none", *(["-o", f"ashift={self.ashift}"] if self.ashift else [])]
        logs, caches = cache_disks[: len(self.log)], cache_disks[len(self.log) :]
        devices = [
            *self._data_devices(volumes),
            *(["log", *(disk.path for disk in logs)] if logs else []),
            *(["cache", *(disk.path for disk in caches)] if caches else []),
        ]
        argv = ("zpool", "create", "-f", *options, *self._properties(), names.pool, *devices)
        return MadeLayer((BuildStep(argv=argv, patience_s=LONG_S), SETTLE), (self._whole(volumes),))

    def source(self, names: Names, top: Volume) -> str:  # noqa: ARG002
        """The pool."""
        return names.pool

    def _properties(self) -> Iterator[str]:
        chosen = {
            "mountpoint": "legacy",
            "recordsize": self.recordsize,
            "compression": self.compression,
            "logbias": self.logbias,
            "primarycache": self.primarycache,
            "sync": self.sync,
        }
        for name, value in chosen.items():
            if value is not None:
                yield from ("-O", f"{name}={value}")

    def _data_devices(self, volumes: tuple[Volume, ...]) -> list[str]:
        """The words of the command that arrange the volumes. Raises LayoutError."""
        paths = [volume.path for volume in volumes]
        if self.data == "stripe":
            return paths
        if self.data == "mirror":
            if len(paths) % 2:
                raise LayoutError(f"zfs with data = mirror makes pairs, and there are {len(paths)} volumes")
            pairs = zip(paths[::2], paths[1::2], strict=True)
            return [word for pair in pairs for word in ("mirror", *pair)]
        least = _PARITY[self.data] + 1
        if len(paths) < least:
            raise LayoutError(f"zfs with data = {self.data} needs {least} volumes, and there are {len(paths)}")
        return [self.data, *paths]

    def _whole(self, volumes: tuple[Volume, ...]) -> Volume:
        """The capacity of the pool, and the bytes that reach disks for each byte."""
        number, parity = len(volumes), _PARITY.get(self.data, 0)
        size = sum(volume.size_bytes for volume in volumes)
        writes = 2.0 if self.data == "mirror" else number / (number - parity)
        return Volume(path=volumes[0].path, size_bytes=int(size / writes), writes_per_write=writes)
