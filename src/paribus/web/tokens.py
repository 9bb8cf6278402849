"""The token that opens the pages: a new one for each start, or one that is kept in a file."""

import os
import re
import secrets
import stat
from pathlib import Path

from paribus.errors import UsageError
from paribus.files import replaceable

_FORM = re.compile(r"[A-Za-z0-9_.~-]{32,256}")
_OF_OTHERS = stat.S_IWGRP | stat.S_IRWXO


def make() -> str:
    """Return a secret of 256 bits that fits into a URL."""
    return secrets.token_urlsafe(32)


def of_file(path: Path) -> str:
    """Return the token in a file; a file that does not exist is made with a new one.

    A group may read it, such as that of a program that collects numbers. Raises UsageError for a file that others can
    read or write, and for one without a token.
    """
    try:
        if reason := replaceable(path.parent):
            raise UsageError(f"the token in {path} is not used: {reason}", "name a file that is yours alone")
        return _read(path) if path.exists() else _written(path)
    except (OSError, UnicodeDecodeError) as error:
        cause = error.strerror if isinstance(error, OSError) else "it is no text"
        raise UsageError(f"no token can be kept in {path}: {cause}", "name a file in a folder that exists") from error


def _written(path: Path) -> str:
    token = make()
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "w") as file:
        file.write(f"{token}\n")
    return token


def _read(path: Path) -> str:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, encoding="utf-8") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_uid not in (0, os.geteuid()):
            raise UsageError(f"{path} is no file of yours", "name a file that is yours, or one that does not exist")
        if status.st_mode & _OF_OTHERS:
            raise UsageError(f"other users can read or write {path}", f"make it yours alone: chmod 600 {path}")
        token = file.read(1024).strip()
    if not _FORM.fullmatch(token):
        raise UsageError(
            f"{path} has no token: it must be 32 to 256 letters, digits or any of - _ . ~",
            "remove the file: paribus serve then writes a new one",
        )
    return token
