"""Output of untrusted programs, read within limits of size and time."""

import collections
import contextlib
import errno
import os
import re
import select
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO

from paribus.hosts.transport import Completed

LINE_BYTES = 8 * 2**20  # of one event of the engine; the longest has a histogram or a file's text
OUTPUT_BYTES = 64 * 2**20  # of a program that runs to its end
SHORT_BYTES = 2**20  # of a path, a version or an error
_UNREAD_BYTES = 64 * 2**20  # beyond it the program waits
_CHUNK_BYTES = 65536
_GLANCE_S = 0.5


class TooLong(Exception):
    """A line or an output beyond its limit, of `most` bytes."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.most = most

    def __str__(self) -> str:
        return f"more than {self.most // 2**20} MiB"


class LineQueue:
    """Unread lines of a program; the producer waits while they exceed a limit."""

    def __init__(self) -> None:
        self._lines: collections.deque[str] = collections.deque()
        self._size = 0
        self._is_released = False
        self._changed = threading.Condition()
        self._end: TooLong | EOFError | None = None

    def put(self, line: str) -> None:
        """Add a line, once there is room for it."""
        with self._changed:
            self._changed.wait_for(lambda: self._size < _UNREAD_BYTES or self._is_released)
            if self._size < _UNREAD_BYTES:
                self._lines.append(line)
                self._size += len(line)
                self._changed.notify_all()

    def release(self) -> None:
        """Let no producer wait any more, since the program has ended; lines without room are dropped."""
        with self._changed:
            self._is_released = True
            self._changed.notify_all()

    def end(self, cause: TooLong | EOFError) -> None:
        """Mark the end: no more lines follow."""
        with self._changed:
            self._end = cause
            self._changed.notify_all()

    def get(self, timeout_s: float) -> str | None:
        """The next line, None when none came in time. Raises EOFError or TooLong at the end, each time."""
        with self._changed:
            self._changed.wait_for(lambda: self._lines or self._end is not None, timeout_s)
            if self._lines:
                line = self._lines.popleft()
                self._size -= len(line)
                self._changed.notify_all()
                return line
            if self._end is not None:
                raise self._end
            return None


def read_lines(pipe: IO[bytes], lines: LineQueue) -> None:
    """Fill the queue to the pipe's end, or to a line that is too long, and close the pipe."""
    with pipe:
        while line := pipe.readline(LINE_BYTES + 1):
            if len(line) > LINE_BYTES:
                return lines.end(TooLong(LINE_BYTES))
            lines.put(line.decode(errors="replace"))
    return lines.end(EOFError())


def write(pipe: int, content: bytes, timeout_s: float) -> bool:
    """Write to a non-blocking pipe; whether everything was written in time. Raises OSError."""
    waiting = select.poll()
    waiting.register(pipe, select.POLLOUT)
    deadline = time.monotonic() + timeout_s
    while content:
        if not waiting.poll(max(0.0, deadline - time.monotonic()) * 1000):
            return False
        with contextlib.suppress(BlockingIOError):
            content = content[os.write(pipe, content[:_CHUNK_BYTES]) :]
    return True


class _Output(threading.Thread):
    """The output of a program up to a limit; the rest is dropped."""

    def __init__(self, pipe: IO[bytes], most: int) -> None:
        super().__init__(daemon=True)
        self._pipe, self._most = pipe, most
        self._bytes = bytearray()
        self._is_stopped = False
        self.start()

    def run(self) -> None:
        """Read to the end, or until stopped; a descendant may keep the pipe open after the program's end."""
        with self._pipe:
            while not self._is_stopped and (chunk := os.read(self._pipe.fileno(), _CHUNK_BYTES)):
                if not self.is_too_long():
                    self._bytes += chunk

    def stop(self) -> None:
        """Read no more."""
        self._is_stopped = True

    def is_too_long(self) -> bool:
        """Whether the limit was reached."""
        return len(self._bytes) > self._most

    def text(self) -> str:
        """The output so far, with Python's line ends."""
        return re.sub("\r\n?", "\n", self._bytes[: self._most].decode(errors="replace"))


def run(
    argv: Sequence[str],
    content: bytes,
    *,
    most: int,
    timeout_s: float | None,
    env: Mapping[str, str] | None = None,
    new_session: bool = False,
    waits: Callable[[], None] = lambda: None,
) -> Completed:
    """Run a program to its end, with `content` on its stdin; `waits` is called at intervals.

    Raises OSError where it cannot be started, TooLong, and subprocess.TimeoutExpired; the program is killed then.
    """
    child = subprocess.Popen(
        list(argv),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=new_session,
        env=env,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stderr is not None
    feeding = threading.Thread(target=_feed, args=(child.stdin, content), daemon=True)
    try:
        stdout, stderr = _Output(child.stdout, most), _Output(child.stderr, SHORT_BYTES)
        feeding.start()
    except RuntimeError as error:
        child.kill()
        child.wait()
        raise OSError(errno.EAGAIN, "no thread can be started (ulimit -u)") from error
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    try:
        for thread in (stdout, stderr, feeding):
            while thread.is_alive():
                if deadline is not None and time.monotonic() > deadline:
                    raise subprocess.TimeoutExpired(list(argv), timeout_s or 0.0)
                thread.join(_GLANCE_S)
                waits()
                if stdout.is_too_long():
                    raise TooLong(most)
        exit_code = child.wait(None if deadline is None else max(0.0, deadline - time.monotonic()))
    finally:
        child.kill()
        child.wait()
        stdout.stop()
        stderr.stop()
    if stdout.is_too_long():
        raise TooLong(most)
    return Completed(exit_code, stdout.text(), stderr.text())


def _feed(pipe: IO[bytes], content: bytes) -> None:
    with contextlib.suppress(OSError):  # it ended before it had read everything; its exit code shows how
        pipe.write(content)
    with contextlib.suppress(OSError):
        pipe.close()
