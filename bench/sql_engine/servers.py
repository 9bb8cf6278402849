"""Private servers to measure clients on."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from paribus.databases import Instance
from paribus.engine.find import binary
from paribus.engine.protocol import MysqlServer, PostgresServer
from paribus.hosts.local import LocalHost

DATABASE = "sbtest"


@dataclass(frozen=True)
class Server:
    """A running server, and its database for tables."""

    kind: str
    instance: Instance
    address: MysqlServer | PostgresServer


@contextlib.contextmanager
def mariadb(folder: str) -> Iterator[Server]:
    """MariaDB with all in memory, so that the client is what differs."""
    settings = {
        "innodb_buffer_pool_size": "1GiB",
        "innodb_flush_log_at_trx_commit": "2",
        "max_connections": "1200",
        "max_prepared_stmt_count": "1000000",
    }
    with _running("mariadb", folder, settings) as server:
        yield server


@contextlib.contextmanager
def postgres(folder: str) -> Iterator[Server]:
    """PostgreSQL, the same."""
    settings = {"shared_buffers": "512MB", "synchronous_commit": "off", "max_connections": "1200"}
    with _running("postgres", folder, settings) as server:
        yield server


@contextlib.contextmanager
def _running(kind: str, folder: str, settings: dict[str, str]) -> Iterator[Server]:
    instance = Instance(LocalHost(), binary(), f"{folder}/{kind}", kind, settings=settings)
    try:
        instance.create()
        instance.start()
        instance.query(f"CREATE DATABASE {DATABASE}")
        address = instance.address().model_copy(update={"database": DATABASE})
        assert isinstance(address, MysqlServer | PostgresServer)
        yield Server(kind, instance, address)
    finally:
        instance.remove()
