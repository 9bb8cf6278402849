"""What of a server's counters becomes a metric."""

import pytest

from ceteris.databases.counters import metrics


def test_a_counter_is_what_it_grew_a_second_and_a_level_what_it_is() -> None:
    before = {"Innodb_data_fsyncs": 100.0, "Innodb_buffer_pool_pages_dirty": 7.0, "Uptime": 1.0}
    after = {"Innodb_data_fsyncs": 150.0, "Innodb_buffer_pool_pages_dirty": 5.0, "Uptime": 11.0}
    found = {metric: (unit, value) for metric, unit, value in metrics("mysql", before, after, 10.0)}
    assert found == {"server_fsyncs_per_s": ("1/s", 5.0), "server_dirty_pages": ("", 5.0)}


@pytest.mark.parametrize("family", ["mysql", "postgres"])
def test_what_a_server_does_not_count_is_left_out(family: str) -> None:
    assert metrics(family, {}, {}, 1.0) == []
