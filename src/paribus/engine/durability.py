"""Flushes, the page cache and a file system cut off, on a machine by the engine there."""

import json
from collections.abc import Sequence

from paribus.engine.protocol import CutOff, DiskExtent, Flushed, PageCache
from paribus.engine.run import understand
from paribus.errors import EngineError
from paribus.hosts.transport import Host


def flush(host: Host, binary: str, file: str) -> Flushed:
    """Write a file of 1 MiB, again in its place where it is there, and flush it. Raises EngineError."""
    event = _event(host, [binary, "flush", file])
    if not isinstance(event, Flushed):
        raise _of_another_release(host)
    return event


def page_cache(host: Host, binary: str, file: str, extents: Sequence[DiskExtent]) -> PageCache:
    """Count the bytes of these parts of a file or a block device that only memory has. Raises EngineError."""
    parts = json.dumps([extent.model_dump() for extent in extents])
    event = _event(host, [binary, "page-cache", file, parts])
    if not isinstance(event, PageCache):
        raise _of_another_release(host)
    return event


def cut_off(host: Host, binary: str, point: str, device: str) -> None:
    """Have the file system of `device`, mounted at `point` alone, lose what it has not written. Raises EngineError."""
    if not isinstance(_event(host, [binary, "cut-off", point, device]), CutOff):
        raise _of_another_release(host)


def _event(host: Host, argv: list[str]) -> object:
    done = host.run(argv)
    return understand(done.stdout.strip() or done.stderr)


def _of_another_release(host: Host) -> EngineError:
    message = f"the engine on {host.name} gave another answer than it was asked for"
    return EngineError("protocol-mismatch", message, "install the engine and Paribus from one release")
