"""Metrics from a server's counters."""

import pytest

from paribus.databases.server.counters import metrics, names


def test_a_counter_is_what_it_grew_a_second_and_a_level_what_it_is() -> None:
    counters = {"Innodb_data_fsyncs": 150.0, "Innodb_buffer_pool_pages_dirty": 5.0, "Threads_running": 9.0}
    grown = {"Innodb_data_fsyncs": 50.0, "Innodb_buffer_pool_pages_dirty": -2.0, "Threads_running": 1.0}
    assert metrics("mysql", counters, grown, 10.0) == {
        "server_fsyncs_per_s": ("1/s", 5.0),
        "server_dirty_pages": ("", 5.0),
        "server_threads_running": ("", 8.0),  # the reading itself is no load
    }


def test_waiting_for_rows_is_in_seconds_a_second() -> None:
    grown = {"Innodb_row_lock_waits": 4.0, "Innodb_row_lock_time": 3000.0}
    values = metrics("mysql", grown, grown, 2.0)
    assert values["server_row_lock_waits_per_s"] == ("1/s", 2.0)
    assert values["server_row_lock_waited_s_per_s"] == ("s/s", 1.5)


def test_the_share_of_hits_is_that_of_what_was_asked() -> None:
    grown = {"Innodb_buffer_pool_reads": 5.0, "Innodb_buffer_pool_read_requests": 100.0}
    assert metrics("mysql", {}, grown, 1.0)["server_buffer_hit_share"] == ("", 0.95)
    grown = {"pg_stat_database.blks_read": 5.0, "pg_stat_database.blks_hit": 95.0}
    assert metrics("postgres", {}, grown, 1.0)["server_buffer_hit_share"] == ("", 0.95)
    nothing = dict.fromkeys(grown, 0.0)
    assert "server_buffer_hit_share" not in metrics("postgres", {}, nothing, 1.0)


@pytest.mark.parametrize(
    ("counters", "age"),
    [
        ({"Innodb_checkpoint_age": 300.0}, 300.0),
        ({"Innodb_redo_log_current_lsn": 900.0, "Innodb_redo_log_checkpoint_lsn": 500.0}, 400.0),  # MySQL 8.0.30
    ],
)
def test_the_age_of_the_checkpoint_is_told_by_every_version(counters: dict[str, float], age: float) -> None:
    assert metrics("mysql", counters, {}, 1.0) == {"server_checkpoint_age_bytes": ("B", age)}


def test_newer_versions_of_postgres_count_writes_elsewhere() -> None:
    old = {f"pg_stat_bgwriter.buffers_{who}": 2.0 for who in ("checkpoint", "clean", "backend")}
    assert metrics("postgres", {}, old, 1.0)["server_data_writes_per_s"] == ("1/s", 6.0)
    new = {"pg_stat_io:data.writes": 7.0, "pg_stat_checkpointer.buffers_written": 3.0}
    values = metrics("postgres", {}, old | new, 1.0)
    assert values["server_data_writes_per_s"] == ("1/s", 7.0)
    assert metrics("postgres", {}, new, 1.0)["server_checkpoint_pages_per_s"] == ("1/s", 3.0)


@pytest.mark.parametrize("family", ["mysql", "postgres"])
def test_missing_counters_are_left_out(family: str) -> None:
    assert metrics(family, {}, {}, 1.0) == {}
    assert len(names(family)) == len(set(names(family))) > 10
