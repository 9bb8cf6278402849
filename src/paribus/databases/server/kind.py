"""The contract of a kind of database server, and the search for its program on the target."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from paribus.databases.server.data_directory import DataDirectory
from paribus.databases.server.state import State
from paribus.databases.server.variable import ServerVariable
from paribus.engine.protocol import DatabaseServer, Rows
from paribus.errors import DatabaseError, HostError
from paribus.hosts.transport import Host
from paribus.registry import Registry

Ask = Callable[[str], Rows]
Settings = Mapping[str, str]

_FIRST_OF = 'for name do command -v "$name" && exit; done; exit 1'


@dataclass(frozen=True, slots=True)
class Program:
    """A server's program on the target, its version as numbers with dots, and the folder of its installation."""

    path: str
    version: str
    base: str = ""


class DatabaseKind(Protocol):
    """One kind of server: functions that make argument lists and parse answers.

    Only `find` and `making` search the host.

    Attributes:
        name: The kind in a plan, such as `mariadb`.
        accounts: The users that the server may run as where we are root, the preferred one first.
        stop_signal: The signal that stops it in good order.
        abort_signal: The signal that ends it at once together with what it has outside its folder; empty where it has
            nothing there.
        opening: The statement that each connection begins with.
        stale: Files below the folder that must not outlive a start.
        state: The statements about its content and its pending work.
    """

    name: str
    accounts: Sequence[str]
    stop_signal: Literal["TERM", "INT"]
    abort_signal: str
    opening: str
    stale: Sequence[str]
    state: State

    def find(self, host: Host, named: str) -> Program:
        """Find the server's program.

        Args:
            host: The target.
            named: The path in the plan; empty to search PATH and the usual folders.

        Returns:
            The program.

        Raises:
            DatabaseError: There is no such program, or it is of another kind.
        """
        ...

    def making(self, host: Host, program: Program, directory: DataDirectory, settings: Settings) -> list[str]:
        """The argument list that makes the data directory.

        Args:
            host: The target.
            program: The server's program.
            directory: The instance's directory.
            settings: Values by variable; only those that are built in are used.

        Returns:
            The argument list.

        Raises:
            DatabaseError: The installation lacks the program for it.
        """
        ...

    def files(self, directory: DataDirectory, settings: Settings, port: int | None) -> dict[str, str]:
        """The configuration files of a start.

        Args:
            directory: The instance's directory.
            settings: Values by variable.
            port: The port of the loopback to listen on; None for sockets only.

        Returns:
            Texts by file name, to write into the directory.
        """
        ...

    def running(self, program: Program, directory: DataDirectory, settings: Settings, port: int | None) -> list[str]:
        """The argument list that runs the server; arguments as for `files`, and its program."""
        ...

    def address(self, directory: DataDirectory, port: int | None) -> DatabaseServer:
        """Its socket, as the administrator; `port` is part of a socket's name for some kinds."""
        ...

    def let_in(self, ask: Ask, password: str) -> str:
        """Allow a user to connect by the loopback.

        Args:
            ask: Sends a statement to the server.
            password: The user's new password.

        Returns:
            The user's name.
        """
        ...

    def spell(self, value: str) -> str:
        """A value in the server's spelling: `1GiB` is no size to any of them."""
        ...

    def is_built_in(self, name: str) -> bool:
        """Whether a setting is fixed when the data is made."""
        ...

    def complaints(self, log: Sequence[str]) -> list[str]:
        """The lines of a log that explain why the server would not start."""
        ...

    def variables(self, ask: Ask) -> dict[str, ServerVariable]:
        """All variables by name, as the server describes them."""
        ...

    def read(self, ask: Ask, name: str) -> str:
        """A variable's value.

        Raises:
            QueryRefused: There is no variable of that name.
        """
        ...

    def set_live(self, ask: Ask, variable: ServerVariable, value: str) -> None:
        """Set a variable of the running server.

        Raises:
            QueryRefused: The server refuses the value.
        """
        ...

    def counting(self, ask: Ask) -> str:
        """The statement that reads the counters of `databases.counters`, as names and numbers."""
        ...


database_kinds: Registry[DatabaseKind] = Registry("kind of database")


def installed_kinds(host: Host, kinds: Iterable[str]) -> Iterator[str]:
    """Yield those of these kinds of servers that are installed on a machine."""
    for kind in kinds:
        with contextlib.suppress(DatabaseError, HostError):
            database_kinds.get(kind).find(host, "")
            yield kind


def first_of(host: Host, names: Iterable[str]) -> str:
    """The path of the first of these programs that exists; empty when none does."""
    completed = host.run(["sh", "-c", _FIRST_OF, "sh", *names])
    return completed.stdout.strip()


def require_program(host: Host, named: str) -> None:
    """Raise DatabaseError where the program that a plan names does not exist."""
    if not first_of(host, [named]):
        todo = "correct database.program, or remove it: the server is then looked for"
        raise DatabaseError(f"{host.name} has no program {named}", todo)


def version_output(host: Host, path: str) -> str:
    """The output of a program's `--version`. Raises DatabaseError."""
    completed = host.run([path, "--version"])
    if completed.exit_code != 0:
        raise DatabaseError(f"{path} does not run on {host.name}: {completed.stderr.strip() or completed.exit_code}")
    return completed.stdout.strip()
