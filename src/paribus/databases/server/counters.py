"""Counters of a server: which are read, and the metrics of a second of load.

In: two readings a second apart. Out: metrics, with the same name for all servers where they mean the same. Counters
have the names of SHOW GLOBAL STATUS, and `view.column` of PostgreSQL, summed over the rows of the view. `view:part`
has some of its rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass

_PAGE_BYTES = 8192  # of PostgreSQL, unless it was built otherwise
CHECKPOINT_AGE = "checkpoint_age"  # of PostgreSQL: bytes of log since the last checkpoint began


@dataclass(frozen=True, slots=True)
class _Metric:
    """The sum of some counters minus others: its growth per second, or its value where `is_level`.

    `scale` converts the server's unit; `own_share` is what the reading itself adds.
    """

    name: str
    counters: tuple[str, ...]
    unit: str = "1/s"
    without: tuple[str, ...] = ()
    is_level: bool = False
    scale: float = 1.0
    own_share: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        return self.counters + self.without


@dataclass(frozen=True, slots=True)
class _Hits:
    """The share of requests that the server's own cache answered."""

    misses: str
    requests: tuple[str, ...]


def _level(name: str, *counters: str, unit: str = "", without: tuple[str, ...] = (), own_share: float = 0.0) -> _Metric:
    return _Metric(name, counters, unit, without, is_level=True, own_share=own_share)


# By family. Of several rows for one metric, the first counts whose counters the server has.
_METRICS = {
    "mysql": (
        _Metric("server_data_reads_per_s", ("Innodb_data_reads",)),
        _Metric("server_data_writes_per_s", ("Innodb_data_writes",)),
        _Metric("server_fsyncs_per_s", ("Innodb_data_fsyncs",)),
        _Metric("server_log_writes_per_s", ("Innodb_log_writes",)),
        _Metric("server_log_written_bytes_per_s", ("Innodb_os_log_written",), "B/s"),
        _Metric("server_log_waits_per_s", ("Innodb_log_waits",)),
        _Metric("server_binlog_transactions_per_s", ("Binlog_commits",)),
        _Metric("server_binlog_transactions_per_s", ("Binlog_cache_use", "Binlog_stmt_cache_use")),
        _Metric("server_row_lock_waits_per_s", ("Innodb_row_lock_waits",)),
        _Metric("server_row_lock_waited_s_per_s", ("Innodb_row_lock_time",), "s/s", scale=1e-3),
        _Metric("server_buffer_misses_per_s", ("Innodb_buffer_pool_reads",)),
        _Metric("server_buffer_requests_per_s", ("Innodb_buffer_pool_read_requests",)),
        _Metric("server_buffer_waits_per_s", ("Innodb_buffer_pool_wait_free",)),
        _Metric("server_flushed_pages_per_s", ("Innodb_buffer_pool_pages_flushed",)),
        _level("server_dirty_pages", "Innodb_buffer_pool_pages_dirty"),
        _level("server_checkpoint_age_bytes", "Innodb_checkpoint_age", unit="B"),
        _level(
            "server_checkpoint_age_bytes",
            "Innodb_redo_log_current_lsn",
            unit="B",
            without=("Innodb_redo_log_checkpoint_lsn",),
        ),
        _level("server_history_length", "Innodb_history_list_length"),
        _level("server_threads_running", "Threads_running", own_share=1.0),
    ),
    "postgres": (
        _Metric("server_data_reads_per_s", ("pg_stat_io:data.reads",)),
        _Metric("server_data_reads_per_s", ("pg_stat_database.blks_read",)),
        _Metric("server_data_writes_per_s", ("pg_stat_io:data.writes",)),
        _Metric(
            "server_data_writes_per_s",
            (
                "pg_stat_bgwriter.buffers_checkpoint",
                "pg_stat_bgwriter.buffers_clean",
                "pg_stat_bgwriter.buffers_backend",
            ),
        ),
        _Metric("server_fsyncs_per_s", ("pg_stat_wal.wal_sync",)),
        _Metric("server_fsyncs_per_s", ("pg_stat_io:log.fsyncs",)),  # PostgreSQL 18 counts its log there
        _Metric("server_log_writes_per_s", ("pg_stat_wal.wal_write",)),
        _Metric("server_log_writes_per_s", ("pg_stat_io:log.writes",)),
        _Metric("server_log_written_bytes_per_s", ("pg_stat_wal.wal_bytes",), "B/s"),
        _Metric("server_log_waits_per_s", ("pg_stat_wal.wal_buffers_full",)),
        _Metric("server_buffer_misses_per_s", ("pg_stat_database.blks_read",)),
        _Metric("server_buffer_requests_per_s", ("pg_stat_database.blks_read", "pg_stat_database.blks_hit")),
        _Metric("server_checkpoint_pages_per_s", ("pg_stat_bgwriter.buffers_checkpoint",)),
        _Metric("server_checkpoint_pages_per_s", ("pg_stat_checkpointer.buffers_written",)),
        _Metric("server_backend_pages_per_s", ("pg_stat_bgwriter.buffers_backend",)),
        _Metric(  # PostgreSQL 18 counts operations of several pages, and bytes
            "server_backend_pages_per_s",
            ("pg_stat_io:backends.write_bytes", "pg_stat_io:backends.extend_bytes"),
            scale=1 / _PAGE_BYTES,
        ),
        _Metric("server_backend_pages_per_s", ("pg_stat_io:backends.writes", "pg_stat_io:backends.extends")),
        _Metric("server_cleaned_pages_per_s", ("pg_stat_bgwriter.buffers_clean",)),
        _Metric("server_temporary_bytes_per_s", ("pg_stat_database.temp_bytes",), "B/s"),
        _Metric("server_deadlocks_per_s", ("pg_stat_database.deadlocks",)),
        _level("server_checkpoint_age_bytes", CHECKPOINT_AGE, unit="B"),
    ),
}
_HITS = {
    "mysql": _Hits("Innodb_buffer_pool_reads", ("Innodb_buffer_pool_read_requests",)),
    "postgres": _Hits("pg_stat_database.blks_read", ("pg_stat_database.blks_read", "pg_stat_database.blks_hit")),
}
_HIT_SHARE = "server_buffer_hit_share"


def names(family: str) -> list[str]:
    """The counters to read, each once; no server has them all."""
    hits = _HITS[family]
    counters = [name for metric in _METRICS[family] for name in metric.names]
    return list(dict.fromkeys([*counters, hits.misses, *hits.requests]))


def metrics(
    family: str, counters: Mapping[str, float], grown: Mapping[str, float], duration_s: float
) -> dict[str, tuple[str, float]]:
    """By metric, its unit and its value in the `duration_s` before a reading of these `counters`.

    A metric whose counters a server of that version lacks is left out, and so is the share of hits without requests.
    """
    values: dict[str, tuple[str, float]] = {}
    for metric in _METRICS[family]:
        read = counters if metric.is_level else grown
        if metric.name in values or not all(name in read for name in metric.names):
            continue
        total = (
            sum(read[name] for name in metric.counters) - sum(read[name] for name in metric.without) - metric.own_share
        )
        values[metric.name] = (metric.unit, metric.scale * (total if metric.is_level else total / duration_s))
    hits = _HITS[family]
    if hits.misses in grown and (requests := sum(grown.get(name, 0.0) for name in hits.requests)) > 0:
        values[_HIT_SHARE] = ("", max(0.0, 1 - grown[hits.misses] / requests))
    return values
