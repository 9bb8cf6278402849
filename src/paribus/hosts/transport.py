"""The contract of a host, however it is reached."""

import contextlib
import errno
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from paribus.errors import BadReply, Denied, HostError, Missing, ReadOnly


def of_errno(path: str, verb: str, number: int | None, reason: str) -> HostError:
    """The host error for a failed system call, with its cause."""
    cause = f"cannot {verb} {path}: {reason}"
    if number in (errno.ENOENT, errno.ENODEV, errno.ENXIO, errno.ENOTDIR):
        return Missing(cause)
    if number == errno.EROFS:
        return ReadOnly(cause)
    if number in (errno.EACCES, errno.EPERM):
        return Denied(cause)
    return HostError(cause)


_MISREAD = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


@contextlib.contextmanager
def described(name: str) -> Iterator[None]:
    """Raise BadReply where a machine's description of itself has an unknown form, while the context lasts."""
    try:
        yield
    except _MISREAD as error:
        message = f"{name} describes itself in a form that is not understood ({type(error).__name__}: {error})"
        raise BadReply(message, "see whether /proc and /sys are mounted there, and lsblk is util-linux's") from error


@dataclass(frozen=True, slots=True)
class Completed:
    """A program that ended: its exit code and its output."""

    exit_code: int
    stdout: str
    stderr: str


class LineProcess(Protocol):
    """A program on the target that exchanges lines of text with this one; it must end when its stdin does."""

    def send(self, line: str) -> None:
        """Write one line to its stdin.

        Raises:
            HostError: The program is gone.
        """
        ...

    def receive(self, timeout_s: float) -> str | None:
        """Read the next line of its stdout.

        Args:
            timeout_s: The longest wait, in seconds.

        Returns:
            The line, or None when none came in time.

        Raises:
            EOFError: Its stdout has ended.
            BadReply: A line is too long; the program is killed.
            Unreachable: The target was lost.
        """
        ...

    def end_input(self) -> None:
        """End its stdin; lines that it prints until it ends can still be received."""
        ...

    def close(self, timeout_s: float = 10.0) -> int:
        """End its stdin and wait for its end; it is killed when it does not end in time.

        Args:
            timeout_s: The longest wait, in seconds.

        Returns:
            Its exit code.
        """
        ...

    def words(self) -> str:
        """The last lines it wrote to stderr."""
        ...


class Host(Protocol):
    """A machine: files are read whole, programs get argument lists.

    A host writes nothing: the journal's keeper makes all changes.

    Attributes:
        name: `local`, or `ssh://[user@]host[:port]`.
    """

    name: str

    def reconnect(self, stopped: Callable[[], bool]) -> None:
        """Reach the machine again where it was lost.

        Args:
            stopped: Whether the user asked to stop; then the attempts end.

        Raises:
            Unreachable: It could not be reached.
        """
        ...

    def read(self, path: str) -> str:
        """Read a file.

        Args:
            path: Its absolute path.

        Returns:
            Its text; bytes that are no UTF-8 are replaced.

        Raises:
            Missing: There is no such file or device.
            Denied: This user may not read it.
            HostError: Reading failed otherwise.
        """
        ...

    def read_each(self, paths: Sequence[str]) -> list[str | None]:
        """Read many files in one round trip.

        Args:
            paths: Their absolute paths.

        Returns:
            The texts in the order of the paths; None for a file that cannot be read.

        Raises:
            Unreachable: The target was lost.
        """
        ...

    def names(self, path: str) -> list[str]:
        """The names of the entries of a folder, sorted; empty when there is no such folder."""
        ...

    def resolve(self, path: str) -> str:
        """The path with every symbolic link followed."""
        ...

    def run(
        self, argv: Sequence[str], *, text: str = "", timeout_s: float | None = 60.0, connects: bool = False
    ) -> Completed:
        """Run a program to its end.

        Args:
            argv: The program and its arguments; no shell interprets them.
            text: Its stdin.
            timeout_s: The longest run time, in seconds; None for no limit.
            connects: As for `start`.

        Returns:
            Its exit code and its output.

        Raises:
            Missing: There is no such program.
            BadReply: It printed too much.
            HostError: It could not be run, or did not end in time.
            Unreachable: The target was lost.
        """
        ...

    def start(self, argv: Sequence[str], *, connects: bool = False) -> LineProcess:
        """Start a program that exchanges lines with this one.

        Args: argv: The program and its arguments. connects: Whether it connects to a database, so that it needs the
        passwords of this environment. A target over SSH has none of this environment.

        Returns:
            The running program.

        Raises:
            Missing: There is no such program.
        """
        ...
