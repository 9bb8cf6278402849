"""File systems at the top of a layout, with the geometry below them.

Sources of the options: the manual pages of mkfs.xfs, mkfs.ext4 and mkfs.btrfs.
"""

from typing import ClassVar, Literal

from pydantic import Field

from paribus.knobs.layouts.layer import Geometry, Layer, Size
from paribus.knobs.layouts.volume import LONG_S, BuildStep, LayoutError, MadeLayer, Names, Volume, only, whole_stripes
from paribus.units import MIB

_BLOCK_BYTES = 4096
_LEAST_STRIPED_XFS_BYTES = 700 * MIB  # its 8 allocation groups must each hold a log of 64 MiB
_LEAST_XFS_BYTES = 300 * MIB  # mkfs.xfs 5.19 and later refuse less


class FileSystem(Layer):
    """A layer that is mounted."""

    has_own_read_ahead: ClassVar[bool] = False  # and does not use that of its block devices
    share: ClassVar[float] = 0.93
    reserved_bytes: ClassVar[int] = 64 * MIB

    def usable_bytes(self, volume_bytes: int) -> int:
        """Return the bytes left for data on a volume of this size, estimated slightly low."""
        return max(0, int(volume_bytes * self.share) - self.reserved_bytes)

    def source(self, names: Names, top: Volume) -> str:  # noqa: ARG002
        """Return the device argument of `mount`."""
        return top.path


class Xfs(FileSystem):
    """XFS; `su` and `sw` follow from the volume."""

    kind: ClassVar[str] = "xfs"
    programs: ClassVar[dict[str, str]] = {"mkfs.xfs": "xfsprogs"}
    modules: ClassVar[dict[str, str]] = {"xfs": ""}

    su: Size | Geometry = "auto"
    sw: int | Geometry = "auto"
    agcount: int | None = Field(None, ge=1, le=1_000_000)
    log_size: Size | None = None
    reflink: bool | None = None
    rmapbt: bool | None = None

    def make(self, volumes: tuple[Volume, ...], cache_disks: tuple[Volume, ...], names: Names) -> MadeLayer:  # noqa: ARG002
        """Make it on the one volume."""
        volume = only(volumes, self.kind)
        unit = volume.stripe_unit_bytes if self.su == "auto" else 0 if self.su == "none" else self.su
        width = volume.data_disks if self.sw == "auto" else 0 if self.sw == "none" else self.sw
        least = _LEAST_STRIPED_XFS_BYTES if unit and width and not self.agcount else _LEAST_XFS_BYTES
        if volume.size_bytes < least:
            raise LayoutError(f"xfs needs {least >> 20} MiB here, and the volume has {volume.size_bytes >> 20}")
        data = [f"su={unit},sw={width}" if unit and width else "noalign"]
        data += [f"agcount={self.agcount}"] if self.agcount else []
        log = ["-l", f"size={self.log_size}"] if self.log_size else []
        features = {"reflink": self.reflink, "rmapbt": self.rmapbt}
        chosen = [f"{name}={int(value)}" for name, value in features.items() if value is not None]
        meta = ["-m", ",".join(chosen)] if chosen else []
        argv = ("mkfs.xfs", "-f", "-q", "-d", ",".join(data), *log, *meta, volume.path)
        return MadeLayer((BuildStep(argv=argv, patience_s=LONG_S),), (volume,))


class Ext4(FileSystem):
    """ext4; stride and stripe width follow from the volume, and nothing is left to be initialised later."""

    kind: ClassVar[str] = "ext4"
    programs: ClassVar[dict[str, str]] = {"mkfs.ext4": "e2fsprogs"}

    stride: int | Geometry = "auto"
    stripe_width: int | Geometry = "auto"
    journal: bool = True
    journal_size: Size | None = None

    def make(self, volumes: tuple[Volume, ...], cache_disks: tuple[Volume, ...], names: Names) -> MadeLayer:  # noqa: ARG002
        """Make it on the one volume."""
        volume = only(volumes, self.kind)
        stride = volume.stripe_unit_bytes // _BLOCK_BYTES if self.stride == "auto" else self.stride
        width = whole_stripes(volume) // _BLOCK_BYTES if self.stripe_width == "auto" else self.stripe_width
        extended = ["lazy_itable_init=0", "lazy_journal_init=0"]
        extended += [f"stride={stride}"] if isinstance(stride, int) and stride else []
        extended += [f"stripe_width={width}"] if isinstance(width, int) and width else []
        journal = ["-J", f"size={self.journal_size >> 20}"] if self.journal_size else []
        features = [] if self.journal else ["-O", "^has_journal"]
        blocks = ("-b", str(_BLOCK_BYTES))  # below 512 MiB it would take smaller ones, in which stride and width count
        argv = ("mkfs.ext4", "-F", "-q", *blocks, "-m", "0", "-E", ",".join(extended), *journal, *features, volume.path)
        return MadeLayer((BuildStep(argv=argv, patience_s=LONG_S),), (volume,))


class Btrfs(FileSystem):
    """btrfs on all volumes below."""

    kind: ClassVar[str] = "btrfs"
    programs: ClassVar[dict[str, str]] = {"mkfs.btrfs": "btrfs-progs"}
    modules: ClassVar[dict[str, str]] = {"btrfs": ""}
    has_own_read_ahead: ClassVar[bool] = True
    share: ClassVar[float] = 0.8
    reserved_bytes: ClassVar[int] = 128 * MIB

    data: Literal["single", "dup", "raid0", "raid1", "raid10"] = "single"
    metadata: Literal["single", "dup", "raid0", "raid1", "raid10"] | None = None

    def make(self, volumes: tuple[Volume, ...], cache_disks: tuple[Volume, ...], names: Names) -> MadeLayer:  # noqa: ARG002
        """Make it on every volume; it is mounted from the first."""
        least = {"raid0": 2, "raid1": 2, "raid10": 4}.get(self.data, 1)
        if len(volumes) < least:
            raise LayoutError(f"btrfs with data = {self.data} needs {least} volumes, and there are {len(volumes)}")
        copies = 2 if self.data in ("raid1", "raid10", "dup") else 1
        metadata = ["-m", self.metadata] if self.metadata else []
        argv = ("mkfs.btrfs", "-f", "-q", "-d", self.data, *metadata, *(volume.path for volume in volumes))
        size = sum(volume.size_bytes for volume in volumes) // copies
        whole = Volume(path=volumes[0].path, size_bytes=size, writes_per_write=float(copies))
        return MadeLayer((BuildStep(argv=argv, patience_s=LONG_S),), (whole,))
