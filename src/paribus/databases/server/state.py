"""What is asked of a running server beside its variables: what it holds, and what it still has to do."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from paribus.databases.server.quiescence import Left
from paribus.engine.protocol import Rows


class Ask(Protocol):
    """Puts a statement to one database of a server. Raises QueryRefused."""

    def __call__(self, text: str) -> Rows:
        """What it returns."""
        ...


class Inside(Protocol):
    """A connection to one database of a server, for as long as the context lasts."""

    def __call__(self, database: str) -> AbstractContextManager[Ask]:
        """The connection. Raises QueryRefused."""
        ...


@dataclass(frozen=True, slots=True)
class Cache:
    """A server's own cache, and what it has of the data of one database; `held_bytes` is None where none can tell."""

    size_bytes: float
    data_bytes: float
    held_bytes: float | None


class State(Protocol):
    """What one family of servers is asked, and how."""

    cold: Mapping[str, str]  # settings with which it starts with an empty cache
    cache_size: str  # the setting that says how large its cache is

    def finish(self, ask: Ask) -> None:
        """Do now, in the database that was made, what the server would else do later by itself."""
        ...

    def warm(self, ask: Ask) -> None:
        """Bring into its cache what reading all of a database's tables has left out."""
        ...

    def cache(self, ask: Ask) -> Cache:
        """Its cache now, and what it has of the database that is asked."""
        ...

    def calm(self, ask: Ask) -> None:
        """Have it write out what it can, where it can be asked to."""
        ...

    def left(self, ask: Ask) -> dict[str, Left]:
        """What it still has to do, by name."""
        ...

    def tables(self, ask: Ask) -> list[str]:
        """The tables of the database that is asked, as they are written in a statement."""
        ...
