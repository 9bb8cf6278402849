"""Notices of `serve` on standard error: events are counted and reported in one line every ten seconds.

Requests never wait for standard error. A separate thread writes; if it is blocked or standard error is closed, only the
counters grow.
"""

import contextlib
import logging
import os
import sys
import threading
import time
import traceback
from collections import Counter
from enum import StrEnum

_EVERY_S = 10.0
_COLLECT_S = 0.5
_START_S = 1.0  # that a line said at the start may take before it is given up
_QUOTED = 60
_LINE_BYTES = 2048


class Event(StrEnum):
    """Counted events, as named in the report."""

    MALFORMED = "malformed requests"
    LATE = "requests not complete in time"
    DROPPED = "connections without the token closed to make room for others"
    STALLED = "connections closed whose reader took nothing in time"
    REFUSED = "requests refused because too many connections with the token are open"
    NOT_ACCEPTED = "failures to accept a connection"
    INTERNAL = "internal errors"


class Notices:
    """Counters of events, and the thread that reports them."""

    def __init__(self, every_s: float = _EVERY_S) -> None:
        self._every_s = every_s
        self._lock = threading.Lock()
        self._pending = threading.Event()
        self._counts: Counter[Event] = Counter()
        self._details: dict[Event, str] = {}
        self._is_over = False
        self._descriptor = _standard_error()

    def start(self) -> None:
        """Report from now on."""
        threading.Thread(target=self._report, name="notices", daemon=True).start()

    def count(self, event: Event, detail: str = "", times: int = 1) -> None:
        """Count an event; the report quotes the latest detail."""
        with self._lock:
            if self._is_over:
                return
            self._counts[event] += times
            self._details[event] = detail
        self._pending.set()

    def stop(self) -> None:
        """Report what was counted since the last report, and stop counting."""
        with self._lock:
            self._is_over = True
        if self._pending.is_set():
            self.say(self.summary())

    def say(self, line: str) -> None:
        """Write a line now; give up after one second if standard error blocks."""
        writer = threading.Thread(target=self._write, args=(line,), daemon=True)
        writer.start()
        writer.join(_START_S)

    def summary(self) -> str:
        """The events since the last summary, in one line of printable ASCII."""
        with self._lock:
            counts, details = self._counts, self._details
            self._counts, self._details = Counter(), {}
            self._pending.clear()
        parts = [
            f"{event}: {counts[event]:,}" + (f" (last: {printable(details[event])})" if details[event] else "")
            for event in Event
            if counts[event]
        ]
        return f"paribus serve: {'; '.join(parts)}"

    def _report(self) -> None:
        while True:
            self._pending.wait()
            time.sleep(_COLLECT_S)
            if self._pending.is_set():  # else the end of the server has reported it
                self._write(self.summary())
            time.sleep(self._every_s)

    def _write(self, line: str) -> None:
        if self._descriptor is not None:
            with contextlib.suppress(OSError):  # closed, or full and not waiting: nobody reads it
                os.write(self._descriptor, line.encode("utf-8", "replace")[:_LINE_BYTES] + b"\n")


class NoticeHandler(logging.Handler):
    """Counts log records of libraries as internal errors: the message and its origin, without a traceback."""

    def __init__(self, notices: Notices) -> None:
        super().__init__(logging.WARNING)
        self._notices = notices

    def emit(self, record: logging.LogRecord) -> None:
        """Count a record."""
        error = record.exc_info[1] if record.exc_info else None
        detail = record.getMessage().strip() if error is None else describe(error)
        self._notices.count(Event.INTERNAL, detail)


def describe(error: BaseException) -> str:
    """An exception in one line: its type, its message, and the last line of the program that raised it."""
    frames = traceback.extract_tb(error.__traceback__, limit=-1)
    location = f" at {os.path.basename(frames[0].filename)}:{frames[0].lineno}" if frames else ""  # noqa: PTH119
    return f"{type(error).__name__}{location}: {error}"


def printable(text: str | bytes) -> str:
    """The first characters of a text, control characters and all that is not ASCII escaped."""
    characters = text.decode("latin-1") if isinstance(text, bytes) else text
    escaped = characters[:_QUOTED].encode("unicode_escape").decode("ascii")
    return escaped + ("..." if len(characters) > _QUOTED else "")


def _standard_error() -> int | None:
    """The file descriptor of standard error; None if it was closed, since another file may have its number."""
    try:
        return sys.stderr.fileno()
    except (AttributeError, OSError, ValueError):
        return None
