"""The processor time of `paribus serve` among many readers, and without a free file descriptor."""

import contextlib
import resource
import time

import hostile
import web_samples as samples
from sqlalchemy.engine import Engine as Store
from watched import serving


def test_two_hundred_streams_cost_less_than_a_page_for_each(long_list: Store) -> None:
    with serving("--port", "0") as server, contextlib.ExitStack() as stack:
        pid = server.process.pid
        streams = [stack.enter_context(hostile.open_stream(server)) for _ in range(200)]
        for stream in streams:
            hostile.received(stream, b"\n\n")
        used = hostile.processor_s(pid)
        samples.begin(long_list, 2, "one more", "20260102-000000-abcd")
        for stream in streams:
            hostile.received(stream, b"one more")
        of_streams = hostile.processor_s(pid) - used
        used = hostile.processor_s(pid)
        assert server.shows_its_list()
        of_a_page = hostile.processor_s(pid) - used
    assert of_streams < 50 * max(of_a_page, 0.05)


def test_without_a_file_descriptor_the_server_rests() -> None:
    with serving("--port", "0") as server:
        pid = server.process.pid
        assert server.shows_its_list()
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (1, 1024))
        with hostile.connect(server) as waiting:
            waiting.sendall(hostile.request(server))
            used, began = hostile.processor_s(pid), time.monotonic()
            time.sleep(3)  # the time over which its work is looked at
            share = (hostile.processor_s(pid) - used) / (time.monotonic() - began)
    assert share < 0.2
