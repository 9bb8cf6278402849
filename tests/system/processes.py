"""The programs that a command has started, and whether a secret is in their environment."""

import contextlib
import signal
import time
from collections.abc import Callable
from pathlib import Path

from command import Running

_PAUSE_S = 0.002  # between two looks, so that the command is not starved by whoever watches it


def _read(pid: str, name: str) -> bytes:
    try:
        return Path("/proc", pid, name).read_bytes()
    except OSError:  # it has ended
        return b""


def _descendants(pid: int) -> list[str]:
    """Every process below it that has become a program of its own."""
    time.sleep(_PAUSE_S)
    found, ahead = [], [str(pid)]
    while ahead:
        tasks = Path("/proc", ahead.pop(), "task")
        with contextlib.suppress(OSError):  # it has ended
            for task in tasks.iterdir():
                children = _read(str(tasks), f"{task.name}/children").decode().split()
                found += children
                ahead += children
    return [one for one in found if _read(one, "cmdline") != _read(str(pid), "cmdline")]


def programs_until_end(running: Running, secret: str) -> tuple[set[str], set[str]]:
    """Watch a command to its end: the programs that had the secret, and those that had not.

    A program is told by its name, the engine by its verb.
    """
    having, lacking = set(), set()
    while running.goes_on():
        for pid in _descendants(running.pid):
            words = [word.decode(errors="replace") for word in _read(pid, "cmdline").split(b"\0") if word]
            environment = _read(pid, "environ")
            if not words or not environment:
                continue
            name = Path(words[0]).name
            (having if secret.encode() in environment else lacking).add(words[1] if "engine" in name else name)
    return having, lacking


def shown_until_end(
    running: Running, secret: str, is_enough: Callable[[], bool] = lambda: False
) -> tuple[set[str], list[str]]:
    """Watch a command to its end: the programs that it started, and the command lines that show the secret.

    It is interrupted as soon as `is_enough`.
    """
    programs, showing, interrupted = set(), [], False
    while running.goes_on():
        if not interrupted and is_enough():
            running.signal(signal.SIGINT)
            interrupted = True
        for pid in _descendants(running.pid):
            line = _read(pid, "cmdline")
            programs.add(Path(line.split(b"\0")[0].decode(errors="replace")).name)
            if secret.encode() in line:
                showing.append(line.replace(b"\0", b" ").decode(errors="replace"))
    return programs, showing


def keepers_of(pid: int) -> set[int]:
    """The keepers that a process has started."""
    return {
        keeper for keeper in keepers() if _read(str(keeper), "stat").rpartition(b")")[2].split()[1:2] == [b"%d" % pid]
    }


def keepers() -> set[int]:
    """The keepers of journals on this machine."""
    words = {path.name: _read(path.name, "cmdline").split(b"\0") for path in Path("/proc").glob("[0-9]*")}
    return {int(pid) for pid, of in words.items() if of[0].endswith(b"paribus-engine") and b"journal" in of}
