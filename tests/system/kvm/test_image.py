"""Places of a guest's disk in its image, as QEMU's own programs lay it out."""

import random
import subprocess
from pathlib import Path

import pytest

from paribus.engine.protocol import DiskExtent
from paribus.errors import HostError
from paribus.hosts.local import LocalHost
from paribus.trial.guests.image import extents_in

KIB = 1 << 10
EXTENT = DiskExtent(offset=1000 * KIB, length=300 * KIB)


def made(folder: Path, image_format: str) -> tuple[str, bytes]:
    """An image with random bytes at the extent, written in another order than that of the disk; those bytes."""
    image, content = folder / "image", random.Random(1).randbytes(EXTENT.length)
    source = folder / "content"
    source.write_bytes(content)
    subprocess.run(["qemu-img", "create", "-q", "-f", image_format, image, "64M"], check=True)
    halves = [(EXTENT.length // 2, EXTENT.length // 2), (0, EXTENT.length // 2)]
    for begin, length in halves:
        part = folder / "part"
        part.write_bytes(content[begin : begin + length])
        write = f"write -q -s {part} {EXTENT.offset + begin} {length}"
        subprocess.run(["qemu-io", "-f", image_format, "-c", write, image], check=True)
    return str(image), content


@pytest.mark.parametrize("image_format", ["raw", "qcow2"])
def test_the_place_of_a_part_is_where_its_content_is(tmp_path: Path, image_format: str) -> None:
    image, content = made(tmp_path, image_format)
    parts = extents_in(LocalHost(), image, image_format, [EXTENT])
    in_image = Path(image).read_bytes()
    assert b"".join(in_image[part.offset : part.offset + part.length] for part in parts) == content


def test_a_part_that_no_image_holds_is_refused(tmp_path: Path) -> None:
    image, _ = made(tmp_path, "qcow2")
    with pytest.raises(HostError, match="lies in no part of"):
        extents_in(LocalHost(), image, "qcow2", [DiskExtent(offset=0, length=KIB)])


def test_a_file_that_is_no_image_is_refused(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_text("text")
    with pytest.raises(HostError, match="qemu-img does not read"):
        extents_in(LocalHost(), str(wrong), "qcow2", [EXTENT])
