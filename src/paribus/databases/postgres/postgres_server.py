"""PostgreSQL: how it is found, created and run."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Literal

from paribus.databases.postgres import postgres_counters, postgres_variables
from paribus.databases.postgres.postgres_state import PostgresState
from paribus.databases.server.data_directory import DataDirectory
from paribus.databases.server.kind import (
    Ask,
    Program,
    Settings,
    database_kinds,
    first_of,
    require_program,
    version_output,
)
from paribus.databases.server.removed_variables import version_of
from paribus.databases.server.state import State
from paribus.databases.server.variable import ServerVariable, number_of
from paribus.engine.protocol import PostgresServer
from paribus.errors import DatabaseError
from paribus.hosts.transport import Host

_DEBIAN = "/usr/lib/postgresql"
_VERSION = re.compile(r"\(PostgreSQL\)\s+([0-9]+(?:\.[0-9]+)*)")
_SIZE = re.compile(r"([0-9.]+\s*)(?:K|k|M|G|T)iB")
_STAMP = re.compile(r"^\S+ \S+ \S+ \[[0-9]+\] ")
_LEVEL = re.compile(r"^(LOG|FATAL):\s*")
_TELLING = re.compile(
    r"(FATAL|PANIC|ERROR|HINT|DETAIL):|^initdb: (error|hint|detail):"
    r"|invalid value|outside the valid range|unrecognized|cannot be changed|could not"
)
_PORT = 5432  # a socket's name has one, also where nobody listens on it
_USER = "postgres"
_CONFIGURATION = "postgresql.conf"
# In the data directory, in which the server runs it; so it is restored and removed with the data.
_ARCHIVE = "mkdir -p archive && test ! -f archive/%f && cp %p archive/%f"
_SEGMENT, _CHECKSUMS = "wal_segment_size", "data_checksums"
_CHECKSUMS_BY_DEFAULT = 18


class Postgres:
    """PostgreSQL."""

    name = "postgres"
    stop_signal: Literal["TERM", "INT"] = "INT"  # does not wait for those who are connected
    abort_signal = "QUIT"  # its shared memory would outlive a kill
    accounts: Sequence[str] = ("postgres", "nobody")
    opening = "SELECT 1"
    # What was set while it ran, and who ran: a number that may be another's by now.
    stale: Sequence[str] = ("data/postgresql.auto.conf", "data/postmaster.pid", "run/.s.PGSQL.5432.lock")
    state: State = PostgresState()

    def find(self, host: Host, named: str) -> Program:
        """The program, at the path that is named, on PATH or in the usual places. Raises DatabaseError."""
        if named:
            require_program(host, named)
        path = first_of(host, [named] if named else ["postgres", *_usual(host, "postgres")])
        if not path:
            raise DatabaseError(
                f"{host.name} has no PostgreSQL server", "install it, or set database.program to the path of postgres"
            )
        version_text = version_output(host, path)
        version = _VERSION.search(version_text)
        if version is None:
            raise DatabaseError(
                f"{path} is not a PostgreSQL server: --version prints {version_text!r}", "correct database.program"
            )
        return Program(path, version[1])

    def making(self, host: Host, program: Program, directory: DataDirectory, settings: Settings) -> list[str]:
        """The argument list that makes the data directory: with locale C, so that texts sort alike everywhere."""
        options = []
        if _SEGMENT in settings:
            segment = number_of(settings[_SEGMENT])
            options.append(f"--wal-segsize={settings[_SEGMENT] if segment is None else f'{segment / 2**20:.0f}'}")
        if settings.get(_CHECKSUMS, "").casefold() in ("on", "true", "yes", "1"):
            options.append("--data-checksums")
        elif _CHECKSUMS in settings and version_of(program.version) >= (_CHECKSUMS_BY_DEFAULT,):
            options.append("--no-data-checksums")
        beside = str(PurePosixPath(host.resolve(program.path)).parent / "initdb")
        initdb = first_of(host, [beside, "initdb", *_usual(host, "initdb")])
        if not initdb:
            raise DatabaseError(f"{host.name} has no initdb", "install the rest of the PostgreSQL server")
        return [
            initdb, f"--pgdata={directory.data}", f"--username={_USER}",
            "--encoding=UTF8", "--no-locale", "--auth-local=trust", "--auth-host=scram-sha-256", *options,
        ]  # fmt: skip

    def files(self, directory: DataDirectory, settings: Settings, port: int | None) -> dict[str, str]:
        """Its configuration, in a file, since settings of the command line cannot be changed later."""
        sockets = directory.sockets().replace('"', '""')
        fixed = {
            "listen_addresses": "" if port is None else "127.0.0.1",
            "port": str(port or _PORT),
            "unix_socket_directories": f'"{sockets}"',  # a list, in which a path may hold a comma
        }
        if settings.get("archive_mode", "off") in ("on", "always"):
            fixed["archive_command"] = _ARCHIVE
        settings_of_file = {name: value for name, value in settings.items() if not self.is_built_in(name)}
        lines = [f"{name} = {postgres_variables.quoted(value)}\n" for name, value in (fixed | settings_of_file).items()]
        return {_CONFIGURATION: "".join(lines)}

    def running(self, program: Program, directory: DataDirectory, settings: Settings, port: int | None) -> list[str]:  # noqa: ARG002
        """The argument list that runs the server."""
        return [program.path, "-D", directory.data, "-c", f"config_file={directory.folder}/{_CONFIGURATION}"]

    def address(self, directory: DataDirectory, port: int | None) -> PostgresServer:
        """Its socket, and the administrator by whom all is asked."""
        return PostgresServer(socket=f"{directory.sockets()}/.s.PGSQL.{port or _PORT}", user=_USER, database="postgres")

    def let_in(self, ask: Ask, password: str) -> str:
        """Let the administrator with this password in by the loopback; the user's name."""
        ask(f"ALTER ROLE {_USER} PASSWORD {postgres_variables.quoted(password)}")
        return _USER

    def spell(self, value: str) -> str:
        """A value as this server reads it: `1GiB` is 1GB there."""
        match = _SIZE.fullmatch(value.strip())
        if match is None:
            return value
        letter = value.strip()[len(match[1])]
        return f"{match[1].strip()}{'k' if letter in 'Kk' else letter}B"

    def is_built_in(self, name: str) -> bool:
        """Whether a setting is taken when the data is made, and never again."""
        return name in (_SEGMENT, _CHECKSUMS)

    def complaints(self, log: Sequence[str]) -> list[str]:
        """The lines that explain the failure, without the time."""
        errors = [_STAMP.sub("", line).strip() for line in log if _TELLING.search(line)]
        return [_LEVEL.sub("", line) for line in errors if not line.endswith("contains errors")]

    def variables(self, ask: Ask) -> dict[str, ServerVariable]:
        """All variables, as pg_settings describes them."""
        return postgres_variables.variables(ask, self.is_built_in)

    def read(self, ask: Ask, name: str) -> str:
        """A variable's value. Raises QueryRefused where there is none of that name."""
        return postgres_variables.read(ask, name)

    def set_live(self, ask: Ask, variable: ServerVariable, value: str) -> None:
        """Set a variable by ALTER SYSTEM, in force when this returns. Raises QueryRefused."""
        postgres_variables.set_live(ask, variable, value)

    def counting(self, ask: Ask) -> str:
        """The statement that reads the counters of the pg_stat views of this version."""
        return postgres_counters.statement(ask)


def _usual(host: Host, name: str) -> list[str]:
    newest = sorted(host.names(_DEBIAN), key=version_of, reverse=True)
    return [*(f"{_DEBIAN}/{version}/bin/{name}" for version in newest), f"/usr/pgsql/bin/{name}"]


database_kinds.register("postgres", Postgres())
