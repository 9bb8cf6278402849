"""The contract of a kind of running server in use by others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from paribus.databases.server.kind import Ask
from paribus.databases.server.variable import ServerVariable
from paribus.hosts.transport import Host
from paribus.i18n import StoredMessage
from paribus.model import ExpectedAnswer
from paribus.registry import Registry


@dataclass(frozen=True, slots=True)
class RestorePoint:
    """A variable's value, the statements that restore it, and the check that shows it.

    `started`: where a restart of the server undoes the change, the statement that shows when it was started.
    """

    before: str
    statements: tuple[str, ...]
    check: ExpectedAnswer
    started: ExpectedAnswer | None


class LiveServerKind(Protocol):
    """Statements and their answers; none of these sets or makes anything."""

    commands: Sequence[str]  # names of its process
    moves: Mapping[str, Sequence[str]]  # by variable, what the server moves by itself when it is set

    def identity(self, ask: Ask) -> tuple[str, str]:
        """The kind of server by its own account, and its version."""
        ...

    def instance(self, ask: Ask) -> str:
        """Return the identity of the server, the same on all connections to it."""
        ...

    def started(self, ask: Ask) -> float:
        """Return the time of its start, in seconds since 1970, to a second."""
        ...

    def claim(self, ask: Ask) -> str:
        """Take the server's lock for this connection; the connection that has it, or empty for this one."""
        ...

    def may_not_set(self, ask: Ask, name: str) -> str:
        """Return the reason why this user may not set a variable; empty where it may."""
        ...

    def may_not_make(self, ask: Ask, prefix: str) -> str:
        """Return the reason why this user may not make databases with this prefix; empty where it may."""
        ...

    def databases(self, ask: Ask, prefix: str) -> list[str]:
        """The existing databases with this prefix."""
        ...

    def setting(self, variable: ServerVariable, value: str) -> tuple[str, ...]:
        """The statements that set a variable."""
        ...

    def restore_point(self, ask: Ask, variable: ServerVariable) -> RestorePoint:
        """The way back to the current value."""
        ...

    def moment(self, ask: Ask) -> str:
        """A marker by which `await_effect` detects a later reload of the configuration."""
        ...

    def await_effect(self, ask: Ask, name: str, moment: str) -> None:
        """Wait until a change after that marker is in force. Raises QueryRefused where it does not come."""
        ...

    def making(self, database: str, mark: str) -> tuple[str, ...]:
        """The statements that make a database, with a mark."""
        ...

    def removing(self, ask: Ask, database: str, mark: str) -> tuple[tuple[str, ...], ExpectedAnswer, ExpectedAnswer]:
        """The statements that remove it, the check that it is gone, and the check that it has this mark."""
        ...

    def end_sessions(self, ask: Ask, database: str) -> None:
        """End what is still connected to a database, so that it can be removed. Raises QueryRefused."""
        ...

    def notes(self, ask: Ask) -> list[StoredMessage]:
        """Notes for the reader of a report."""
        ...

    def process(self, ask: Ask, host: Host) -> int:
        """The server's process on this host, by its own account. Raises ValueError, IndexError and HostError."""
        ...


live_kinds: Registry[LiveServerKind] = Registry("kind of running server")
