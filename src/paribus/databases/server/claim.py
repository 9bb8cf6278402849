"""The claim to a server in use by others: two experiments on it would change each other's settings and load.

A journal keeps experiments apart on one machine. This claim is a named lock in the server, so it also keeps apart
those of different machines. It ends with its connection.
"""

from collections.abc import Callable

from paribus.databases.server.live_kind import LiveServerKind
from paribus.engine.sql import Sql
from paribus.errors import DatabaseError, EngineError, HostError, ServerGone, Unreachable

_ATTEMPTS = 2


class ServerClaim:
    """A named lock of a server, on a connection of its own."""

    def __init__(self, address: str, kind: LiveServerKind, connect: Callable[[], Sql]) -> None:
        self._address = address
        self._kind = kind
        self._connect = connect
        self._sql: Sql | None = None

    def take(self) -> None:
        """Take the lock, or check that it is still held; again where the connection was lost.

        Raises DatabaseError where another experiment has it, and ServerGone.
        """
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                self._sql = self._sql or self._connect()
                holder = self._kind.claim(self._sql.query)
                break
            except Unreachable:
                raise
            except (EngineError, HostError) as error:
                self.release()
                if attempt == _ATTEMPTS:
                    raise ServerGone(f"{self._address}: {error.message}", error.todo) from error
        if holder:
            self.release()
            raise DatabaseError(
                f"another experiment uses the server {self._address}: {holder} holds its lock `paribus`",
                "wait until that experiment has ended, or use another server",
            )

    def release(self) -> None:
        """Release the lock."""
        if self._sql is not None:
            self._sql.close()
            self._sql = None
