"""This machine as a host."""

import collections
import contextlib
import os
import queue
import subprocess
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from ceteris.errors import HostError
from ceteris.hosts.transport import Completed, of_errno


def _host_error(path: str, verb: str, error: OSError) -> HostError:
    return of_errno(path, verb, error.errno, error.strerror or str(error))


class LocalProcess:
    """A child spoken to line by line; in a session of its own, so that a Ctrl-C at the terminal spares it."""

    def __init__(self, argv: Sequence[str]) -> None:
        try:
            self._child = subprocess.Popen(
                list(argv),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,
            )
        except OSError as error:
            raise _host_error(argv[0], "start", error) from error
        self.pid = self._child.pid
        self._name = Path(argv[0]).name
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._words: collections.deque[str] = collections.deque(maxlen=20)
        self._threads = [
            threading.Thread(target=self._read_stdout, daemon=True),
            threading.Thread(target=self._read_stderr, daemon=True),
        ]
        try:
            for thread in self._threads:
                thread.start()
        except RuntimeError as error:  # it would be left without anybody who hears it
            self._child.kill()
            self._child.wait()
            raise HostError(
                f"cannot listen to {self._name}: {error}", "raise the limit of processes: ulimit -u"
            ) from error

    def _read_stdout(self) -> None:
        assert self._child.stdout is not None
        for line in self._child.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _read_stderr(self) -> None:
        assert self._child.stderr is not None
        for line in self._child.stderr:
            self._words.append(line.rstrip())

    def send(self, line: str) -> None:
        """Write one line to its stdin. Raises HostError when it is gone."""
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(line + "\n")
            self._child.stdin.flush()
        except (OSError, ValueError) as error:
            raise HostError(f"{self._name} is gone: {self.words() or error}") from error

    def receive(self, timeout_s: float) -> str | None:
        """The next line of its stdout, or None when none came in time. Raises EOFError at its end."""
        try:
            line = self._lines.get(timeout=timeout_s)
        except queue.Empty:
            return None
        if line is None:
            self._lines.put(None)  # the end stays the end for whoever asks again
            raise EOFError(self._name)
        return line

    def end_input(self) -> None:
        """End its stdin; what it says until it ends can still be received."""
        assert self._child.stdin is not None
        with contextlib.suppress(OSError):  # the child is gone already, with unread input in the pipe
            self._child.stdin.close()

    def close(self, timeout_s: float = 10.0) -> int:
        """End its stdin, wait, and return the exit code; killed when it does not end in time."""
        self.end_input()
        try:
            self._child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        for thread in self._threads:
            thread.join(timeout_s)
        for pipe in (self._child.stdout, self._child.stderr):
            if pipe is not None:
                pipe.close()
        return self._child.returncode

    def exit_code(self, timeout_s: float) -> int | None:
        """How it ended; None where it does not end in time."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._child.wait(timeout_s)
        return None

    def words(self) -> str:
        """The last lines it wrote to stderr."""
        return "\n".join(self._words)


class LocalHost:
    """This machine."""

    name = "local"

    def reconnect(self, stopped: Callable[[], bool]) -> None:
        """This machine is never lost."""

    def read(self, path: str) -> str:
        """The text of a file. Raises Missing, Denied or HostError."""
        try:
            return Path(path).read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise _host_error(path, "read", error) from error

    def read_each(self, paths: Sequence[str]) -> list[str | None]:
        """The texts of many files; None where one cannot be read."""
        found: list[str | None] = []
        for path in paths:
            try:
                found.append(self.read(path))
            except HostError:
                found.append(None)
        return found

    def names(self, path: str) -> list[str]:
        """The entries of a folder, sorted; empty when there is no such folder."""
        try:
            return sorted(entry.name for entry in Path(path).iterdir())
        except OSError:
            return []

    def resolve(self, path: str) -> str:
        """The path with every link followed."""
        return os.path.realpath(path)

    def run(self, argv: Sequence[str], *, text: str = "", timeout_s: float | None = 60.0) -> Completed:
        """Run a program to its end, with `text` on its stdin. Raises Missing or HostError."""
        try:
            done = subprocess.run(
                list(argv),
                input=text,
                capture_output=True,
                text=True,
                errors="replace",  # a label of a file system may hold any bytes
                timeout=timeout_s,
                check=False,
            )
        except OSError as error:
            raise _host_error(argv[0], "run", error) from error
        except subprocess.TimeoutExpired as error:
            raise HostError(f"{argv[0]} did not end within {timeout_s:.0f} s") from error
        return Completed(done.returncode, done.stdout, done.stderr)

    def start(self, argv: Sequence[str]) -> LocalProcess:
        """Start a program to speak with. Raises Missing."""
        return LocalProcess(argv)
