"""The image behind a guest's disk: where in it parts of the disk lie.

In: extents of a disk. Out: extents of its image, as qemu-img(1) tells them of images that are not raw.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from paribus.engine.protocol import DiskExtent
from paribus.errors import BadReply, HostError, Missing
from paribus.hosts.programs import full_path
from paribus.hosts.transport import Host

_NO_PROGRAM = 127


def extents_in(host: Host, image: str, image_format: str, extents: Sequence[DiskExtent]) -> list[DiskExtent]:
    """The extents of an image that hold these of its disk; the image may be in use. Raises HostError."""
    if image_format == "raw":
        return list(extents)
    return [part for extent in extents for part in _mapped(host, image, image_format, extent)]


def _mapped(host: Host, image: str, image_format: str, extent: DiskExtent) -> Iterator[DiskExtent]:
    argv = [full_path(host, "qemu-img"), "map", "--force-share", "--output=json", "-f", image_format]
    done = host.run([*argv, f"--start-offset={extent.offset}", f"--max-length={extent.length}", image])
    if done.exit_code == _NO_PROGRAM:
        raise Missing("the hypervisor has no qemu-img", "install it there; it is in qemu-utils")
    if done.exit_code != 0:
        raise HostError(f"qemu-img does not read {image}: {done.stderr.strip()}")
    try:
        entries: list[dict[str, Any]] = json.loads(done.stdout)
        in_image = [entry for entry in entries if entry["depth"] == 0 and "offset" in entry]
        parts = [DiskExtent(offset=entry["offset"], length=entry["length"]) for entry in in_image]
    except (ValueError, KeyError, TypeError) as error:
        raise BadReply(f"qemu-img describes {image} in a form that is not understood: {error}") from error
    if sum(part.length for part in parts) != extent.length:
        raise HostError(f"a part of the guest's disk lies in no part of {image}")
    yield from parts
