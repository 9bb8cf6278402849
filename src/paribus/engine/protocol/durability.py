"""Events about durability: a flushed file, how much of its place only memory has, and a file system cut off."""

from typing import Annotated, Literal

from pydantic import Field

from paribus.engine.protocol.message import Message

_MOST_EXTENTS = 1024  # of 1 MiB, in blocks of 1 KiB


class DiskExtent(Message):
    """Neighbouring bytes of a disk or an image."""

    offset: Annotated[int, Field(ge=0, lt=2**62)]
    length: Annotated[int, Field(gt=0, lt=2**62)]


class Flushed(Message):
    """A file whose content its file system acknowledged to be on the disk.

    `disk` is None, and `extents` are empty, where its place on a disk is unknown.
    """

    event: Literal["flushed"]
    bytes: int
    disk: str | None
    extents: Annotated[list[DiskExtent], Field(max_length=_MOST_EXTENTS)]


class PageCache(Message):
    """Of `bytes` in whole pages of a file or a block device, those that only memory has.

    They are None where that is unknown, for the reason `unknown`.
    """

    event: Literal["page-cache"]
    bytes: int
    unwritten_bytes: int | None
    unknown: str | None


class CutOff(Message):
    """A file system that has lost what it had not written, and refuses everything until it is mounted again."""

    event: Literal["cut-off"]
    point: str
    filesystem: str
