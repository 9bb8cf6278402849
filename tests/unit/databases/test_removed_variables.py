"""Explanations of removed variables that older advice still names."""

import pytest

from paribus.databases.server.kind import database_kinds
from paribus.databases.server.removed_variables import _rows, explain, version_of


@pytest.mark.parametrize(
    ("kind", "version", "name", "expected"),
    [
        ("mariadb", "10.11.19", "innodb_buffer_pool_instances", "since 10.5.1"),
        ("mariadb", "10.4.30", "innodb_buffer_pool_instances", ""),
        ("mysql", "8.4.3", "innodb_buffer_pool_instances", ""),
        ("mysql", "8.0.36", "query_cache_size", "since 8.0.3"),
        ("mysql", "8.0.36", "innodb_flush_neighbor_pages", "never had"),
        ("mariadb", "10.11.19", "query_cache_size", ""),
        ("postgres", "15.18", "checkpoint_segments", "max_wal_size"),
        ("postgres", "9.4", "checkpoint_segments", ""),
        ("postgres", "15.18", "shared_buffers", ""),
    ],
)
def test_a_name_is_explained_where_it_is_gone(kind: str, version: str, name: str, expected: str) -> None:
    explanation = explain(kind, version, name)
    assert expected in explanation
    assert bool(expected) == bool(explanation)


def test_the_table_is_of_kinds_that_there_are_and_has_each_name_once() -> None:
    names = [name for row in _rows() for name in row["names"]]
    assert len(names) == len(set(names))
    for row in _rows():
        assert set(row["since"]) <= set(database_kinds)
        assert all(since == "never" or version_of(since) for since in row["since"].values())
        assert row["why"]
