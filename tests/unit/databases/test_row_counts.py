"""Whether data that was put back is what was made, and the one statement that reads PostgreSQL's counters."""

import pytest

from paribus.databases.postgres.postgres_counters import made_of
from paribus.databases.server.row_counts import RowCounts, difference


@pytest.mark.parametrize(
    ("counted", "message"),
    [
        ({"a": 1000, "b": 2}, ""),
        ({"a": 999, "b": 2}, "a has 999 rows instead of 1,000"),
        ({"b": 3}, "a is gone; b has 3 rows instead of 2"),
        ({"a": 1000, "b": 2, "c": 0}, "c was not made"),
    ],
)
def test_a_difference_names_the_table(counted: dict[str, int], message: str) -> None:
    assert difference(RowCounts({"a": 1000, "b": 2}, 0.1), RowCounts(counted, 0.1)) == message


def test_each_view_of_postgres_is_read_once() -> None:
    text = made_of(["pg_stat_wal.wal_bytes", "pg_stat_database.blks_hit", "pg_stat_wal.wal_sync"], age=True)
    assert text.count("FROM pg_stat_wal") == text.count("FROM pg_stat_database") == 1
    assert "sum(wal_bytes) AS sum_0, sum(wal_sync) AS sum_1" in text
    assert text.count("UNION ALL") == 2  # and the age of the checkpoint


def test_rows_of_the_log_are_not_counted_as_those_of_data() -> None:
    text = made_of(["pg_stat_io:data.writes", "pg_stat_io:log.writes"], age=False)
    assert "coalesce(sum(writes) FILTER (WHERE object <> 'wal'), 0) AS sum_0" in text
    assert "coalesce(sum(writes) FILTER (WHERE object = 'wal'), 0) AS sum_1" in text
    assert text.count("FROM pg_stat_io") == 1
