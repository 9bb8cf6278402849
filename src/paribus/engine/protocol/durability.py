"""Events about durability: a file that was flushed, and how much of its place only memory has."""

from typing import Literal

from paribus.engine.protocol.message import Message


class DiskExtent(Message):
    """Neighbouring bytes of a disk or an image."""

    offset: int
    length: int


class Flushed(Message):
    """A file whose content its file system acknowledged to be on the disk.

    `disk` is None, and `extents` are empty, where its place on a disk is unknown.
    """

    event: Literal["flushed"]
    bytes: int
    disk: str | None
    extents: list[DiskExtent]


class PageCache(Message):
    """Of `bytes` in whole pages of a file or a block device, those that only memory has.

    They are None where that is unknown, for the reason `unknown`.
    """

    event: Literal["page-cache"]
    bytes: int
    unwritten_bytes: int | None
    unknown: str | None
