"""Databases as the engine connects to them: a file, or a server with who logs in."""

from typing import Annotated, Literal

from pydantic import Field, SecretStr, field_serializer

from paribus.engine.protocol.message import Message


class SqliteFile(Message):
    """A database file, opened by the engine itself."""

    driver: Literal["sqlite"] = "sqlite"
    path: str
    pragmas: dict[str, str] = Field({})

    @property
    def connects(self) -> bool:
        """There is no server."""
        return False


class Server(Message):
    """A server, and who connects to it: a Unix socket, or host and port.

    `credential` names the place where the engine finds the password: `env`, `file`, `option_file` or `pass_file`.
    A load waits `outage_s` for a server that is away, before it ends with an error.
    """

    socket: str | None = None
    host: str | None = None
    port: int | None = None
    user: str
    password: SecretStr | None = None
    credential: dict[str, str] | None = None
    database: str
    tls: Literal["off", "required", "verified"] = "off"
    tls_ca: str | None = None
    timeout_s: float = 60.0
    outage_s: float = 0.0

    @field_serializer("password", when_used="json")
    def _reveal(self, password: SecretStr | None) -> str | None:
        """To the engine alone, on its stdin."""
        return password.get_secret_value() if password else None

    @property
    def connects(self) -> bool:
        """Whether the engine finds the password in the environment."""
        return self.credential is not None and "env" in self.credential

    @property
    def is_open(self) -> bool:
        """Whether it lets the user in without a password."""
        return self.password is None and self.credential is None

    @property
    def path(self) -> str:
        """Identity: socket or host:port, and database."""
        return f"{self.socket or f'{self.host}:{self.port}'}/{self.database}"


class MysqlServer(Server):
    """A server that speaks MySQL's protocol."""

    driver: Literal["mysql"] = "mysql"


class PostgresServer(Server):
    """A server that speaks PostgreSQL's protocol."""

    driver: Literal["postgres"] = "postgres"


DatabaseServer = MysqlServer | PostgresServer
Database = Annotated[SqliteFile | DatabaseServer, Field(discriminator="driver")]
