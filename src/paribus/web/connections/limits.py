"""Limits of `serve`: the time and bytes of one connection, and how many connections may be open."""

import resource
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Protocol

HEADER_BYTES = 16 * 1024  # of a request line and headers that are not yet whole
REQUEST_S = 10.0  # from the opening of a connection, or the end of its last answer, to the end of the next request
IDLE_S = 5.0  # between an answer and the first byte of the next request
STALL_S = 20.0  # without a byte taken by a reader for whom bytes wait
SEND_BUFFER_BYTES = 256 * 1024  # of the kernel, for each connection; the process keeps 64 KiB and one event more
_CONNECTIONS = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """Largest numbers of open connections: with the token, without it, and without it from one peer."""

    admitted: int
    strangers: int
    strangers_of_peer: int


def connection_limits() -> ConnectionLimits:
    """The limits for this process: at least half of its file descriptors are left to the store and to reports."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    total = min(_CONNECTIONS, descriptors // 2) if descriptors != resource.RLIM_INFINITY else _CONNECTIONS
    strangers = max(2, total // 4)
    return ConnectionLimits(
        admitted=max(2, total - strangers), strangers=strangers, strangers_of_peer=max(1, strangers // 2)
    )


class Droppable(Protocol):
    """A connection that can be closed at once, and that knows whether it is late."""

    def drop(self) -> None:
        """Close it, without sending what is left."""

    def check(self, now: float) -> None:
        """Close it if its request or its reader is late; `now` is the time of the event loop."""


class ConnectionTable:
    """All open connections. Those without the token ("strangers") make room for each other, never for themselves alone.

    Where too many strangers are open, the oldest of the peer that has the most is dropped: a peer with few connections
    loses none to a peer with many. A connection that has shown the token is never dropped for a new one.
    """

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self._admitted: set[Droppable] = set()
        self._strangers: dict[Hashable, dict[Droppable, None]] = {}
        self._peers: dict[Droppable, Hashable] = {}

    def add(self, connection: Droppable, peer: Hashable) -> int:
        """Add a connection that has not shown the token; return the number of connections dropped for it."""
        self._peers[connection] = peer
        same_peer = self._strangers.setdefault(peer, {})
        same_peer[connection] = None
        if len(same_peer) > self.limits.strangers_of_peer:
            self._drop(same_peer)
            return 1
        too_many = sum(map(len, self._strangers.values())) > self.limits.strangers
        return int(too_many and self.drop_oldest())

    def admit(self, connection: Droppable) -> bool:
        """Count a connection as one with the token; False if the limit of those is reached."""
        if connection not in self._peers:  # it is admitted, or closed
            return True
        if len(self._admitted) >= self.limits.admitted:
            return False
        self._forget_stranger(connection)
        self._admitted.add(connection)
        return True

    def remove(self, connection: Droppable) -> None:
        """Remove a connection that is closed."""
        self._admitted.discard(connection)
        self._forget_stranger(connection)

    def drop_oldest(self) -> bool:
        """Drop the oldest stranger of the peer that has the most; False if there is none."""
        if not self._strangers:
            return False
        self._drop(max(self._strangers.values(), key=len))
        return True

    def check(self, now: float) -> None:
        """Close late connections."""
        for connection in [*self._admitted, *self._peers]:
            connection.check(now)

    def _drop(self, same_peer: dict[Droppable, None]) -> None:
        oldest = next(iter(same_peer))
        self._forget_stranger(oldest)
        oldest.drop()

    def _forget_stranger(self, connection: Droppable) -> None:
        peer = self._peers.pop(connection, None)
        same_peer = self._strangers.get(peer, {})
        same_peer.pop(connection, None)
        if not same_peer:
            self._strangers.pop(peer, None)
