"""Levels to try of the knobs whose files do not list what they take."""

from paribus.model import Value

LEVELS: dict[str, tuple[Value, ...]] = {
    "block.read_ahead_kb": (0, 64, 4096),
    "block.nr_requests": (32, 64),
    "block.wbt_lat_usec": (0, 5000),
    "block.max_sectors_kb": (64, 512),
    "block.io_poll_delay": (-1,),
    "irq.affinity": ("0", "1", "0-1"),
    "kernel.numa_balancing": (0,),
    "kernel.sched_base_slice_ns": (2_000_000, 4_000_000),
    "kernel.sched_cfs_bandwidth_slice_us": (4000, 10_000),
    "kernel.sched_migration_cost_ns": (0, 5_000_000),
    "md.speed_limit_max": (100_000, 200_000),
    "md.speed_limit_min": (1000, 2000),
    "md.sync_speed_max": (100_000, "system"),
    "md.sync_speed_min": (2000, "system"),
    "mount.allocsize": ("64k", "dynamic"),
    "mount.commit": (1, 60, 5, 30),
    "mount.logbufs": (2, 8),
    "vm.compaction_proactiveness": (0, 50),
    "vm.dirty": ("15%", 64 * 2**20),
    "vm.dirty_background": ("5%", 32 * 2**20),
    "vm.dirty_expire_centisecs": (500, 3000),
    "vm.dirty_writeback_centisecs": (0, 100),
    "vm.max_map_count": (65_530, 262_144),
    "vm.min_free_kbytes": (30_000, 70_000),
    "vm.nr_hugepages": (2, 0),
    "vm.overcommit": ("60%", 2**36),
    "vm.overcommit_memory": (0, 1),  # with 2 other programs of this machine could not continue
    "vm.page-cluster": (0, 5),
    "vm.swappiness": (0, 1, 100),
    "vm.vfs_cache_pressure": (50, 200),
    "vm.watermark_scale_factor": (10, 200),
    "vm.zone_reclaim_mode": (0, 1),
}
