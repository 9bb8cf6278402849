"""`paribus serve` among users who have no token, readers who do not read, and without file descriptors."""

import contextlib
import os
import resource
import socket
from collections.abc import Iterator
from pathlib import Path

import hostile
import pytest
import web_samples as samples
from sqlalchemy.engine import Engine as Store
from waiting import wait_for
from watched import serving

NOBODY = 65534


def _open(peers: list[socket.socket]) -> int:
    """The number of connections that the server has not closed."""
    return sum(not hostile.is_closed(peer) for peer in peers)


def test_half_open_connections_leave_the_pages_to_the_owner() -> None:
    with serving("--port", "0") as server, hostile.open_stream(server) as stream:
        assert b"data: " in hostile.received(stream, b"data: ")
        with hostile.half_open(server, 1200) as peers:
            assert server.shows_its_list()
            wait_for(lambda: _open(peers) <= 128, "most are closed")
            assert server.shows_its_list()
            assert not hostile.is_closed(stream)
        said = server.interrupt()
    assert "without the token" in said
    assert "Traceback" not in said


def test_connections_of_another_user_make_no_room_for_each_other_at_the_cost_of_the_owner(as_root: None) -> None:
    with serving("--port", "0") as server, hostile.connect(server) as owner:
        owner.sendall(hostile.HEADER_BEGUN)
        with hostile.half_open(server, 300, user=NOBODY) as peers:
            wait_for(lambda: _open(peers) <= 64, "most are closed")
            assert not hostile.is_closed(owner)
            owner.sendall(hostile.request(server).removeprefix(hostile.HEADER_BEGUN))
            assert owner.recv(1024).startswith(b"HTTP/1.1 200 ")


def test_slow_clients_are_disconnected() -> None:
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

        wait_for(all_closed, "all are closed")
        assert server.shows_its_list()


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
                wait_for(lambda peer=peer: hostile.is_closed(peer), "it is closed")  # type: ignore[misc]
        assert server.shows_its_list()


def test_malformed_requests_are_counted_in_one_printable_line(tmp_path: Path) -> None:
    with (tmp_path / "err").open("w+") as err:
        with serving("--port", "0", err=err) as server:
            hostile.send_malformed(server, 50)
            assert server.shows_its_list()
            wait_for(lambda: "malformed requests" in (tmp_path / "err").read_text(), "they are told")
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
        assert server.shows_its_list()
        server.interrupt()
        assert server.process.returncode == 0


def test_the_owner_is_answered_beside_two_hundred_streams(long_list: Store) -> None:
    with serving("--port", "0") as server, contextlib.ExitStack() as stack:
        streams = [stack.enter_context(hostile.open_stream(server)) for _ in range(200)]
        for stream in streams:
            hostile.received(stream, b"\n\n")
        samples.begin(long_list, 2, "one more", "20260102-000000-abcd")
        assert server.shows_its_list()
        for stream in streams:
            hostile.received(stream, b"one more")


def test_a_stream_whose_reader_does_not_read_is_closed(long_list: Store) -> None:
    with serving("--port", "0") as server, hostile.open_stream(server, receive_buffer=4096) as idle:
        with hostile.open_stream(server) as reading:
            number = iter(range(1000))

            def closed_as_events_come() -> bool:
                samples.begin(long_list, 2, "another", f"20260102-{next(number):06}-abcd")
                hostile.received(reading, b"\n\n")
                return hostile.is_closed(idle)

            wait_for(closed_as_events_come, "the stream that is not read is closed")
            assert not hostile.is_closed(reading)
        assert server.shows_its_list()


def test_few_file_descriptors_are_enough() -> None:
    with serving("--port", "0", descriptors=64) as server, hostile.half_open(server, 200):
        assert server.shows_its_list()
        assert hostile.open_files(server.process.pid) < 64


def test_without_a_file_descriptor_it_waits_until_one_is_free(tmp_path: Path) -> None:
    with (tmp_path / "err").open("w+") as err, serving("--port", "0", err=err) as server:
        pid = server.process.pid
        assert server.shows_its_list()
        limit = resource.prlimit(pid, resource.RLIMIT_NOFILE, (1, 1024))
        with hostile.connect(server) as waiting:
            waiting.sendall(hostile.request(server))
            wait_for(lambda: "failures to accept" in (tmp_path / "err").read_text(), "the failures are told")
            assert server.process.poll() is None
            resource.prlimit(pid, resource.RLIMIT_NOFILE, limit)
            assert waiting.recv(1024).startswith(b"HTTP/1.1 200 ")
        assert server.shows_its_list()
        server.interrupt()
        said = (tmp_path / "err").read_text()
    assert "Traceback" not in said
    assert said.count("\n") < 10
