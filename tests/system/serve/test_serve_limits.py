"""`paribus serve` among users who have no token, readers who do not read, and without file descriptors."""

import contextlib
import os
import resource
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError

import hostile
import pytest
import web_samples as samples
from sqlalchemy.engine import Engine as Store
from watched import Serving, serving

from paribus.store.open import open_engine, store_url

PAGE = "<!doctype html>"
NOBODY = 65534


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """The store that the server shows, with a list of a few hundred experiments."""
    made = open_engine(store_url(str(tmp_path / "paribus.db")), create=True)
    for number in range(300):
        samples.begin(made, 2, f"a long name of experiment {number}", f"20260101-{number:06}-abcd")
    return made


def shown(server: Serving) -> bool:
    """Whether the owner is shown the list."""
    try:
        return PAGE in server.get("/")
    except (OSError, HTTPError):
        return False


def test_half_open_connections_leave_the_pages_to_the_owner() -> None:
    with serving("--port", "0") as server, hostile.open_stream(server) as stream:
        assert b"data: " in received(stream, b"data: ")
        with hostile.half_open(server, 1200) as peers:
            assert shown(server)
            assert hostile.wait_until(lambda: sum(not hostile.is_closed(peer) for peer in peers) <= 128)
            assert shown(server)
            assert not hostile.is_closed(stream)
        said = server.interrupt()
    assert "without the token" in said
    assert "Traceback" not in said


def test_connections_of_another_user_make_no_room_for_each_other_at_the_cost_of_the_owner(as_root: None) -> None:
    with serving("--port", "0") as server, hostile.connect(server) as owner:
        owner.sendall(hostile.HEADER_BEGUN)
        with hostile.half_open(server, 300, user=NOBODY) as peers:
            assert hostile.wait_until(lambda: sum(not hostile.is_closed(peer) for peer in peers) <= 64)
            assert not hostile.is_closed(owner)
            owner.sendall(hostile.request(server).removeprefix(hostile.HEADER_BEGUN))
            assert owner.recv(1024).startswith(b"HTTP/1.1 200 ")


def test_who_is_slow_is_not_waited_for() -> None:
    with serving("--port", "0") as server, contextlib.ExitStack() as stack:
        begun = {
            "silent": b"",
            "header": hostile.HEADER_BEGUN,
            "body": hostile.request(server, method="POST", more="Content-Length: 9999\r\n", token=False),
            "body of the owner": hostile.request(server, method="POST", more="Content-Length: 9999\r\n"),
            "body in chunks": hostile.request(server, "/stream", more="Transfer-Encoding: chunked\r\n"),
            "second request": hostile.request(server) + b"GET /",
        }
        peers = {name: stack.enter_context(hostile.connect(server)) for name in begun}
        for name, text in begun.items():
            peers[name].sendall(text)

        def all_closed() -> bool:
            hostile.trickle([peer for name, peer in peers.items() if name != "silent"])
            return all(map(hostile.is_closed, peers.values()))

        assert hostile.wait_until(all_closed), {name: hostile.is_closed(peer) for name, peer in peers.items()}
        assert shown(server)


def test_large_requests_are_refused() -> None:
    with serving("--port", "0") as server:
        for text, answer in (
            (hostile.request(server, more=f"A: {'a' * 40_000}\r\n"), b"HTTP/1.1 400 "),
            (hostile.request(server, f"/?{'a' * 40_000}"), b"HTTP/1.1 400 "),
            (hostile.request(server, more="Content-Length: 9\r\n") + b"a" * 9, b"HTTP/1.1 413 "),
        ):
            with hostile.connect(server) as peer:
                peer.sendall(text)
                assert peer.recv(1024).startswith(answer)
                assert hostile.wait_until(lambda peer=peer: hostile.is_closed(peer))  # type: ignore[misc]
        assert shown(server)


