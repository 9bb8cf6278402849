"""Temporary folders of this program, and those that killed programs have left."""

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

_PREFIX = "paribus-"
_LOCK = "lock"


class TemporaryFolder:
    """A folder for this user alone, locked as long as the program lives."""

    def __init__(self, purpose: str) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{purpose}-"))
        self._lock = os.open(self.path / _LOCK, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def remove(self) -> None:
        """Remove the folder and release its lock."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def abandoned() -> list[Path]:
    """Temporary folders of this user whose program was killed."""
    candidates = sorted(Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"))
    return [path for path in candidates if _is_own(path) and _is_unlocked(path / _LOCK)]


def _is_own(path: Path) -> bool:
    status = path.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()


def _is_unlocked(path: Path) -> bool:
    """Whether the file exists and no program has locked it."""
    with _opened(path) as handle:
        if handle is None:
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int | None]:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        yield None
        return
    try:
        yield handle
    finally:
        os.close(handle)
