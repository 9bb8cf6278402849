"""This machine as a host."""

import collections
import contextlib
import os
import subprocess
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from paribus.errors import BadReply, HostError, TimedOut
from paribus.hosts import bounded, environment
from paribus.hosts.transport import Completed, of_errno

_WORDS = 20
_WORD_BYTES = 4096
_READ_S = 120.0


def _host_error(path: str, verb: str, error: OSError) -> HostError:
    return of_errno(path, verb, error.errno, error.strerror or str(error))


class LocalProcess:
    """A child process that exchanges lines.

    It has its own session, so that Ctrl-C at the terminal does not reach it.
    """

    def __init__(self, argv: Sequence[str], name: str = "", *, connects: bool = False) -> None:
        """Start it; `name` is what errors call it. Raises Missing and HostError."""
        try:
            self._child = subprocess.Popen(
                list(argv),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                env=environment.of_child(connects=connects),
            )
        except OSError as error:
            raise _host_error(argv[0], "start", error) from error
        assert self._child.stdout is not None
        assert self._child.stderr is not None
        assert self._child.stdin is not None
        os.set_blocking(self._child.stdin.fileno(), False)
        self.pid = self._child.pid
        self._name = name or Path(argv[0]).name
        self._lines = bounded.LineQueue()
        self._words: collections.deque[str] = collections.deque(maxlen=_WORDS)
        self._threads = [
            threading.Thread(target=bounded.read_lines, args=(self._child.stdout, self._lines), daemon=True),
            threading.Thread(target=self._read_stderr, args=(self._child.stderr,), daemon=True),
        ]
        try:
            for thread in self._threads:
                thread.start()
        except RuntimeError as error:  # nothing would read its output
            self._child.kill()
            self._child.wait()
            raise HostError(
                f"cannot read the output of {self._name}: {error}", "raise the limit of processes: ulimit -u"
            ) from error

    def _read_stderr(self, pipe: IO[bytes]) -> None:
        with pipe:
            while line := pipe.readline(_WORD_BYTES):
                self._words.append(line.decode(errors="replace").rstrip())

    def send(self, line: str) -> None:
        """Write one line to its stdin.

        Raises HostError when it is gone, and BadReply, having killed it, where it does not read.
        """
        assert self._child.stdin is not None
        try:
            is_read = bounded.write(self._child.stdin.fileno(), f"{line}\n".encode(errors="surrogateescape"), _READ_S)
        except (OSError, ValueError) as error:
            raise HostError(f"{self._name} has ended: {self.words() or error}") from error
        if not is_read:
            self._child.kill()
            raise BadReply(
                f"{self._name} did not read its input within {_READ_S:.0f} s",
                "check whether it is stopped or overloaded",
            )

    def receive(self, timeout_s: float) -> str | None:
        """The next line of its stdout, or None when none came in time.

        Raises EOFError at its end, and BadReply, having killed it, where a line is too long.
        """
        try:
            return self._lines.get(timeout_s)
        except EOFError:
            raise EOFError(self._name) from None
        except bounded.TooLong as error:
            self._child.kill()
            raise BadReply(
                f"{self._name} printed a line of {error}, which is not an answer",
                "check that the program is the intended one",
            ) from error

    def end_input(self) -> None:
        """End its stdin; lines that it prints until it ends can still be received."""
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
        self._lines.release()
        for thread in self._threads:
            thread.join(timeout_s)
        return self._child.returncode

    def exit_code(self, timeout_s: float) -> int | None:
        """Its exit code; None where it does not end in time."""
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
        texts: list[str | None] = []
        for path in paths:
            try:
                texts.append(self.read(path))
            except HostError:
                texts.append(None)
        return texts

    def names(self, path: str) -> list[str]:
        """The entries of a folder, sorted; empty when there is no such folder."""
        try:
            return sorted(entry.name for entry in Path(path).iterdir())
        except OSError:
            return []

    def resolve(self, path: str) -> str:
        """The path with every link followed."""
        return os.path.realpath(path)

    def run(
        self, argv: Sequence[str], *, text: str = "", timeout_s: float | None = 60.0, connects: bool = False
    ) -> Completed:
        """Run a program to its end, with `text` on its stdin. Raises Missing or HostError."""
        content, env = text.encode(errors="surrogateescape"), environment.of_child(connects=connects)
        try:
            return bounded.run(argv, content, most=bounded.OUTPUT_BYTES, timeout_s=timeout_s, env=env)
        except OSError as error:
            raise _host_error(argv[0], "run", error) from error
        except subprocess.TimeoutExpired as error:
            raise TimedOut(f"{argv[0]} did not end within {timeout_s:.0f} s") from error
        except bounded.TooLong as error:
            raise BadReply(f"{argv[0]} printed {error}") from error

    def start(self, argv: Sequence[str], *, connects: bool = False) -> LocalProcess:
        """Start a program that exchanges lines. Raises Missing."""
        return LocalProcess(argv, connects=connects)
