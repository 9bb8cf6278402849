"""What every host can do, however it is reached."""

import contextlib
import errno
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from paribus.errors import BadReply, Denied, HostError, Missing, ReadOnly


def of_errno(path: str, verb: str, number: int | None, reason: str) -> HostError:
    """The error of the tree for a failed system call, with the cause kept."""
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
    """While a machine is asked what it is: raises BadReply where its answers have a form that no machine's have."""
    try:
        yield
    except _MISREAD as error:
        wrong = f"{name} describes itself in a form that is not understood ({type(error).__name__}: {error})"
        raise BadReply(wrong, "see whether /proc and /sys are mounted there, and lsblk is util-linux's") from error


@dataclass(frozen=True, slots=True)
class Completed:
    """A program that ended: its exit code and what it printed."""

    exit_code: int
    stdout: str
    stderr: str


class LineProcess(Protocol):
    """A program on the target that is spoken to line by line; it must end when its stdin does."""

    def send(self, line: str) -> None:
        """Write one line to its stdin. Raises HostError when it is gone."""
        ...

    def receive(self, timeout_s: float) -> str | None:
        """The next line of its stdout, or None when none came in time. Raises EOFError at its end."""
        ...

    def end_input(self) -> None:
        """End its stdin; what it says until it ends can still be received."""
        ...

    def close(self, timeout_s: float = 10.0) -> int:
        """End its stdin, wait, and return the exit code; killed when it does not end in time."""
        ...

    def words(self) -> str:
        """The last lines it wrote to stderr."""
        ...


class Host(Protocol):
    """A machine: files read whole, programs as argument lists. Nothing is written here: the journal's keeper does."""

    name: str

    def reconnect(self, stopped: Callable[[], bool]) -> None:
        """Reach the machine again where it was lost, trying until `stopped`. Raises Unreachable."""
        ...

    def read(self, path: str) -> str:
        """The text of a file. Raises Missing, Denied or HostError."""
        ...

    def read_each(self, paths: Sequence[str]) -> list[str | None]:
        """The texts of many files, asked for at once; None where one cannot be read. Raises Unreachable."""
        ...

    def names(self, path: str) -> list[str]:
        """The entries of a folder, sorted; empty when there is no such folder."""
        ...

    def resolve(self, path: str) -> str:
        """The path with every link followed."""
        ...

    def run(
        self, argv: Sequence[str], *, text: str = "", timeout_s: float | None = 60.0, connects: bool = False
    ) -> Completed:
        """Run a program to its end, with `text` on its stdin; `connects` as `start`. Raises Missing or HostError."""
        ...

    def start(self, argv: Sequence[str], *, connects: bool = False) -> LineProcess:
        """Start a program to speak with. `connects`: to a database, so that it has this environment's passwords.

        A target over SSH has none of this environment. Raises Missing.
        """
        ...
