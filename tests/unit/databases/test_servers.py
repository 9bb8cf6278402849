"""Kinds of servers without a server: recognising programs, spelling values, reading complaints and variables."""

from collections.abc import Sequence

import pytest

from paribus.databases import Instance, TakesEffect
from paribus.databases.server.kind import database_kinds
from paribus.databases.server.start_failure import would_not_start
from paribus.engine.protocol import Rows, Server
from paribus.errors import DatabaseError, UsageError
from paribus.hosts.fake import FakeHost
from paribus.hosts.transport import Completed

VERSIONS = {
    "/usr/sbin/mariadbd": "/usr/sbin/mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64",
    "/opt/m/bin/mysqld": "/opt/m/bin/mysqld  Ver 8.4.3 for Linux on x86_64 (MySQL Community Server - GPL)",
    "/opt/p/bin/mysqld": "/opt/p/bin/mysqld  Ver 8.0.36-28 for Linux on x86_64 (Percona Server (GPL), Release 28)",
    "/usr/lib/postgresql/9.6/bin/postgres": "postgres (PostgreSQL) 9.6.24",
    "/usr/lib/postgresql/15/bin/postgres": "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)",
}


class Programs(FakeHost):
    """A host that has these programs, each at its place, and none on PATH."""

    def __init__(self, paths: Sequence[str]) -> None:
        super().__init__(dict.fromkeys(paths, ""))

    def run(self, argv: Sequence[str], *, text: str = "", timeout_s: float | None = 60.0) -> Completed:
        if argv[0] == "sh":
            there = [name for name in argv[4:] if name in self.files]
            return Completed(0 if there else 1, there[0] + "\n" if there else "", "")
        return Completed(0, VERSIONS[argv[0]], "")


@pytest.mark.parametrize(
    ("kind", "named", "path", "version", "base"),
    [
        ("mariadb", "", "/usr/sbin/mariadbd", "10.11.19", ""),
        ("mysql", "/opt/m/bin/mysqld", "/opt/m/bin/mysqld", "8.4.3", "/opt/m"),
        ("percona", "/opt/p/bin/mysqld", "/opt/p/bin/mysqld", "8.0.36", ""),
        ("postgres", "", "/usr/lib/postgresql/15/bin/postgres", "15.18", ""),
    ],
)
def test_a_server_is_found_with_its_version(kind: str, named: str, path: str, version: str, base: str) -> None:
    host = Programs([*VERSIONS, "/opt/m/share/english/errmsg.sys"])
    program = database_kinds.get(kind).find(host, named)
    assert (program.path, program.version, program.base) == (path, version, base)


def test_another_flavour_of_the_same_program_is_not_taken_for_it() -> None:
    with pytest.raises(DatabaseError, match=r"no mysql server; /opt/p/bin/mysqld is .*Percona"):
        database_kinds.get("mysql").find(Programs(list(VERSIONS)), "/opt/p/bin/mysqld")
    with pytest.raises(DatabaseError, match="no PostgreSQL server"):
        Instance(Programs([]), "engine", "/srv/db", "postgres")
    with pytest.raises(UsageError, match="mariadbx"):
        Instance(Programs([]), "engine", "/srv/db", "mariadbx")


@pytest.mark.parametrize(
    ("kind", "value", "spelled"),
    [
        ("mariadb", "1GiB", "1073741824"),
        ("mysql", "1.5 MB", "1572864"),
        ("mariadb", "128M", "128M"),
        ("mariadb", "O_DIRECT", "O_DIRECT"),
        ("postgres", "1GiB", "1GB"),
        ("postgres", "64 KiB", "64kB"),
        ("postgres", "4MB", "4MB"),
        ("postgres", "5min", "5min"),
    ],
)
def test_values_are_spelled_as_the_server_reads_them(kind: str, value: str, spelled: str) -> None:
    assert database_kinds.get(kind).spell(value) == spelled


