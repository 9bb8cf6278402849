"""What a server counts of itself during a window: from all its counters, those that explain a difference.

In: the counters at both ends of a window. Out: metrics, named alike for all servers where they mean the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass

Metric = tuple[str, str, float]  # name, unit, value


@dataclass(frozen=True, slots=True)
class _Counter:
    """A counter of a server; what it says now where `is_level`, else how much it grew each second."""

    name: str
    metric: str
    unit: str = "1/s"
    is_level: bool = False


# By family; the names are those of SHOW GLOBAL STATUS, and of the columns of PostgreSQL's views.
_COUNTERS = {
    "mysql": (
        _Counter("Innodb_data_reads", "server_data_reads_per_s"),
        _Counter("Innodb_data_writes", "server_data_writes_per_s"),
        _Counter("Innodb_data_fsyncs", "server_fsyncs_per_s"),
        _Counter("Innodb_os_log_written", "server_log_written_bytes_per_s", "B/s"),
        _Counter("Innodb_log_waits", "server_log_waits_per_s"),
        _Counter("Innodb_row_lock_waits", "server_row_lock_waits_per_s"),
        _Counter("Innodb_buffer_pool_reads", "server_buffer_misses_per_s"),
        _Counter("Innodb_buffer_pool_read_requests", "server_buffer_requests_per_s"),
        _Counter("Innodb_buffer_pool_wait_free", "server_buffer_waits_per_s"),
        _Counter("Innodb_buffer_pool_pages_dirty", "server_dirty_pages", "", is_level=True),
        _Counter("Innodb_checkpoint_age", "server_checkpoint_age_bytes", "B", is_level=True),
        _Counter("Innodb_history_list_length", "server_history_length", "", is_level=True),
        _Counter("Threads_running", "server_threads_running", "", is_level=True),
    ),
    "postgres": (
        _Counter("pg_stat_database.blks_read", "server_buffer_misses_per_s"),
        _Counter("pg_stat_database.temp_bytes", "server_temporary_bytes_per_s", "B/s"),
        _Counter("pg_stat_database.deadlocks", "server_deadlocks_per_s"),
        _Counter("pg_stat_wal.wal_bytes", "server_log_written_bytes_per_s", "B/s"),
        _Counter("pg_stat_wal.wal_write", "server_log_writes_per_s"),
        _Counter("pg_stat_wal.wal_sync", "server_fsyncs_per_s"),
        _Counter("pg_stat_wal.wal_buffers_full", "server_log_waits_per_s"),
        _Counter("pg_stat_bgwriter.buffers_checkpoint", "server_checkpoint_pages_per_s"),
        _Counter("pg_stat_bgwriter.buffers_backend", "server_backend_pages_per_s"),
        _Counter("pg_stat_bgwriter.buffers_clean", "server_cleaned_pages_per_s"),
    ),
}


def metrics(family: str, before: Mapping[str, float], after: Mapping[str, float], duration_s: float) -> list[Metric]:
    """The metrics of a window of so many seconds; what a server of that version does not count is left out."""
    return [
        (one.metric, one.unit, after[one.name] if one.is_level else (after[one.name] - before[one.name]) / duration_s)
        for one in _COUNTERS[family]
        if one.name in before and one.name in after
    ]
