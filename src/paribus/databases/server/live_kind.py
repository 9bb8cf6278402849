"""What every kind of server that others use answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from paribus.databases.server.kind import Ask
from paribus.databases.server.variable import Variable
from paribus.hosts.transport import Host
from paribus.i18n import StoredMessage
from paribus.model import ExpectedAnswer
from paribus.registry import Registry


@dataclass(frozen=True, slots=True)
class Back:
    """A variable's value, the statements that come back to it, what shows it, and, where a start of the server takes
    it away, what shows when that was."""

    before: str
    statements: tuple[str, ...]
    check: ExpectedAnswer
    started: ExpectedAnswer | None


class LiveKind(Protocol):
    """Statements and what they answer; none of these sets or makes anything."""

    commands: Sequence[str]  # what its process is called
    moves: Mapping[str, Sequence[str]]  # by variable, what the server moves by itself when it is set

    def told(self, ask: Ask) -> tuple[str, str]:
        """Which server it says it is, and its version."""
        ...

    def may_not_set(self, ask: Ask, name: str) -> str:
        """Why this user may not set a variable; empty where it may."""
        ...

    def may_not_make(self, ask: Ask, prefix: str) -> str:
        """Why this user may make no databases whose names begin so; empty where it may."""
        ...

    def databases(self, ask: Ask, prefix: str) -> list[str]:
        """Those that are there."""
        ...

    def setting(self, variable: Variable, value: str) -> tuple[str, ...]:
        """The statements that set a variable."""
        ...

    def back(self, ask: Ask, variable: Variable) -> Back:
        """The way back to what is now."""
        ...

    def moment(self, ask: Ask) -> str:
        """What `await_effect` tells a later reading of the configuration by."""
        ...

    def await_effect(self, ask: Ask, name: str, moment: str) -> None:
        """Wait until what was set since that moment is in force. Raises QueryRefused where it does not come."""
        ...

    def making(self, database: str, mark: str) -> tuple[str, ...]:
        """The statements that make a database, marked."""
        ...

    def removing(self, ask: Ask, database: str, mark: str) -> tuple[tuple[str, ...], ExpectedAnswer, ExpectedAnswer]:
        """The statements that remove it, what shows that it is gone, and what shows that it is the one marked so."""
        ...

    def notes(self, ask: Ask) -> list[StoredMessage]:
        """What a reader must know of it."""
        ...

    def process(self, ask: Ask, host: Host) -> int:
        """The server's process on this host, as it says itself. Raises ValueError, IndexError and HostError."""
        ...


live_kinds: Registry[LiveKind] = Registry("kind of running server")
