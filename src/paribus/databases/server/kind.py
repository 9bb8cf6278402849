"""What every kind of server answers, and finding its program on the target."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from paribus.databases.server.data_directory import Place
from paribus.databases.server.state import State
from paribus.databases.server.variable import Variable
from paribus.engine.protocol import MysqlServer, PostgresServer, Rows
from paribus.errors import DatabaseError
from paribus.hosts.transport import Host
from paribus.registry import Registry

Server = MysqlServer | PostgresServer
Ask = Callable[[str], Rows]
Settings = Mapping[str, str]

_FIRST_OF = 'for name do command -v "$name" && exit; done; exit 1'


@dataclass(frozen=True, slots=True)
class Program:
    """A server's program on the target, its version as numbers with dots, and where the rest of it lies."""

    path: str
    version: str
    base: str = ""


class Kind(Protocol):
    """One kind of server: pure functions that make argument lists and read answers, but for `find`."""

    name: str
    accounts: Sequence[str]
    stop_signal: Literal["TERM", "INT"]
    abort_signal: str  # ends it at once, and what it has outside its folder; empty where it has nothing there
    opening: str  # what each connection begins with
    stale: Sequence[str]  # files below the folder that must not outlive a start
    state: State  # what it holds, and what it still has to do

    def find(self, host: Host, named: str) -> Program:
        """The program, at the path that is named, on PATH or in the usual places. Raises DatabaseError."""
        ...

    def making(self, host: Host, program: Program, place: Place, settings: Settings) -> list[str]:
        """What makes the data folder. Raises DatabaseError where a program for it is missing."""
        ...

    def files(self, place: Place, settings: Settings, port: int | None) -> dict[str, str]:
        """Files to write into the folder before each start."""
        ...

    def running(self, program: Program, place: Place, settings: Settings, port: int | None) -> list[str]:
        """What runs the server."""
        ...

    def address(self, place: Place, port: int | None) -> Server:
        """Its socket, and the administrator by whom all is asked."""
        ...

    def let_in(self, ask: Ask, password: str) -> str:
        """Let a user with this password in by the loopback; the user's name."""
        ...

    def spell(self, value: str) -> str:
        """A value as this server reads it: `1GiB` is no size to any of them."""
        ...

    def is_built_in(self, name: str) -> bool:
        """Whether a setting is taken when the data is made, and never again."""
        ...

    def complaints(self, log: Sequence[str]) -> list[str]:
        """What a server that would not start says about it."""
        ...

    def variables(self, ask: Ask) -> dict[str, Variable]:
        """All variables, as the server describes them."""
        ...

    def read(self, ask: Ask, name: str) -> str:
        """A variable's value. Raises QueryRefused where there is none of that name."""
        ...

    def set_live(self, ask: Ask, variable: Variable, value: str) -> None:
        """Set a variable while the server runs. Raises QueryRefused."""
        ...

    def counting(self, ask: Ask) -> str:
        """The statement that reads the counters of `databases.counters`, as names and numbers."""
        ...


kinds: Registry[Kind] = Registry("kind of database")


def first_of(host: Host, names: Iterable[str]) -> str:
    """The path of the first of these programs that is there; empty when none is."""
    done = host.run(["sh", "-c", _FIRST_OF, "sh", *names])
    return done.stdout.strip()


def said_by(host: Host, path: str) -> str:
    """What a program says of its version. Raises DatabaseError."""
    done = host.run([path, "--version"])
    if done.exit_code != 0:
        raise DatabaseError(f"{path} does not run on {host.name}: {done.stderr.strip() or done.exit_code}")
    return done.stdout.strip()
