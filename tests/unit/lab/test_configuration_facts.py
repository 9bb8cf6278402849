"""Facts of a server from its own file: values with their units, what the file leaves open, and wrong names."""

from pathlib import Path

import pytest

from paribus.audit import Lack, SettingInForce
from paribus.errors import UsageError
from paribus.lab.audit.configuration_facts import configuration_facts

MARIADB = """
[client]
port = 3307
[mysqld]
innodb_buffer_pool_size = 1G
key_buffer_size = 1048576
skip-name-resolve
sync_binlog = 0
innodb_io_capacity = 200  # a comment
innodb_flush_method = O_DIRECT
"""
POSTGRES = """
shared_buffers = 16384
effective_cache_size = '4GB'
checkpoint_timeout = 5min
checkpoint_completion_target = 0.5
fsync = off
max_connections = 300
"""


def test_values_of_mariadb_have_the_units_that_rules_use(tmp_path: Path) -> None:
    file = tmp_path / "my.cnf"
    file.write_text(MARIADB)
    facts = configuration_facts(str(file), "mariadb-10.11")
    assert facts.facts() == {"server": "mariadb", "version": "10.11"}
    assert facts.settings() == {
        "mysql.innodb_buffer_pool_size": SettingInForce(value=2**30, unit="bytes"),
        "mysql.key_buffer_size": SettingInForce(value=2**20, unit="bytes"),
        "mysql.skip_name_resolve": SettingInForce(value="ON"),
        "mysql.sync_binlog": SettingInForce(value=0),
        "mysql.innodb_io_capacity": SettingInForce(value=200),
        "mysql.innodb_flush_method": SettingInForce(value="O_DIRECT"),
    }


def test_a_number_of_postgres_without_its_unit_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "postgresql.conf"
    file.write_text(POSTGRES)
    facts = configuration_facts(str(file), "postgres 17")
    assert facts.settings() == {
        "postgres.effective_cache_size": SettingInForce(value=2**32, unit="bytes"),
        "postgres.checkpoint_timeout": SettingInForce(value=300_000, unit="ms"),
        "postgres.checkpoint_completion_target": SettingInForce(value=0.5),
        "postgres.fsync": SettingInForce(value="off"),
        "postgres.max_connections": SettingInForce(value=300),
    }
    assert facts.offers()["postgres.effective_cache_size"].current == "4GB"


def test_a_setting_that_the_file_leaves_out_is_not_read_unless_the_version_lacks_it(tmp_path: Path) -> None:
    file = tmp_path / "my.cnf"
    file.write_text(MARIADB)
    lacks = configuration_facts(str(file), "mariadb-10.11").lacks(
        ["mysql.max_connections", "mysql.innodb_buffer_pool_instances", "mysql.sync_binlog", "vm.swappiness"]
    )
    assert lacks["mysql.max_connections"] == Lack(why=f"{file} does not set it, or not with a unit")
    assert lacks["mysql.innodb_buffer_pool_instances"].is_absent
    assert lacks.keys() == {"mysql.max_connections", "mysql.innodb_buffer_pool_instances"}


@pytest.mark.parametrize("server", ["", "oracle-19", "sqlite", "mariadb-ten"])
def test_other_servers_are_refused(tmp_path: Path, server: str) -> None:
    with pytest.raises(UsageError, match="is no server"):
        configuration_facts(str(tmp_path / "my.cnf"), server)
