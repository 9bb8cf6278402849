"""A private server started and stopped a thousand times, every tenth time killed: nothing of it may be left.

By the product's own `Instance`: each time a stop in good order, every tenth a SIGKILL of the server, of its keeper, or
of a controller that has both. No process may be there after any. At the end no folder, socket or segment of shared
memory may be left, and no more file handles of our own than before.

    .venv/bin/python proof/soak/run.py [--kind mariadb|postgres] [--times 1000]
"""

import argparse
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from paribus.databases import Instance
from paribus.engine.find import binary
from paribus.errors import EngineError
from paribus.hosts.local import LocalHost

EVERY = 10
PATIENCE_S = 60.0
CONTROLLER = """
import sys, time
from paribus.databases import Instance
from paribus.hosts.local import LocalHost
one = Instance(LocalHost(), sys.argv[1], sys.argv[2], sys.argv[3])
one.start()
print("up", flush=True)
time.sleep(600)
"""


def processes(folder: Path) -> set[str]:
    """Whoever has the folder in his command line, but for ourselves."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if f"{folder}/" in words and path.parent.name != str(os.getpid()):
            found.add(f"{path.parent.name} {words}")
    return found


class SharedMemory:
    """Shared memory of our servers, POSIX's and System V's; other servers of the machine have some too."""

    def __init__(self) -> None:
        self._files: set[str] = set()
        self._pids: set[str] = set()
        self._before = {number for number, _ in _segments()}  # of processes whose numbers come again

    def watch(self, folder: Path) -> None:
        """Take note of what those who run now have."""
        for words in processes(folder):
            pid = words.split()[0]
            with contextlib.suppress(OSError):
                maps = Path(f"/proc/{pid}/maps").read_text()
                self._files |= set(re.findall(r"/dev/shm/\S+", maps))  # noqa: S108
                self._pids.add(pid)

    def left(self) -> list[str]:
        """Return the segments and files of our servers that are left."""
        ours = [number for number, pid in _segments() if pid in self._pids and number not in self._before]
        return [
            *(f"System V segment {number}" for number in ours),
            *(path for path in sorted(self._files) if Path(path).exists()),
        ]


def _segments() -> list[tuple[str, str]]:
    """System V's, and who made each."""
    rows = (row.split() for row in Path("/proc/sysvipc/shm").read_text().splitlines()[1:])
    return [(row[1], row[4]) for row in rows]


SHARED = SharedMemory()


def _wait_until_gone(one: Instance, folder: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while _runs(one) or processes(folder):
        if time.monotonic() > deadline:
            raise AssertionError(f"still there after {PATIENCE_S:.0f} s: {processes(folder)}")
        time.sleep(0.02)


def _runs(one: Instance) -> bool:
    try:
        return one.is_running()
    except EngineError:  # its keeper was killed
        return False


def kill_the_server(one: Instance, folder: Path, _kind: str) -> None:
    """As a crash does."""
    one.start()
    SHARED.watch(folder)
    os.kill(one.pid, signal.SIGKILL)
    _wait_until_gone(one, folder)


def kill_the_keeper(one: Instance, folder: Path, _kind: str) -> None:
    """The process that keeps the server; the kernel ends that with it."""
    one.start()
    SHARED.watch(folder)
    keepers = subprocess.run(["ps", "-o", "ppid=", "-p", str(one.pid)], capture_output=True, text=True, check=True)
    os.kill(int(keepers.stdout), signal.SIGKILL)
    _wait_until_gone(one, folder)


def kill_the_controller(one: Instance, folder: Path, kind: str) -> None:
    """Another one of ours, that has started the server."""
    argv = [sys.executable, "-c", CONTROLLER, binary(), str(folder / "db"), kind]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as controller:
        assert controller.stdout is not None
        if controller.stdout.readline() != "up\n":
            raise AssertionError("a controller did not start the server")
        SHARED.watch(folder)
        controller.kill()
    _wait_until_gone(one, folder)


def stop(one: Instance, folder: Path, _kind: str) -> None:
    """In good order."""
    one.start()
    SHARED.watch(folder)
    one.stop()


KILLS = (kill_the_server, kill_the_keeper, kill_the_controller)


def soak(folder: Path, kind: str, times: int) -> list[str]:
    """Start and end the server so many times, and print how long that took; what is left then."""
    one = Instance(LocalHost(), binary(), str(folder / "db"), kind)
    one.create()
    took: dict[str, list[float]] = {}
    found: list[str] = []
    handles = _handles()
    for number in range(1, times + 1):
        end = KILLS[number // EVERY % len(KILLS)] if number % EVERY == 0 else stop
        began = time.monotonic()
        end(one, folder, kind)
        took.setdefault(end.__name__.replace("_", " "), []).append(time.monotonic() - began)
        found += [f"after start {number}: {what}" for what in processes(folder)]
        if number % 50 == 0:
            print(f"{number} of {times}, {sum(map(sum, took.values())):.0f} s", file=sys.stderr, flush=True)
    stop(one, folder, kind)  # the next start clears away what a kill must leave, such as a socket's name
    one.remove()
    print(f"{kind} {one.program.version}\n\n| end | times | median s | longest s |\n| --- | --- | --- | --- |")
    for name, seconds in took.items():
        print(f"| {name} | {len(seconds)} | {sorted(seconds)[len(seconds) // 2]:.2f} | {max(seconds):.2f} |")
    grown = _handles() - handles
    handle = [f"{grown} file handles of our own"] if grown else []
    return [*found, *processes(folder), *map(str, folder.iterdir()), *SHARED.left(), *handle]


def _handles() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def main() -> int:
    """Print the table; 1 where anything is left."""
    arguments = argparse.ArgumentParser(description="Start and end a private server again and again.")
    arguments.add_argument("--kind", choices=["mariadb", "postgres"], default="mariadb")
    arguments.add_argument("--times", type=int, default=1000)
    asked = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="paribus-soak-", dir="/var/tmp") as name:
        Path(name).chmod(0o755)  # the server's user must be able to pass
        found = soak(Path(name), asked.kind, asked.times)
    print(f"\nleft: {'; '.join(found) or 'nothing'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
