"""Records of the storage layouts that trials had."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutUse:
    """A layout, or a combination of settings with its layout, under a workload.

    Attributes:
        level: Its name in the plan; `baseline` is the layout that combinations are compared with.
        layers: Its layers, the lowest first, as text.
        usable_bytes: What its file system offers to users; None where no trial measured it.
        written_per_byte: Bytes that reached the disks for each byte that the load wrote. Where the load does not count
            its bytes: for each byte written to the layout. None where neither is known.
        share_of_best: Its throughput as a share of that of the fastest layout, the mean over the load levels; None
            where no throughput was measured.
        cache_hit_share: The share of its cache's lookups that hit, settling included; None without a cache.
        cache_dirty_bytes: What was not yet on the slow disks at the end of a trial, the mean; None without a cache.
        operations_per_operation: Reads and writes of the disks for each operation of the load; None where unknown.
    """

    level: str
    workload: str
    layers: tuple[str, ...]
    usable_bytes: float | None
    written_per_byte: float | None
    operations_per_operation: float | None
    share_of_best: float | None
    cache_hit_share: float | None = None
    cache_dirty_bytes: float | None = None
    trials: tuple[int, ...]
