"""The peer of a connection: its address and, on this machine, the user who owns the other end.

The kernel is asked by sock_diag (`man 7 sock_diag`), which needs no privilege and costs some 20 µs.
"""

import os
import socket
import struct
from collections import Counter
from dataclasses import dataclass

from paribus.web.connections.addresses import is_loopback

_SOCK_DIAG, _BY_FAMILY, _REQUEST = 4, 20, 1
_HEADER = struct.Struct("=IHHII")  # of netlink: length, type, flags, sequence, port
_QUESTION = struct.Struct("=BBBxI2s2s16s16sI8s")  # inet_diag_req_v2
_ANSWER = struct.Struct("=4x48x12xII")  # inet_diag_msg: user and inode
_ANY_COOKIE = b"\xff" * 8
_ALL_STATES = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Peer:
    """An address, and the user of this machine who connected from it; None: another machine, or unknown."""

    address: str
    user: int | None

    @property
    def is_other(self) -> bool:
        """Whether the peer is certainly not the owner of the server."""
        return self.user != os.geteuid() if self.user is not None else not is_loopback(self.address)


def peer_of(connection: socket.socket) -> Peer:
    """The peer of a connection. Raises OSError if it is closed."""
    address, port = connection.getpeername()[:2]
    user = _user(connection.family, (address, port), connection.getsockname()[:2]) if is_loopback(address) else None
    return Peer(address, user)


def _user(family: int, peer_end: tuple[str, int], own_end: tuple[str, int]) -> int | None:
    """Owner of the socket at `peer_end` that is connected to `own_end`; None if the kernel does not report it."""
    ends = [(struct.pack("!H", port), socket.inet_pton(family, address)) for address, port in (peer_end, own_end)]
    (their_port, their_address), (our_port, our_address) = ends
    question = _QUESTION.pack(
        family, socket.IPPROTO_TCP, 0, _ALL_STATES, their_port, our_port, their_address, our_address, 0, _ANY_COOKIE
    )
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _SOCK_DIAG) as kernel:
            kernel.setblocking(False)  # it answers before `send` returns
            kernel.send(_HEADER.pack(_HEADER.size + len(question), _BY_FAMILY, _REQUEST, 1, 0) + question)
            answer = kernel.recv(4096)
    except OSError:
        return None
    if _HEADER.unpack_from(answer)[1] != _BY_FAMILY:
        return None
    user, inode = _ANSWER.unpack_from(answer, _HEADER.size)
    return int(user) if inode else None  # a socket that its process has closed has no owner


class Arrivals:
    """New connections of each peer in the current second."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._second = 0
        self._counts: Counter[Peer] = Counter()

    def are_too_many(self, peer: Peer, now: float) -> bool:
        """Count a connection; return whether the peer has exceeded its limit for this second."""
        if int(now) != self._second:
            self._second = int(now)
            self._counts.clear()
        self._counts[peer] += 1
        return self._counts[peer] > self._limit
