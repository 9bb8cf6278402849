"""The log file of an experiment's progress."""

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from paribus.cli.terminal import visible
from paribus.errors import UsageError

Log = Callable[[str], None]
"""Receiver of a line of the progress."""


def discard(_line: str) -> None:
    """Ignore a line."""


@contextlib.contextmanager
def progress_log(path: Path | None) -> Iterator[Log]:
    """Open a file to which lines are appended with their local time; without a path they are discarded.

    A line that cannot be written, as on a full disk, is lost and stops no experiment. Raises UsageError where the file
    cannot be opened.
    """
    if path is None:
        yield discard
        return
    try:
        file = path.open("a", buffering=1, encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"cannot write the log {path}: {error.strerror}", "name another file with --log") from error

    def append(line: str) -> None:
        with contextlib.suppress(OSError):
            file.write(f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} {visible(line)}\n")

    try:
        yield append
    finally:
        with contextlib.suppress(OSError):
            file.close()
