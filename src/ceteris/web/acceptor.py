"""Acceptance of connections, also while the process has no file descriptor left."""

import asyncio
import socket
from collections.abc import Callable

from ceteris.web.limits import SEND_BUFFER_BYTES, ConnectionTable
from ceteris.web.notices import Event, Notices

_AT_ONCE = 8  # so that what was accepted is read before as many more are accepted as may be open
_ROOM_S = 0.02  # until the file descriptor of a dropped connection is free
_PAUSE_S = 0.5  # where there is nothing to drop


class Acceptor:
    """Accepts connections at a socket while it is started."""

    def __init__(
        self,
        listening: socket.socket,
        new_connection: Callable[[], asyncio.Protocol],
        table: ConnectionTable,
        notices: Notices,
    ) -> None:
        self._listening = listening
        self._new_connection = new_connection
        self._table = table
        self._notices = notices
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
        loop = asyncio.get_running_loop()
        for _ in range(_AT_ONCE):
            try:
                accepted, _ = self._listening.accept()
                accepted.setblocking(False)
                accepted.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:  # no file descriptor or memory; the kernel would report it again at once
                self._wait(error)
                return
            task: asyncio.Task[object] = loop.create_task(self._open(accepted))
            self._opening.add(task)
            task.add_done_callback(self._opening.discard)

    async def _open(self, accepted: socket.socket) -> None:
        try:
            await asyncio.get_running_loop().connect_accepted_socket(self._new_connection, accepted)
        except OSError:  # it is gone already
            accepted.close()

    def _wait(self, error: OSError) -> None:
        """Make room, and go on a little later: the kernel keeps who waits."""
        self._notices.count(Event.NOT_ACCEPTED, f"{error.strerror}; raise the limit with ulimit -n")
        pause_s = _PAUSE_S
        if self._table.drop_oldest():
            self._notices.count(Event.DROPPED)
            pause_s = _ROOM_S
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._listening)
        self._pause = loop.call_later(pause_s, self.start)
