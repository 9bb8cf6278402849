"""The contract of a server's state: its content and its pending work."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from paribus.databases.server.quiescence import PendingWork
from paribus.engine.protocol import Rows


class Ask(Protocol):
    """Sends a statement to one database of a server. Raises QueryRefused."""

    def __call__(self, text: str) -> Rows:
        """The result."""
        ...


@dataclass(frozen=True, slots=True)
class Cache:
    """A server's own cache, and its share of one database's data; `held_bytes` is None where it is unknown."""

    size_bytes: float
    data_bytes: float
    held_bytes: float | None


class State(Protocol):
    """The statements about one family of servers."""

    cold: Mapping[str, str]  # settings with which it starts with an empty cache
    cache_size: str  # the setting that says how large its cache is

    def finish(self, ask: Ask) -> None:
        """Do now, in the new database, what the server would do later by itself."""
        ...

    def read_tables(self, ask: Ask) -> None:
        """Read all rows of all tables of the database of the connection, and their smallest indexes."""
        ...

    def warm(self, ask: Ask) -> None:
        """Load into the cache what reading all tables of a database has left out."""
        ...

    def cache(self, ask: Ask) -> Cache:
        """The cache now, and its share of the database of the connection."""
        ...

    def flush(self, ask: Ask) -> None:
        """Have the server write out its dirty data, where it has a statement for that."""
        ...

    def pending_work(self, ask: Ask) -> dict[str, PendingWork]:
        """The server's pending work by name."""
        ...

    def damage(self, ask: Ask) -> list[str]:
        """Check all tables and indexes of the database of the connection: a text on each that is damaged."""
        ...

    def tables(self, ask: Ask) -> list[str]:
        """The tables of the database of the connection, quoted for a statement."""
        ...
