"""Hits and dirty data of the caches that layouts put before slow disks.

In: the names of a layout's devices. Out: counts since the cache was made, and measurements of a trial. Called by the
session of layouts.

Sources: the kernel's Documentation/admin-guide/device-mapper/cache.rst and writecache.rst (the words of a status), and
Documentation/admin-guide/bcache.rst (stats_total, dirty_data).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from paribus.errors import HostError, Unreachable
from paribus.hosts.storage.devices import SECTOR_BYTES
from paribus.hosts.transport import Host
from paribus.knobs.layouts.volume import Names
from paribus.model import Measurement

_WRITECACHE_BLOCK_BYTES = 4096  # the default of lvm


@dataclass(frozen=True, slots=True)
class CacheCounts:
    """Lookups of a cache, how many of them hit, and the bytes that are not yet on the slow disk."""

    lookups: int
    hits: int
    dirty_bytes: float


def cache_counts(host: Host, names: Names) -> CacheCounts | None:
    """The counts of the layout's cache; None where it has none. Raises Unreachable."""
    try:
        folder = f"/sys/class/block/{host.resolve(names.cached_path).removeprefix('/dev/')}/bcache"
        if host.names(folder):
            return _of_bcache(host, folder)
        status = host.run(["dmsetup", "status", "--noflush", f"{names.group}-data"])
    except Unreachable:
        raise
    except HostError:
        return None
    return parse_status(status.stdout.split()) if status.exit_code == 0 else None


def parse_status(words: Sequence[str]) -> CacheCounts | None:
    """The counts in a status of device-mapper, `0 8192 cache 8 27/1024 …`; None for other targets."""
    kind, counts = (words[2], words[3:]) if len(words) > 3 else ("", ())
    try:
        if kind == "cache":
            block_bytes = int(counts[2]) * SECTOR_BYTES
            read_hits, read_misses, write_hits, write_misses = map(int, counts[4:8])
            hits = read_hits + write_hits
            return CacheCounts(hits + read_misses + write_misses, hits, int(counts[10]) * block_bytes)
        if kind == "writecache":
            blocks, free = int(counts[1]), int(counts[2])
            return CacheCounts(int(counts[4]), int(counts[5]), (blocks - free) * _WRITECACHE_BLOCK_BYTES)
    except (ValueError, IndexError):  # a kernel that tells less
        return None
    return None


def measurements(before: CacheCounts | None, after: CacheCounts | None) -> tuple[Measurement, ...]:
    """The share of a trial's lookups that hit, and what was dirty at its end."""
    if before is None or after is None:
        return ()
    lookups = after.lookups - before.lookups
    dirty = Measurement.of_value("cache_dirty_bytes", "B", after.dirty_bytes, "measure", "status")
    if lookups <= 0:
        return (dirty,)
    share = (after.hits - before.hits) / lookups
    return dirty, Measurement.of_value("cache_hit_share", "", share, "measure", "status")


def _of_bcache(host: Host, folder: str) -> CacheCounts:
    total = f"{folder}/stats_total"
    hits, misses = (int(host.read(f"{total}/{name}")) for name in ("cache_hits", "cache_misses"))
    return CacheCounts(hits + misses, hits, parse_dirty(host.read(f"{folder}/dirty_data")))


def parse_dirty(text: str) -> float:
    """Bytes of `1.5M` or `0.0k`, in powers of 1024."""
    number = text.strip()
    units = {"k": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
    return float(number[:-1]) * units[number[-1]] if number[-1] in units else float(number)
