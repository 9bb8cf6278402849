"""Processes that hold a lock of a store's files, for messages."""

import os
from collections.abc import Iterable
from pathlib import Path

from paribus.files import user_name

_LOCKS = Path("/proc/locks")


def lock_holders(files: Iterable[Path]) -> str:
    """Other processes with a lock on one of these files, such as "process 812 (sqlite3) of alice"; empty if unknown."""
    inodes = {str(file.stat().st_ino) for file in files if file.exists()}
    try:
        lines = _LOCKS.read_text().splitlines()
    except OSError:
        return ""
    # 1: POSIX  ADVISORY  READ  812 fe:01:4567 128 128, or with an arrow for one that waits
    locks = [line.split() for line in lines if "->" not in line]
    pids = {fields[4] for fields in locks if fields[5].rpartition(":")[2] in inodes} - {str(os.getpid())}
    return ", ".join(filter(None, map(_named, sorted(pids, key=int))))


def _named(pid: str) -> str:
    process = Path("/proc", pid)
    try:
        return f"process {pid} ({(process / 'comm').read_text().strip()}) of {user_name(process.stat().st_uid)}"
    except OSError:  # it has ended
        return ""
