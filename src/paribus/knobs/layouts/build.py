"""The build of a layout: every command in order, and the volume that comes of it.

In: a layout, the disks, and names. Out: a `Build`. Pure; the plan's check shows it, `trial.layouts` makes it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from paribus.knobs.layouts.faults import with_faults
from paribus.knobs.layouts.layout import Layout
from paribus.knobs.layouts.volume import BuildStep, LayoutError, Names, RedundantMembers, Volume, disk_named, only


@dataclass(frozen=True, slots=True)
class Build:
    """The steps of a build.

    `top` is the volume that files or the load lie on, and `usable_bytes` what it holds. `below` are the block devices
    of the file system, several for btrfs and ZFS. `unused_bytes` of the disks have no use, since others are smaller.
    `physical_volumes` are those of the LVM group, where there is one. `redundancy` is that of the lower arrays first.
    `disks` are all that it takes, by their names in the plan.
    """

    steps: tuple[BuildStep, ...]
    top: Volume
    usable_bytes: int
    below: tuple[str, ...]
    unused_bytes: int = 0
    physical_volumes: tuple[str, ...] = ()
    redundancy: tuple[RedundantMembers, ...] = ()
    disks: tuple[str, ...] = ()


def build_of(layout: Layout, disks: Mapping[str, int], names: Names, point: str, faulty: Collection[str] = ()) -> Build:
    """The build of a layout on disks, given with their sizes by the names in the plan; mounted at `point`.

    `faulty` disks can be made slow, or made to fail. Raises LayoutError where these disks cannot have the layout.
    """
    taken = {disk_named(name, disks) for layer in layout.layers for name in layer.disks()}
    chosen = [disk_named(name, disks) for name in layout.disks] or list(disks)
    volumes = _volumes([name for name in chosen if name not in taken], disks)
    if not volumes:
        raise LayoutError("no disk is left for the layers below: every one is a layer's own")
    if lacking := set(faulty) - {volume.path for volume in volumes}:
        raise LayoutError(f"an event is of {min(lacking)}, and its layers do not lie on that disk")
    lowest = with_faults(volumes, faulty, names)
    steps, volumes = list(lowest.steps), lowest.volumes
    below, unused_bytes = volumes, 0
    physical_volumes: tuple[str, ...] = ()
    redundancy: tuple[RedundantMembers, ...] = ()
    for layer in layout.layers:
        below = volumes
        cache_disks = [disk_named(name, disks) for name in layer.disks()]
        made = layer.make(volumes, _volumes(cache_disks, disks), names)
        steps += made.steps
        unused_bytes += made.unused_bytes
        redundancy += made.redundancy
        volumes = made.volumes
        physical_volumes = volumes[0].physical_volumes or physical_volumes
    top = only(volumes, "a load on the device itself" if layout.file_system is None else layout.file_system.kind)
    usable, lower = top.size_bytes, volumes
    if layout.file_system is not None:
        options = ["-o", ",".join(layout.mount_options)] if layout.mount_options else []
        source = layout.file_system.source(names, top)
        steps.append(BuildStep(argv=("mount", "-t", layout.file_system.kind, *options, source, point)))
        usable, lower = layout.file_system.usable_bytes(top.size_bytes), below
    lower_paths = tuple(volume.path for volume in lower)
    taking = tuple(dict.fromkeys([*chosen, *taken]))
    return Build(tuple(steps), top, usable, lower_paths, unused_bytes, physical_volumes, redundancy, taking)


def _volumes(names: Sequence[str], disks: Mapping[str, int]) -> tuple[Volume, ...]:
    return tuple(Volume(path=name, size_bytes=disks[name], disks=(name,)) for name in names)
