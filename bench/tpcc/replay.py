"""The least that a client of TPC-C can cost: the requests of a recorded load, sent again by a loop in C."""

import contextlib
import select
import socket
import struct
import subprocess
import tempfile
import threading
from collections.abc import Callable, Container, Iterator
from pathlib import Path

_PREPARE, _EXECUTE = 0x16, 0x17
_QUIET_S = 0.1


class Recorder:
    """A Unix socket before a server's, which keeps what a client writes, in the pieces in which it arrives."""

    def __init__(self, server: str, path: str) -> None:
        self.server = server
        self.written: list[bytes] = []
        self.listening = socket.socket(socket.AF_UNIX)
        self.listening.bind(path)
        self.listening.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listening.accept()
                self.written = []  # the last connection is that of the load
                threading.Thread(target=self._forward, args=(client, self.written), daemon=True).start()

    def _forward(self, client: socket.socket, written: list[bytes]) -> None:
        with client, _connected(self.server) as server:
            while True:
                for ready in select.select([client, server], [], [])[0]:
                    data = ready.recv(1 << 16)
                    if not data:
                        return
                    if ready is client:
                        written.append(data)
                    (server if ready is client else client).sendall(data)


def _connected(path: str) -> socket.socket:
    opened = socket.socket(socket.AF_UNIX)
    opened.connect(path)
    return opened


def _packets(data: bytes) -> Iterator[bytes]:
    """The bodies of whole packets."""
    at = 0
    while at < len(data):
        length = int.from_bytes(data[at : at + 3], "little")
        yield data[at + 4 : at + 4 + length]
        at += 4 + length


def record(server: str, drive: Callable[[str], object]) -> tuple[list[bytes], bytes]:
    """Record a load of one connection.

    Args:
        server: Path of the server's socket.
        drive: Makes the load over the socket at a path.

    Returns:
        (what was written until all statements were prepared, the writes of the load for the program).
    """
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(server, f"{folder}/socket")
        drive(f"{folder}/socket")
        recorder.listening.close()
    written = recorder.written
    executes = [next(_packets(data))[0] == _EXECUTE for data in written]
    first = executes.index(True)
    prepared = [body[1:] for data in written[:first] for body in _packets(data) if body[0] == _PREPARE]
    beginning = {number for number, statement in enumerate(prepared, start=1) if statement == b"BEGIN"}
    return written[:first], b"".join(_part(data, beginning) for data in written[first:])


def _part(data: bytes, beginning: Container[int]) -> bytes:
    bodies = list(_packets(data))
    begins = sum(int.from_bytes(body[1:5], "little") in beginning for body in bodies if body[0] == _EXECUTE)
    return struct.pack("<III", len(bodies), begins, len(data)) + data


def replay(server: str, recorded: tuple[list[bytes], bytes], connections: int, seconds: float) -> tuple[float, float]:
    """Transactions a second, and microseconds of processor time each."""
    begun, parts = recorded
    with tempfile.TemporaryDirectory() as folder:
        program, file = f"{folder}/replay", Path(folder, "record")
        subprocess.run(["cc", "-O2", "-o", program, str(Path(__file__).with_suffix(".c"))], check=True)
        file.write_bytes(parts)
        opened = [_logged_in(server, begun) for _ in range(connections)]
        numbers = [one.fileno() for one in opened]
        argv = [program, str(seconds), str(file), *map(str, numbers)]
        ended = subprocess.run(argv, pass_fds=numbers, check=True, stdout=subprocess.PIPE, text=True)
    for one in opened:
        one.close()
    made, took_s, used_s = map(float, ended.stdout.split())
    return made / took_s, used_s / made * 1e6


def _logged_in(server: str, begun: list[bytes]) -> socket.socket:
    """A connection after the same login and the same statements."""
    opened = _connected(server)
    _read_all(opened)
    for data in begun:
        opened.sendall(data)
        if data[4] != _PREPARE:
            _read_all(opened)
    _read_all(opened)
    return opened


def _read_all(opened: socket.socket) -> None:
    """Read until nothing more comes."""
    while select.select([opened], [], [], _QUIET_S)[0]:
        if not opened.recv(1 << 20):
            raise ConnectionError("the server has ended the connection")
