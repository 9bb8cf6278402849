"""Buffers and logs of a private server that the machine has no room for."""

import pytest
from plan_samples import checked

from paribus.errors import PlanError
from paribus.model import DatabaseFacts, Knob, Plan

POOL, LOG = (
    Knob(
        name=f"mysql.{name}", kind="variable", addresses=(name,), type="number", summary="", documentation="",
        takes_effect="restart", aliases=(f"mariadb.{name}",),
    )
    for name in ("innodb_buffer_pool_size", "innodb_log_file_size")
)  # fmt: skip
SERVER = DatabaseFacts(name="mariadb 10.11", rows=(POOL, LOG), empty_bytes=1, copy_bytes_per_s=1e8)
OLTP = '[[workload]]\nkind = "oltp_read_write"\ntable_size = 1000\nthreads = [4]\n'
DATABASE = '[database]\nkind = "mariadb"\n'


def _plan(factors: str, database: str = DATABASE) -> Plan:
    return checked(f'name = "n"\n[factors]\n{factors}\n{database}{OLTP}', database=SERVER)


def _refused(factors: str, database: str = DATABASE) -> str:
    with pytest.raises(PlanError) as error:
        _plan(factors, database)
    return str(error.value)


def test_a_buffer_pool_beyond_the_memory_is_refused() -> None:
    shown = _refused('"mariadb.innodb_buffer_pool_size" = ["1GiB", "900GiB"]')
    assert "900 GiB is more than the memory of db1, 8 GiB" in shown
    assert "1 problem" in shown
    for size in ("900GB", "900g", "943718400kB", "966367641600"):
        refused = _refused(f'"mysql.innodb_buffer_pool_size" = ["1GiB", "{size}"]')
        assert "900 GiB is more than the memory" in refused, size
    assert _plan('"mysql.innodb_buffer_pool_size" = ["1GiB", "6GiB"]').factors


def test_a_log_beyond_the_disk_is_refused_wherever_it_is_written() -> None:
    pools = '"mysql.innodb_buffer_pool_size" = ["1GiB", "2GiB"]'
    for text in ('settings = { innodb_log_file_size = "2TiB" }\n', '[hold]\n"mysql.innodb_log_file_size" = "2TiB"\n'):
        assert "2 TiB is more than /data has free, 1 TiB" in _refused(pools, DATABASE + text)
    logs = '"mysql.innodb_log_file_size" = ["1GiB", 2199023255552]'
    assert "2 TiB is more than /data has free" in _refused(logs)
