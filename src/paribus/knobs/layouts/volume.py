"""Products of the layers of a layout: volumes with their geometry, and the steps that make them."""

from collections.abc import Iterable
from dataclasses import dataclass

SHORT_S, LONG_S = 120, 3600


class LayoutError(ValueError):
    """A layout that these disks cannot have, with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """A block device of a layout, made or to be made.

    `size_bytes` is an estimate, slightly low, for a volume that is not yet made. Data goes to its `data_disks` disks
    in turn, `stripe_unit_bytes` to each; 0 where no layer stripes. `writes_per_write` is how many bytes reach disks
    for each byte that is written in whole stripes. A logical volume has the `physical_volumes` of its group. It lies
    on `disks`, by their names in the plan.
    """

    path: str
    size_bytes: int
    stripe_unit_bytes: int = 0
    data_disks: int = 1
    writes_per_write: float = 1.0
    physical_volumes: tuple[str, ...] = ()
    disks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RedundantMembers:
    """Members of an `array` or a RAID volume that stand in for each other: `may_fail` of them at a time, at most."""

    array: str
    members: tuple[Volume, ...]
    may_fail: int

    def member_on(self, disk: str) -> Volume | None:
        """The member that lies on a disk, if one does."""
        return next((member for member in self.members if disk in member.disks), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildStep:
    """A command of a build, and how long it may take.

    `waits_for` is a volume that must be in sync before the next step, if there is one. A step without a command may
    write `attributes` instead: of a device, files below its folder under /sys, with their texts.
    """

    argv: tuple[str, ...] = ()
    patience_s: int = SHORT_S
    waits_for: str = ""
    attributes: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Names:
    """Names of the devices of one experiment, so that two experiments on one machine do not meet."""

    tag: str

    @property
    def group(self) -> str:
        """The LVM volume group."""
        return f"paribus_{self.tag}"

    def array(self, number: int) -> str:
        """The node of an md array."""
        return f"/dev/md/paribus-{self.tag}-{number}"

    @property
    def pool(self) -> str:
        """The ZFS pool."""
        return f"paribus-{self.tag}"

    @property
    def cached(self) -> str:
        """The label of the bcache device."""
        return f"paribus-{self.tag}"

    @property
    def cached_path(self) -> str:
        """The node of the bcache device."""
        return f"/dev/bcache/by-label/{self.cached}"

    def encrypted(self, number: int) -> str:
        """The name of an encrypted device in device-mapper."""
        return f"paribus-{self.tag}-crypt{number}"


@dataclass(frozen=True, slots=True)
class MadeLayer:
    """Product of a layer: its steps, and the volumes that the next layer lies on.

    `unused_bytes` of the volumes below have no use, since others are smaller. `redundancy` is that of its arrays.
    """

    steps: tuple[BuildStep, ...]
    volumes: tuple[Volume, ...]
    unused_bytes: int = 0
    redundancy: tuple[RedundantMembers, ...] = ()


def disks_of(volumes: Iterable[Volume]) -> tuple[str, ...]:
    """The disks that volumes lie on."""
    return tuple(disk for volume in volumes for disk in volume.disks)


def disk_named(name: str, disks: Iterable[str]) -> str:
    """The disk of a plan with this name, or the only one whose name ends so. Raises LayoutError."""
    matching = [disk for disk in disks if disk == name] or [disk for disk in disks if disk.endswith(name)]
    if len(matching) != 1:
        which = "is not among target.devices: add it there" if not matching else f"is one of {', '.join(matching)}"
        raise LayoutError(f"{name} {which}")
    return matching[0]


SETTLE = BuildStep(argv=("udevadm", "settle", "--timeout=60"))
"""Nodes and links of new devices come with the rules of udev."""


def only(volumes: tuple[Volume, ...], layer: str) -> Volume:
    """The one volume below a layer that needs exactly one. Raises LayoutError."""
    if len(volumes) != 1:
        raise LayoutError(f"{layer} needs one volume, and {len(volumes)} lie below it: join them with md or lvm")
    return volumes[0]


def whole_stripes(volume: Volume) -> int:
    """Bytes of a full stripe over all data disks; 0 where no layer stripes."""
    return volume.stripe_unit_bytes * volume.data_disks
