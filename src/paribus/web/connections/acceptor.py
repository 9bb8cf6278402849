"""Acceptance of connections, also while the process has no file descriptor left."""

import asyncio
import socket
from collections.abc import Callable

from paribus.web.connections.limits import SEND_BUFFER_BYTES, ConnectionTable
from paribus.web.connections.notices import Event, Notices
from paribus.web.connections.peer import Arrivals, Peer, peer_of

_AT_ONCE = 8  # so that what was accepted is read before as many more are accepted as may be open
_REFUSED_AT_ONCE = 64
_ROOM_S = 0.02  # until the file descriptor of a dropped connection is free
_PAUSE_S = 0.5  # where there is nothing to drop


class Acceptor:
    """Accepts connections at a socket while it is started."""

    def __init__(
        self,
        listening: socket.socket,
        new_connection: Callable[[Peer], asyncio.Protocol],
        table: ConnectionTable,
        notices: Notices,
    ) -> None:
        self._listening = listening
        self._new_connection = new_connection
        self._table = table
        self._notices = notices
        self._arrivals = Arrivals(table.limits.strangers_of_peer)
        self._pause: asyncio.TimerHandle | None = None
        self._opening: set[asyncio.Task[object]] = set()

    def start(self) -> None:
        """Accept connections from now on."""
        self._pause = None
        self._listening.setblocking(False)
        asyncio.get_running_loop().add_reader(self._listening, self._accept)

    def stop(self) -> None:
        """Accept no more."""
        if self._pause is not None:
            self._pause.cancel()
        asyncio.get_running_loop().remove_reader(self._listening)

    def _accept(self) -> None:
        opened = 0
        for _ in range(_REFUSED_AT_ONCE):
            try:
                accepted, _ = self._listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:  # no file descriptor or memory; the kernel would report it again at once
                self._wait(error)
                return
            opened += self._take(accepted)
            if opened == _AT_ONCE:
                return

    def _take(self, accepted: socket.socket) -> bool:
        """Open a connection and return True; False if it is closed, or its peer opens too many."""
        loop = asyncio.get_running_loop()
        try:
            accepted.setblocking(False)
            accepted.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
            peer = peer_of(accepted)
        except OSError:
            accepted.close()
            return False
        if peer.is_other and self._arrivals.are_too_many(peer, loop.time()):
            self._notices.count(Event.DROPPED)
            accepted.close()
            return False
        task: asyncio.Task[object] = loop.create_task(self._open(accepted, peer))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)
        return True

    async def _open(self, accepted: socket.socket, peer: Peer) -> None:
        try:
            await asyncio.get_running_loop().connect_accepted_socket(lambda: self._new_connection(peer), accepted)
        except OSError:  # it is gone already
            accepted.close()

    def _wait(self, error: OSError) -> None:
        """Drop a connection to free a file descriptor, and pause: the kernel queues new connections."""
        self._notices.count(Event.NOT_ACCEPTED, f"{error.strerror}; raise the limit with ulimit -n")
        pause_s = _PAUSE_S
        if self._table.drop_oldest():
            self._notices.count(Event.DROPPED)
            pause_s = _ROOM_S
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._listening)
        self._pause = loop.call_later(pause_s, self.start)
