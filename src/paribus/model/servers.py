"""Servers that others use: how one is reached, and what is set or made there."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

SERVER_PLACEHOLDERS = ("socket", "host", "port", "user", "database", "password_file")
"""Names of the parts of a server's address that are filled in where a program's arguments have them in braces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningServer:
    """A server that others use: its socket, or host and port, and who connects; the secret is not part of it.

    An empty `user` is left to the credential. `credential` says where the password is kept, `{"env": NAME}`,
    `{"file": PATH}`, `{"option_file": PATH}` or `{"pass_file": PATH}`; None: there is none. `database` is where an
    administrator connects, `prefix` what the names of the databases begin with that are made there.
    """

    protocol: Literal["mysql", "postgres"]
    socket: str | None
    host: str | None
    port: int | None
    user: str
    tls: Literal["off", "required", "verified"] = "off"
    tls_ca: str | None = None
    database: str = ""
    prefix: str = ""
    credential: Mapping[str, str] | None = None

    @property
    def variable(self) -> str:
        """The variable of the environment that has the password; empty where it is elsewhere."""
        return (self.credential or {}).get("env", "")

    @property
    def address(self) -> str:
        """Address that identifies the server, for people and for the journal."""
        usual = {"mysql": 3306, "postgres": 5432}[self.protocol]
        host = f"[{self.host}]" if ":" in (self.host or "") else self.host
        return f"{self.protocol}://{self.socket or f'{host}:{self.port or usual}'}"


@dataclass(frozen=True, slots=True)
class ExpectedAnswer:
    """A query for one value, and the value."""

    query: str
    said: str


@dataclass(frozen=True, slots=True)
class UntilRestart:
    """`started` shows in seconds when a server was started; `set_to` is what it was set to in that life."""

    started: ExpectedAnswer
    set_to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PutStatements:
    """Put statements to a running server, to set or make what `name` says; `check` shows whether they took.

    `server` is its address as the engine reads it, without a secret. Nothing is done unless `only_if` holds, and
    nothing is restored after a start of the server that has reset it (`until_restart`).
    """

    name: str
    server: Mapping[str, object]
    statements: tuple[str, ...]
    check: ExpectedAnswer
    only_if: ExpectedAnswer | None = None
    until_restart: UntilRestart | None = None

    @property
    def path(self) -> str:
        """Name of the setting or database that the statements act on."""
        return self.name
