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
    specific = _answer(host, "info", image_format, image).get("format-specific", {})
    if specific.get("data", {}).get("data-file"):
        raise HostError(f"{image} keeps its data in another file")
    return [part for extent in extents for part in _mapped(host, image, image_format, extent)]


def _answer(host: Host, command: str, image_format: str, image: str, *options: str) -> Any:
    """The answer of a command of qemu-img. Raises HostError."""
    argv = ["env", full_path(host, "qemu-img"), command, "--force-share", "--output=json", "-f", image_format]
    done = host.run([*argv, *options, image])
    if done.exit_code == _NO_PROGRAM:
        raise Missing("the hypervisor has no qemu-img", "install it there; it is in qemu-utils")
    if done.exit_code != 0:
        raise HostError(f"qemu-img does not read {image}: {done.stderr.strip()}")
    try:
        return json.loads(done.stdout)
    except ValueError as error:
        raise BadReply(f"qemu-img describes {image} in a form that is not understood: {error}") from error


def _mapped(host: Host, image: str, image_format: str, extent: DiskExtent) -> Iterator[DiskExtent]:
    options = f"--start-offset={extent.offset}", f"--max-length={extent.length}"
    entries = _answer(host, "map", image_format, image, *options)
    try:
        in_image = [entry for entry in entries if entry["depth"] == 0 and "offset" in entry]
        parts = [DiskExtent(offset=entry["offset"], length=entry["length"]) for entry in in_image]
    except (KeyError, TypeError, ValueError) as error:
        raise BadReply(f"qemu-img describes {image} in a form that is not understood: {error}") from error
    if sum(part.length for part in parts) != extent.length:
        raise HostError(f"a part of the guest's disk lies in no part of {image}")
    yield from parts