def test_a_server_that_would_not_start_is_told_by_its_own_words_and_what_is_known_of_the_setting() -> None:
    log = [
        "2026-01-01  0:00:00 0 [Note] InnoDB: Using Linux native AIO",
        "2026-01-01  0:00:00 0 [ERROR] mariadbd: unknown variable 'innodb_checksums=1'",
        "2026-01-01  0:00:00 0 [ERROR] Aborting",
    ]
    host = Programs(list(VERSIONS))
    mariadb = database_kinds.get("mariadb")
    error = would_not_start(mariadb, mariadb.find(host, ""), {"innodb_checksums": "1"}, "", log)
    message = (
        "mariadb 10.11.19 would not start with innodb_checksums = 1: mariadbd: unknown variable 'innodb_checksums=1'"
    )
    assert error.message == message
    assert "innodb_checksum_algorithm" in error.todo
    assert error.last_words == tuple(log)

    log = [
        '2026-01-01 00:00:00.000 UTC [77] LOG:  invalid value for parameter "shared_buffers": "abc"',
        '2026-01-01 00:00:00.000 UTC [77] FATAL:  configuration file "/srv/postgresql.conf" contains errors',
    ]
    postgres = database_kinds.get("postgres")
    error = would_not_start(postgres, postgres.find(host, ""), {}, "", log)
    assert error.message.endswith('with its defaults: invalid value for parameter "shared_buffers": "abc"')

    denied = ["[ERROR] Could not open mysql.plugin table", "mariadbd: Can't create file (Errcode: 13)"]
    assert "AppArmor" in would_not_start(mariadb, mariadb.find(host, ""), {}, "", denied).todo


def _rows(*rows: Sequence[str | None]) -> Rows:
    return Rows(event="rows", columns=[], rows=[list(row) for row in rows])


def test_variables_of_mariadb_say_when_a_value_takes_effect() -> None:
    answer = _rows(
        ("INNODB_IO_CAPACITY", "200", "200", "GLOBAL", "BIGINT UNSIGNED", "100", "9", None, "NO", "REQUIRED"),
        ("SORT_BUFFER_SIZE", "1", "1", "SESSION", "BIGINT UNSIGNED", "1024", "18446744073709551615", None, "NO", "R"),
        ("INNODB_FLUSH_METHOD", "fsync", "fsync", "GLOBAL", "ENUM", None, None, "fsync,O_DSYNC", "YES", "REQUIRED"),
        ("INNODB_PAGE_SIZE", "16384", "16384", "GLOBAL", "BIGINT UNSIGNED", "4096", "65536", None, "YES", "REQUIRED"),
        ("VERSION", "10.11", None, "GLOBAL", "VARCHAR", None, None, None, "YES", None),
        ("LAST_INSERT_ID", None, None, "SESSION ONLY", "BIGINT UNSIGNED", "0", "9", None, "NO", None),
    )
    program = database_kinds.get("mariadb").variables(lambda _: answer)
    when = [program[name].takes_effect for name in sorted(program)]
    expected = ["restart", "live", "rebuild", "never", "session", "never"]
    assert when == [TakesEffect(name) for name in expected]
    assert program["sort_buffer_size"].kind == "size"
    assert program["innodb_io_capacity"].kind == "int"
    assert program["innodb_flush_method"].allowed == ("fsync", "O_DSYNC")


def test_variables_of_postgres_say_when_a_value_takes_effect() -> None:
    answer = _rows(
        ("work_mem", "4MB", "4096", "kB", "integer", "64", "2147483647", None, "user"),
        ("checkpoint_timeout", "5min", "300", "s", "integer", "30", "86400", None, "sighup"),
        ("shared_buffers", "128MB", "16384", "8kB", "integer", "16", "1073741823", None, "postmaster"),
        ("block_size", "8192", "8192", None, "integer", "8192", "8192", None, "internal"),
        ("data_checksums", "off", "off", None, "bool", None, None, None, "internal"),
        ("synchronous_commit", "on", "on", None, "enum", None, None, "local,on,off", "user"),
        ("wal_compression", "off", "off", None, "enum", None, None, "pglz,lz4,on,off", "superuser"),
    )
    shown_as = _rows(
        ("wal_compression", "pglz", "pglz"), ("wal_compression", "on", "pglz"), ("synchronous_commit", "on", "on")
    )
    program = database_kinds.get("postgres").variables(lambda text: shown_as if "set_config" in text else answer)
    assert program["wal_compression"].is_same("on", "pglz") and program["wal_compression"].is_same("ON", "on")
    assert not program["wal_compression"].is_same("lz4", "pglz")
    when = [program[name].takes_effect for name in sorted(program)]
    expected = ["never", "reload", "rebuild", "restart", "live", "live", "live"]
    assert when == [TakesEffect(name) for name in expected]
    assert program["shared_buffers"].minimum == 16 * 8192
    assert program["checkpoint_timeout"].kind == "time"
    assert program["shared_buffers"].default is not None
    assert program["shared_buffers"].is_same(program["shared_buffers"].default, program["shared_buffers"].value)


def test_a_password_is_shown_to_nobody_but_the_engine() -> None:
    server = Server(user="u", database="d", password="secret")  # noqa: S106
    assert "secret" not in f"{server!r} {server} {server.model_dump()}"
    assert '"password":"secret"' in server.model_dump_json()
