"""Mounted file systems, from /proc/self/mountinfo."""

import re
from pathlib import PurePosixPath

from paribus.errors import HostError, Missing
from paribus.hosts.transport import Host
from paribus.model import Mounted

MOUNTINFO = "/proc/self/mountinfo"
_FIELDS = 6


def mounts(text: str) -> tuple[Mounted, ...]:
    """Every mount in mount order: of two at one point the last is on top. Raises HostError."""
    mounted = []
    for line in text.splitlines():
        mount, _, filesystem = line.partition(" - ")
        fields, description = mount.split(" "), filesystem.split(" ", 2)
        if len(fields) < _FIELDS or len(description) != 3:
            raise HostError(f"{MOUNTINFO} has a line that does not describe a mount: {line[:200]}")
        kind, source, options = description
        mounted.append(
            Mounted(point=_plain(fields[4]), source=_plain(source), filesystem=kind, flags=fields[5], options=options)
        )
    return tuple(mounted)


def mounted_at(text: str, point: str) -> Mounted:
    """The file system mounted at exactly that point. Raises Missing."""
    for mount in reversed(mounts(text)):
        if mount.point == point:
            return mount
    raise Missing(f"nothing is mounted at {point}", "mount it, or name another folder as target.path")


def mount_of(host: Host, path: str) -> Mounted:
    """The file system that a path lies on. Raises HostError."""
    whole = PurePosixPath(host.resolve(path))
    over = [mount for mount in mounts(host.read(MOUNTINFO)) if whole.is_relative_to(mount.point)]
    if not over:
        raise HostError(f"{MOUNTINFO} lists no mount that has {whole}")
    return max(reversed(over), key=lambda mount: len(mount.point))


def _plain(text: str) -> str:
    """The kernel writes a blank as `\\040`."""
    return re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), text)