def test_malformed_requests_are_counted_in_one_printable_line(tmp_path: Path) -> None:
    with (tmp_path / "err").open("w+") as err:
        with serving("--port", "0", err=err) as server:
            hostile.send_malformed(server, 50)
            assert shown(server)
            assert hostile.wait_until(lambda: "malformed requests" in (tmp_path / "err").read_text())
            server.interrupt()
            assert server.process.returncode == 0
        said = (tmp_path / "err").read_text()
    assert "Traceback" not in said
    assert "internal error" not in said
    assert said.count("\n") < 20
    assert said.replace("\n", "").isprintable()
    assert server.token not in said


@pytest.fixture(params=["not read", "full", "closed"])
def unread(request: pytest.FixtureRequest) -> Iterator[int]:
    """A standard error that nobody reads."""
    reading, writing = os.pipe()
    if request.param == "full":
        os.set_blocking(writing, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writing, b"x" * 4096)
        os.set_blocking(writing, True)
    if request.param == "closed":
        os.close(reading)
    yield writing
    os.close(writing)
    if request.param != "closed":
        os.close(reading)


def test_no_reader_of_standard_error_is_needed(unread: int) -> None:
    with serving("--port", "0", err=unread) as server:
        hostile.send_malformed(server, 100)
        assert shown(server)
        server.interrupt()
        assert server.process.returncode == 0


def test_the_owner_is_answered_beside_two_hundred_streams(store: Store) -> None:
    with serving("--port", "0") as server, contextlib.ExitStack() as stack:
        streams = [stack.enter_context(hostile.open_stream(server)) for _ in range(200)]
        for stream in streams:
            received(stream, b"\n\n")
        cost = hostile.processor_s(server.process.pid)
        samples.begin(store, 2, "one more", "20260102-000000-abcd")
        assert shown(server)
        for stream in streams:
            received(stream, b"one more")
        cost = hostile.processor_s(server.process.pid) - cost
        alone = hostile.processor_s(server.process.pid)
        assert shown(server)
        alone = hostile.processor_s(server.process.pid) - alone
        assert cost < 50 * max(alone, 0.05)  # not a page for each stream


def test_a_stream_whose_reader_does_not_read_is_closed(store: Store) -> None:
    with serving("--port", "0") as server, hostile.open_stream(server, receive_buffer=4096) as idle:
        with hostile.open_stream(server) as reading:
            number = iter(range(1000))

            def closed_as_events_come() -> bool:
                samples.begin(store, 2, "another", f"20260102-{next(number):06}-abcd")
                received(reading, b"\n\n")
                return hostile.is_closed(idle)

            assert hostile.wait_until(closed_as_events_come, every_s=0.0)
            assert not hostile.is_closed(reading)
        assert shown(server)


def test_few_file_descriptors_are_enough() -> None:
    with serving("--port", "0", descriptors=64) as server, hostile.half_open(server, 200):
        assert shown(server)
        assert hostile.open_files(server.process.pid) < 64


def test_without_a_file_descriptor_it_waits_until_one_is_free(tmp_path: Path) -> None:
    with (tmp_path / "err").open("w+") as err, serving("--port", "0", err=err) as server:
        pid = server.process.pid
        assert shown(server)
        limit = resource.prlimit(pid, resource.RLIMIT_NOFILE, (1, 1024))
        with hostile.connect(server) as waiting:
            waiting.sendall(hostile.request(server))
            used, began = hostile.processor_s(pid), time.monotonic()
            time.sleep(3)  # the time over which its work is looked at
            share = (hostile.processor_s(pid) - used) / (time.monotonic() - began)
            assert share < 0.2
            assert server.process.poll() is None
            resource.prlimit(pid, resource.RLIMIT_NOFILE, limit)
            assert waiting.recv(1024).startswith(b"HTTP/1.1 200 ")
        assert shown(server)
        assert hostile.wait_until(lambda: "failures to accept" in (tmp_path / "err").read_text())
        server.interrupt()
        said = (tmp_path / "err").read_text()
    assert "Traceback" not in said
    assert said.count("\n") < 10


def received(stream: socket.socket, until: bytes) -> bytes:
    """What comes of a stream up to these bytes."""
    text = b""
    while until not in text:
        more = stream.recv(2**20)
        assert more, "the stream has ended"
        text += more
    return text
