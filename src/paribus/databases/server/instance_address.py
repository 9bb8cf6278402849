"""Addresses of a private server, and connections to it as its administrator."""

import contextlib
from collections.abc import Iterator

from pydantic import SecretStr

from paribus.databases.server.data_directory import DataDirectory
from paribus.databases.server.kind import DatabaseKind
from paribus.databases.server.state import Ask
from paribus.engine.protocol import DatabaseServer, SqlJob
from paribus.engine.sql import Sql
from paribus.hosts.transport import Host

_ANSWER_S = 3600.0  # administering may move much data


class InstanceAddress:
    """The socket of a private server, and its port where it listens to the loopback.

    `port` and `network_user`, with a password, are set by the server's start.
    """

    def __init__(self, host: Host, engine: str, kind: DatabaseKind, directory: DataDirectory) -> None:
        self._host = host
        self._engine = engine
        self._kind = kind
        self._directory = directory
        self.port: int | None = None
        self.network_user: tuple[str, SecretStr] | None = None

    def for_workloads(self) -> DatabaseServer:
        """The address and user of a workload: the loopback if the server listens to it, else the socket."""
        socket = self.for_administrator()
        if self.port is None or self.network_user is None:
            return socket
        user, password = self.network_user
        loopback = {"socket": None, "host": "127.0.0.1", "port": self.port, "user": user, "password": password}
        return socket.model_copy(update=loopback)

    def for_administrator(self) -> DatabaseServer:
        """The socket, and the user by whom the server is administered."""
        return self._kind.address(self._directory, self.port)

    def connect(self, timeout_s: float = _ANSWER_S) -> Sql:
        """Connect as administrator; `timeout_s` limits each answer. Raises QueryRefused and EngineError."""
        address = self.for_administrator().model_copy(update={"timeout_s": timeout_s})
        return Sql(self._host, self._engine, SqlJob(database=address), self._kind.opening)

    @contextlib.contextmanager
    def inside(self, database: str) -> Iterator[Ask]:
        """A connection to one of its databases. Raises QueryRefused and EngineError."""
        address = self.for_administrator().model_copy(update={"database": database, "timeout_s": _ANSWER_S})
        sql = Sql(self._host, self._engine, SqlJob(database=address), self._kind.opening)
        try:
            yield sql.query
        finally:
            sql.close()
