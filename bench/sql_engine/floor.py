"""The least that a client can cost: connections that have prepared a point select, given to a loop in C."""

import socket
import struct
import subprocess
import tempfile
import time
from pathlib import Path

from servers import Server

QUERY = b"SELECT c FROM sbtest1 WHERE id=%b"
_DATABASE_GIVEN, _PROTOCOL_41, _SECURE, _PLUGIN = 1 << 3, 1 << 9, 1 << 15, 1 << 19
_INT4 = 23


def floor(server: Server, connections: int, seconds: int, rows: int) -> tuple[float, float]:
    """Statements a second, and microseconds of processor time each."""
    login, request, offset = (_mysql, *_EXECUTE) if server.kind == "mariadb" else (_postgres, *_BIND)
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/floor"
        subprocess.run(["cc", "-O2", "-o", program, str(Path(__file__).with_suffix(".c"))], check=True)
        opened = [login(server) for _ in range(connections)]
        numbers = [one.fileno() for one in opened]
        kind = "mysql" if server.kind == "mariadb" else "postgres"
        argv = [program, str(seconds), str(rows), request.hex(), str(offset), kind, *map(str, numbers)]
        ended = subprocess.run(argv, pass_fds=numbers, check=True, stdout=subprocess.PIPE, text=True)
    for one in opened:
        one.close()
    made, took_s, used_s = map(float, ended.stdout.split())
    return made / took_s, used_s / made * 1e6


def loading_floor(server: Server) -> float:
    """Seconds in which the server alone fills a table with the rows of sbtest1, from a file of its own."""
    ask = server.instance.query
    database = server.address.database
    file = Path(ask("SELECT @@secure_file_priv").rows[0][0]) / "rows"
    ask(f"SELECT id, k, c, pad INTO OUTFILE '{file}' FROM {database}.sbtest1")  # noqa: S608  names of our own
    ask(f"CREATE TABLE {database}.filled LIKE {database}.sbtest1")
    ask(f"DROP INDEX k_1 ON {database}.filled")
    began = time.monotonic()
    ask(f"LOAD DATA INFILE '{file}' INTO TABLE {database}.filled CHARACTER SET binary")
    ask(f"CREATE INDEX k_1 ON {database}.filled (k)")
    took_s = time.monotonic() - began
    file.unlink()
    return took_s


def _connected(server: Server) -> socket.socket:
    opened = socket.socket(socket.AF_UNIX)
    opened.connect(str(server.address.socket))
    return opened


# --- MySQL's protocol ---

_LAST_PREPARED = 0xFFFFFFFF  # to MariaDB
_EXECUTE_BODY = struct.pack("<BIBIBBHi", 0x17, _LAST_PREPARED, 0, 1, 0, 1, 3, 0)  # once, no NULL, one LONG
_EXECUTE = (struct.pack("<I", len(_EXECUTE_BODY)) + _EXECUTE_BODY, 4 + len(_EXECUTE_BODY) - 4)


def _mysql(server: Server) -> socket.socket:
    opened = _connected(server)
    stream = opened.makefile("rb")

    def packet() -> bytes:
        return stream.read(struct.unpack("<I", stream.read(4))[0] & 0xFFFFFF)

    def send(body: bytes, number: int = 0) -> None:
        opened.sendall(struct.pack("<I", len(body) | number << 24) + body)

    packet()  # the greeting
    flags = _DATABASE_GIVEN | _PROTOCOL_41 | _SECURE | _PLUGIN
    names = b"root\0" + b"\0" + server.address.database.encode() + b"\0" + b"mysql_native_password\0"
    send(struct.pack("<IIB23x", flags, 1 << 24, 45) + names, 1)
    answer = packet()
    if answer[0] == 0xFE:  # asked for another way: the socket tells who we are
        send(b"", 3)
        answer = packet()
    assert answer[0] == 0, answer
    send(b"\x16" + QUERY % b"?")
    answer = packet()
    assert answer[0] == 0, answer
    columns, parameters = struct.unpack_from("<HH", answer, 5)
    for _ in range(columns + parameters + 2):  # with an end after either
        packet()
    return opened


# --- PostgreSQL's ---


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack(">I", len(body) + 4) + body


_BIND_BODY = b"\0s\0" + struct.pack(">HHHIiH", 1, 1, 1, 4, 0, 0)  # one binary parameter of four bytes
_BIND_MESSAGE = _message(b"B", _BIND_BODY)
_BIND = (_BIND_MESSAGE + _message(b"E", b"\0" + bytes(4)) + _message(b"S", b""), len(_BIND_MESSAGE) - 6)


def _postgres(server: Server) -> socket.socket:
    opened = _connected(server)
    stream = opened.makefile("rb")

    def until_ready() -> None:
        kind = b""
        while kind != b"Z":
            kind = stream.read(1)
            body = stream.read(struct.unpack(">I", stream.read(4))[0] - 4)
            assert kind != b"E", body

    words = b"".join(one.encode() + b"\0" for one in ("user", server.address.user, "database", server.address.database))
    opened.sendall(_message(b"", struct.pack(">I", 3 << 16) + words + b"\0"))
    until_ready()
    opened.sendall(_message(b"P", b"s\0" + QUERY % b"$1" + b"\0" + struct.pack(">HI", 1, _INT4)) + _message(b"S", b""))
    until_ready()
    return opened
