"""One connection to `serve`: HTTP/1.1 by uvicorn, within the limits on time and bytes."""

import asyncio
import contextlib
import socket
import struct

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from paribus.web.connections.limits import HEADER_BYTES, REQUEST_S, STALL_S, ConnectionTable
from paribus.web.connections.notices import Event, Notices
from paribus.web.connections.peer import Peer

ADMIT = "admit"
"""The key in a request's state of what admits its connection once the token was shown: True, or False: too many are."""

_FIRST_BYTES = 40
_AT_ONCE = struct.pack("ii", 1, 0)  # of SO_LINGER: the kernel too keeps nothing of what is not sent


class Connection(H11Protocol):
    """A connection that is closed when it is late, and that answers malformed requests without a traceback."""

    def __init__(
        self, config: uvicorn.Config, state: ServerState, table: ConnectionTable, notices: Notices, peer: Peer
    ) -> None:
        super().__init__(config, state, {ADMIT: self._admit})
        self._table = table
        self._notices = notices
        self._peer = peer
        self._first = b""
        self._due: float | None = None  # when its request must be whole
        self._unsent = 0
        self._moved = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start its timers."""
        super().connection_made(transport)
        self._moved = self.loop.time()
        self._due = self._moved + REQUEST_S
        dropped = self._table.add(self, self._peer)
        if dropped:
            self._notices.count(Event.DROPPED, times=dropped)

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove it from the table."""
        self._table.remove(self)
        self._due = None
        super().connection_lost(exc)
        self.app_state = {}

    def data_received(self, data: bytes) -> None:
        """Process the data in pieces, so that no header exceeds twice the limit."""
        self._first = (self._first + data[:_FIRST_BYTES])[:_FIRST_BYTES]
        for start in range(0, len(data), HEADER_BYTES):
            if self.transport.is_closing():
                return
            super().data_received(data[start : start + HEADER_BYTES])

    def handle_events(self) -> None:
        """Process complete requests; start the timer of an incomplete one."""
        super().handle_events()
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._due = None
        elif self._due is None:
            self._due = self.loop.time() + REQUEST_S

    def send_400_response(self, msg: str) -> None:
        """Refuse a malformed request; cancel an answer in progress."""
        self._notices.count(Event.MALFORMED, self._quoted())
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        try:
            super().send_400_response(msg)
        except h11.LocalProtocolError:  # an answer has begun, or may have no body
            self.drop()

    def shutdown(self) -> None:
        """Close it with the server, in any state."""
        try:
            super().shutdown()
        except h11.LocalProtocolError:
            self.drop()

    def drop(self) -> None:
        """Close it and discard unsent data."""
        with contextlib.suppress(OSError):  # it is closed
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self.transport.abort()

    def check(self, now: float) -> None:
        """Close it if its request or its reader is late."""
        unsent = self.transport.get_write_buffer_size()
        if unsent == 0 or unsent < self._unsent:
            self._moved = now
        self._unsent = unsent
        if now - self._moved > STALL_S:
            self._notices.count(Event.STALLED)
            self.drop()
        elif self._due is not None and now > self._due:
            if self.conn.their_state is h11.SEND_BODY or self.conn.trailing_data[0]:
                self._notices.count(Event.LATE, self._quoted())
            self.drop()

    def _admit(self) -> bool:
        admitted = self._table.admit(self)
        if not admitted:
            self._notices.count(Event.REFUSED)
        return admitted

    def _quoted(self) -> str:
        """Address, user and request line of the peer; the query, which may hold the token, is cut off."""
        user = "" if self._peer.user is None else f", user {self._peer.user}"
        line = self._first.split(b"\n")[0].split(b"?")[0].rstrip(b"\r")
        return f"{self._peer.address}{user}: {line.decode('latin-1')}"
