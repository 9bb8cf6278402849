"""Peers of `paribus serve` that are slow, silent, malformed or too many."""

import contextlib
import os
import resource
import select
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from watched import Serving

PATIENCE_S = 60.0  # an answer that has not come by then never comes

HEADER_BEGUN = b"GET / HTTP/1.1\r\nHost: localh"
MALFORMED = (
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\x1b[2J\x1b]0;title\x07\r\n\r\n",  # TLS, and a terminal's sequences
    b"GET /\x00\x1b[31m HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nA\x00: b\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
    b"HEAD / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\nnonsense\r\n\r\n",
    b"\xff" * 20_000,
)


def connect(server: Serving, receive_buffer: int | None = None) -> socket.socket:
    """A connection to the server that has sent nothing."""
    made = socket.socket()
    if receive_buffer is not None:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    made.settimeout(PATIENCE_S)
    made.connect(("127.0.0.1", server.port))
    return made


def request(server: Serving, path: str = "/", method: str = "GET", more: str = "", *, token: bool = True) -> bytes:
    """A request with the token, or without it."""
    cookie = f"Cookie: paribus-{server.port}={server.token}\r\n" if token else ""
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{cookie}{more}\r\n".encode()


def open_stream(server: Serving, receive_buffer: int | None = None) -> socket.socket:
    """A stream of the list, with the token, of which nothing is read yet."""
    stream = connect(server, receive_buffer)
    stream.sendall(request(server, "/stream"))
    return stream


@contextmanager
def as_user(user: int) -> Iterator[None]:
    """Act as this user, who then owns files that are opened; for root."""
    own = os.geteuid()
    os.seteuid(user)
    try:
        yield
    finally:
        os.seteuid(own)


@contextmanager
def half_open(server: Serving, number: int, user: int | None = None) -> Iterator[list[socket.socket]]:
    """So many connections, each with half a header and no token, of this user of the machine or of the tester."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, soft + number + 100), hard))
    peers: list[socket.socket] = []
    try:
        for _ in range(number):
            with as_user(os.geteuid() if user is None else user):
                peers.append(connect(server))
            with contextlib.suppress(OSError):  # the server has dropped it
                peers[-1].sendall(HEADER_BEGUN)
        yield peers
    finally:
        for peer in peers:
            peer.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def is_closed(peer: socket.socket) -> bool:
    """Whether the server has closed a connection; what it sent is not read."""
    poll = select.poll()
    poll.register(peer, select.POLLRDHUP)
    return bool(poll.poll(0))


def send_malformed(server: Serving, times: int) -> None:
    """Each malformed request so often, each by a connection of its own."""
    for _ in range(times):
        for text in MALFORMED:
            with contextlib.suppress(OSError), connect(server) as peer:
                peer.sendall(text)
                peer.recv(1024)


def trickle(peers: Sequence[socket.socket]) -> None:
    """One more byte from each, where the connection still stands."""
    for peer in peers:
        with contextlib.suppress(OSError):
            peer.send(b"a")


def received(stream: socket.socket, until: bytes) -> bytes:
    """The bytes of a stream up to and with these."""
    text = b""
    while until not in text:
        more = stream.recv(2**20)
        assert more, "the stream has ended"
        text += more
    return text


def processor_s(pid: int) -> float:
    """Processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def open_files(pid: int) -> int:
    """The number of file descriptors that a process has open."""
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))
