"""Layers between disks and file system: partitions, encryption and md arrays.

Sources of the options: the manual pages of parted, cryptsetup and mdadm.
"""

import dataclasses
import re
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from paribus.knobs.layouts.layer import Layer, Share, Size, Words
from paribus.knobs.layouts.volume import (
    LONG_S,
    SETTLE,
    BuildStep,
    LayoutError,
    MadeLayer,
    Names,
    RedundantMembers,
    Volume,
    disk_named,
    disks_of,
)
from paribus.units import MIB

_GPT_BYTES = 2 * MIB  # both tables, aligned
_LUKS_SECTOR_BYTES = 4096
_RAID_10 = re.compile(r"[nfo]([1-9]\d?)")
_LEAST_DISKS = {0: 2, 1: 2, 4: 3, 5: 3, 6: 4, 10: 2}
_PARITY_DISKS = {4: 1, 5: 1, 6: 2}
_DEFAULT_CHUNK = 512 * 1024  # of mdadm
_FIRST = "-part1"
_SUPERBLOCK_SHARE, _SUPERBLOCK_BYTES = 0.001, 8 * MIB


class Partition(Layer):
    """A GPT with one partition on each disk; what is left free is discarded first."""

    kind: ClassVar[str] = "partition"
    programs: ClassVar[dict[str, str]] = {"parted": "parted", "blkdiscard": "util-linux"}

    over_provision: Share = Field(0.0, ge=0.0, le=0.9)
    align: Size = Field(MIB, ge=512)

    def make(self, volumes: tuple[Volume, ...], cache_disks: tuple[Volume, ...], names: Names) -> MadeLayer:  # noqa: ARG002
        """One partition on each volume."""
        steps: list[BuildStep] = []
        parts: list[Volume] = []
        for volume in volumes:
            whole = volume.size_bytes - _GPT_BYTES
            size = int(whole * (1 - self.over_provision)) // self.align * self.align
            if size <= 0:
                raise LayoutError(f"{volume.path} is too small for a partition")
            if self.over_provision:
                steps.append(BuildStep(argv=("blkdiscard", "--force", volume.path), patience_s=LONG_S))
            table = ("parted", "--script", volume.path, "unit", "B", "mklabel", "gpt")
            steps.append(BuildStep(argv=(*table, "mkpart", "paribus", str(self.align), str(self.align + size - 1))))
            parts.append(dataclasses.replace(volume, path=first_partition(volume.path), size_bytes=size))
        return MadeLayer((*steps, SETTLE), tuple(parts))


def first_partition(disk: str) -> str:
    """The node of a disk's first partition: `sda1`, `nvme0n1p1`, `…/by-id/wwn-1-part1`."""
    if disk.startswith("/dev/disk/"):
        return f"{disk}{_FIRST}"
    return f"{disk}p1" if disk[-1].isdigit() else f"{disk}1"


class Crypt(Layer):
    """dm-crypt with a random key that nobody has, so that no secret exists; data takes the path of LUKS2's defaults."""

    kind: ClassVar[str] = "crypt"
    programs: ClassVar[dict[str, str]] = {"cryptsetup": "cryptsetup-bin"}
    modules: ClassVar[dict[str, str]] = {"dm_crypt": ""}

    no_read_workqueue: bool = False
    no_write_workqueue: bool = False

    def make(self, volumes: tuple[Volume, ...], cache_disks: tuple[Volume, ...], names: Names) -> MadeLayer:  # noqa: ARG002
        """An encrypted device on each volume."""
        flags = [
            *(["--perf-no_read_workqueue"] if self.no_read_workqueue else []),
            *(["--perf-no_write_workqueue"] if self.no_write_workqueue else []),
        ]
        key = ("--key-file", "/dev/urandom", "--key-size", "512", "--cipher", "aes-xts-plain64")
        steps, encrypted = [], []
        for number, volume in enumerate(volumes):
            name = names.encrypted(number)
            sector = ("--sector-size", str(_LUKS_SECTOR_BYTES))
            argv = ("cryptsetup", "open", "--batch-mode", "--type", "plain", *key, *sector, *flags, volume.path, name)
            steps.append(BuildStep(argv=argv))
            encrypted.append(dataclasses.replace(volume, path=f"/dev/mapper/{name}"))
        return MadeLayer((*steps, SETTLE), tuple(encrypted))


def _number(value: object) -> object:
    """A number, also as text."""
    return int(value) if isinstance(value, str) and value.isdigit() else value


class Md(Layer):
    """Software RAID; `arrays` of them, each with an equal share of the disks."""

    kind: ClassVar[str] = "md"
    programs: ClassVar[dict[str, str]] = {"mdadm": "mdadm"}

    level: Annotated[Literal[0, 1, 4, 5, 6, 10], BeforeValidator(_number)]
    chunk: Size | None = Field(None, ge=4096)
    layout: str | None = Field(None, pattern=r"^[a-z0-9-]{2,24}$")
    bitmap: Literal["none", "internal"] | None = None
    consistency: Literal["resync", "ppl"] | None = None
    arrays: int = Field(1, ge=1, le=32)
    on: Words = ()
    resync: Literal["wait", "during"] = "wait"

    def make(self, volumes: tuple[Volume, ...], cache_disks: tuple[Volume, ...], names: Names) -> MadeLayer:  # noqa: ARG002
        """Arrays of the volumes, in their order."""
        below = {volume.path.removesuffix(_FIRST): volume for volume in volumes}
        chosen = tuple(below[disk_named(name, below)] for name in self.on) or volumes
        others = tuple(volume for volume in volumes if volume not in chosen)
        share = len(chosen) // self.arrays
        if share * self.arrays != len(chosen) or share < _LEAST_DISKS[self.level]:
            each = f" for each of {self.arrays} arrays" if self.arrays > 1 else ""
            raise LayoutError(
                f"RAID {self.level} needs {_LEAST_DISKS[self.level]} disks at least{each}, in equal shares, "
                f"and there are {len(chosen)}"
            )
        if self.chunk and self.level == 1:
            raise LayoutError("RAID 1 has no chunks: remove chunk")
        if self.level == 10 and not 2 <= self._copies <= share:
            raise LayoutError(
                f"RAID 10 of {share} disks has no layout {self.layout}: write n2, f2 or o2, or more copies"
            )
        if self.consistency == "ppl" and self.level != 5:
            raise LayoutError(f"only RAID 5 has a partial parity log, not RAID {self.level}")
        steps: list[BuildStep] = []
        arrays: list[Volume] = []
        redundancy: list[RedundantMembers] = []
        unused_bytes = 0
        earlier = sum(volume.path.startswith("/dev/md/") for volume in others)
        for number in range(self.arrays):
            members = chosen[number * share : (number + 1) * share]
            path = names.array(earlier + number)
            is_redundant = self.level != 0
            argv = ("mdadm", "--create", path, "--run", "--quiet", "--metadata=1.2", *self._options(share))
            waits_for = path if is_redundant and self.resync == "wait" else ""
            steps += [BuildStep(argv=(*argv, *(member.path for member in members))), SETTLE]
            if waits_for:
                steps.append(BuildStep(argv=(), waits_for=waits_for))
            arrays.append(self._volume(path, members))
            redundancy += self._redundancy(path, members)
            if is_redundant:  # RAID 0 goes on with the larger disks alone
                smallest = min(member.size_bytes for member in members)
                unused_bytes += sum(member.size_bytes - smallest for member in members)
        return MadeLayer(tuple(steps), (*others, *arrays), unused_bytes, tuple(redundancy))

    def _options(self, disks: int) -> list[str]:
        chosen = {
            "chunk": f"{self.chunk // 1024}K" if self.chunk else None,
            "layout": self.layout,
            "bitmap": self.bitmap,
            "consistency-policy": self.consistency,
        }
        options = [f"--{name}={value}" for name, value in chosen.items() if value]
        return [f"--level={self.level}", f"--raid-devices={disks}", *options]

    def _volume(self, path: str, members: tuple[Volume, ...]) -> Volume:
        smallest = min(member.size_bytes for member in members)
        usable = int(smallest * (1 - _SUPERBLOCK_SHARE)) - _SUPERBLOCK_BYTES
        disks = len(members)
        if self.level == 1:
            return Volume(path=path, size_bytes=usable, writes_per_write=disks, disks=disks_of(members))
        copies = self._copies
        if self.level == 10:
            size, data_disks, writes = usable * disks // copies, max(1, disks // copies), float(copies)
        else:
            data_disks = disks - _PARITY_DISKS.get(self.level, 0)
            size, writes = usable * data_disks, disks / data_disks
        return Volume(
            path=path,
            size_bytes=size,
            stripe_unit_bytes=self.chunk or _DEFAULT_CHUNK,
            data_disks=data_disks,
            writes_per_write=writes,
            disks=disks_of(members),
        )

    @property
    def _copies(self) -> int:
        """Copies of RAID 10, 2 where its layout does not say; 0 of what is none."""
        match = _RAID_10.fullmatch(self.layout or "n2")
        return int(match[1]) if match else 0

    def _redundancy(self, path: str, members: tuple[Volume, ...]) -> list[RedundantMembers]:
        """Members that stand in for each other; the copies of RAID 10 are on neighbours, the last beside the first."""
        count, copies = len(members), self._copies
        if self.level == 10:
            is_in_sets = count % copies == 0 and (self.layout or "n2").startswith("n")
            starts = range(0, count, copies if is_in_sets else 1)
            windows = [(*members, *members)[start : start + copies] for start in starts]
            return [RedundantMembers(path, window, copies - 1) for window in windows]
        may_fail = count - 1 if self.level == 1 else _PARITY_DISKS.get(self.level, 0)
        return [RedundantMembers(path, members, may_fail)]
