"""A server in use by others: queried through the engine; changes to it are returned as actions.

The journal's keeper carries out and undoes the actions; nothing here changes the server.
"""

import contextlib
import dataclasses
from collections.abc import Iterator
from functools import cached_property

from paribus.databases.mysql import mysql_live  # noqa: F401  they register their kinds
from paribus.databases.postgres import postgres_live  # noqa: F401  they register their kinds
from paribus.databases.server.claim import ServerClaim
from paribus.databases.server.kind import database_kinds
from paribus.databases.server.live_kind import live_kinds
from paribus.databases.server.state import Ask, State
from paribus.databases.server.variable import ServerVariable, TakesEffect
from paribus.engine.protocol import Counting, DatabaseServer, MysqlServer, PostgresServer, Rows, SqlJob
from paribus.engine.sql import Sql
from paribus.errors import DatabaseError, EngineError, HostError, QueryRefused, ServerGone, Unreachable
from paribus.hosts import addresses
from paribus.hosts.transport import Host
from paribus.i18n import StoredMessage
from paribus.model import PutStatements, RunningServer, UntilRestart

_CONNECTING_S = 10.0
_ANSWER_S = 600.0  # dropping much data takes its time
MARK = "made by Paribus for experiment "


class LiveServer:
    """A running server of a kind; connected at the first query."""

    def __init__(self, host: Host, engine: str, kind: str, server: RunningServer) -> None:
        """Connect at the first query. Raises UsageError for an unknown kind."""
        self._host = host
        self._engine = engine
        self._kind = database_kinds.get(kind)
        self._live_kind = live_kinds.get(kind)
        self.server = server
        self._sql: Sql | None = None
        self._variables: dict[str, ServerVariable] = {}

    def address(self, database: str = "", timeout_s: float = _ANSWER_S) -> DatabaseServer:
        """The engine's connection: to one of its databases, or to the administrator's."""
        server = self.server
        form = MysqlServer if server.protocol == "mysql" else PostgresServer
        return form(
            socket=server.socket,
            host=server.host,
            port=server.port,
            user=server.user,
            credential=dict(server.credential) if server.credential else None,
            database=database or server.database,
            tls=server.tls,
            tls_ca=server.tls_ca,
            timeout_s=timeout_s,
        )

    @cached_property
    def claim(self) -> ServerClaim:
        """The claim to the server, which is not taken yet."""
        return ServerClaim(self.server.address, self._live_kind, self._connect)

    @property
    def state(self) -> State:
        """The statements about its content, to be read by `inside`."""
        return self._kind.state

    def identity(self) -> tuple[str, str]:
        """The kind of server that it states, and its version. Raises QueryRefused and ServerGone."""
        return self._live_kind.identity(self.query)

    def name(self) -> str:
        """The server's kind and version. Raises DatabaseError where it is of another kind, or not reached."""
        flavour, version = self.identity()
        if flavour != self._kind.name:
            message = f"{self.server.address} is {flavour} {version}, and no {self._kind.name} server"
            raise DatabaseError(message, f'write kind = "{flavour}"')
        return f"{flavour} {version}"

    def instance(self) -> str:
        """Return the identity of the server, the same on all connections. Raises QueryRefused and ServerGone."""
        return self._live_kind.instance(self.query)

    def started(self) -> float:
        """Return the time of its start, in seconds since 1970. Raises QueryRefused and ServerGone."""
        return self._live_kind.started(self.query)

    def query(self, text: str) -> Rows:
        """The result of one statement. Raises QueryRefused, and ServerGone where the server is not reached."""
        try:
            if self._sql is None:
                self._sql = self._connect()
            return self._sql.query(text)
        except Unreachable:
            raise
        except (EngineError, HostError) as error:
            self.close()
            todo = error.todo or "see whether it runs, and lets this user in from the target"
            raise ServerGone(f"{self.server.address}: {error.message}", todo) from error

    def _connect(self) -> Sql:
        """Connect first with a short timeout: a server that does not answer soon will not answer."""
        Sql(self._host, self._engine, SqlJob(database=self.address(timeout_s=_CONNECTING_S))).close()
        return Sql(self._host, self._engine, SqlJob(database=self.address()), self._kind.opening)

    @contextlib.contextmanager
    def inside(self, database: str) -> Iterator[Ask]:
        """A connection to one of its databases. Raises EngineError, and QueryRefused by a statement."""
        sql = Sql(self._host, self._engine, SqlJob(database=self.address(database)), self._kind.opening)
        try:
            yield sql.query
        finally:
            sql.close()

    def close(self) -> None:
        """End the connection; the next query makes another."""
        if self._sql is not None:
            self._sql.close()
            self._sql = None

    # --- what it says ---

    def variables(self) -> dict[str, ServerVariable]:
        """All variables, as the server describes them. Raises QueryRefused and ServerGone."""
        self._variables = self._kind.variables(self.query)
        return self._variables

    def read(self, name: str) -> str:
        """A variable's value, as a new connection sees it. Raises QueryRefused where there is none of that name."""
        return self._kind.read(self.query, name)

    def moved_by(self, name: str) -> list[str]:
        """The variables that the server moves by itself when a variable is set."""
        return [
            other for other in self._live_kind.moves.get(name, ()) if other in (self._variables or self.variables())
        ]

    def counting(self) -> Counting:
        """The statement for its counters, and its connection. Raises ServerGone."""
        statement = self._kind.counting(self.query)
        return Counting(database=self.address(), opening=self._kind.opening, statement=statement)

    def may_not_set(self, variable: ServerVariable) -> str:
        """Return the server's reason why this user may not set a variable; empty where it may."""
        return self._live_kind.may_not_set(self.query, variable.name)

    def may_not_make(self) -> str:
        """Return the server's reason why no databases can be made for the load; empty where they can."""
        return self._live_kind.may_not_make(self.query, self.server.prefix)

    def databases(self) -> list[str]:
        """The existing databases with our prefix."""
        return self._live_kind.databases(self.query, self.server.prefix)

    def notes(self) -> list[StoredMessage]:
        """Notes for the reader of a report."""
        return self._live_kind.notes(self.query)

    @cached_property
    def is_on_target(self) -> bool:
        """Whether the server is reached by a socket, or by an address of the target itself."""
        return self.server.socket is not None or addresses.is_own(self._host, self.server.host or "")

    def process(self) -> int | None:
        """The server's process, where it runs on the target and can be identified."""
        if not self.is_on_target:
            return None
        try:
            candidates = [self._live_kind.process(self.query, self._host)]
        except (ValueError, IndexError, HostError, QueryRefused):
            candidates = self._processes_by_name()
        matching = [pid for pid in candidates if self._command(pid) in self._live_kind.commands]
        return matching[0] if len(matching) == 1 else None

    def _processes_by_name(self) -> list[int]:
        """All processes with the server's name."""
        pids = [int(name) for name in self._host.names("/proc") if name.isdecimal()]
        return [pid for pid in pids if self._command(pid) in self._live_kind.commands]

    def _command(self, pid: int) -> str:
        try:
            return self._host.read(f"/proc/{pid}/comm").strip()
        except HostError:  # it has ended
            return ""

    # --- what is set and made there ---

    def way_back(self, variable: ServerVariable) -> tuple[str, PutStatements]:
        """A variable's value now, and the action that restores it. Raises QueryRefused."""
        point = self._live_kind.restore_point(self.query, variable)
        return point.before, PutStatements(
            name=variable.name,
            server=self._journal_address(),
            statements=point.statements,
            check=point.check,
            until_restart=UntilRestart(point.started, point.before) if point.started else None,
        )

    def meant_for(self, back: PutStatements, requested: str) -> PutStatements:
        """The way back from the value `requested`, which alone is ours where the server was restarted since."""
        until = back.until_restart
        if until is None:
            return back
        return dataclasses.replace(back, until_restart=UntilRestart(until.started, self._kind.spell(requested)))

    def setting(self, variable: ServerVariable, value: str, back: PutStatements) -> PutStatements:
        """The action that sets a variable, given the way back."""
        return PutStatements(
            name=f"{variable.name} = {value}",
            server=self._journal_address(),
            statements=self._live_kind.setting(variable, self._kind.spell(value)),
            check=back.check,
        )

    def moment(self) -> str:
        """The marker of the time before a variable is set, for `await_effect`."""
        return self._live_kind.moment(self.query)

    def await_effect(self, variable: ServerVariable, moment: str) -> None:
        """Wait until a change after that marker is in force. Raises QueryRefused where it does not come."""
        self._live_kind.await_effect(self.query, variable.name, moment)
        if variable.takes_effect is TakesEffect.SESSION:
            self.close()  # only a new connection shows it

    def database(self, name: str, experiment: str) -> tuple[PutStatements, PutStatements]:
        """The action that makes a database for an experiment, and the one that removes only that database."""
        mark = f"{MARK}{experiment}"
        removing, presence, ownership = self._live_kind.removing(self.query, name, mark)
        server = self._journal_address()
        called = f"database {name}"
        make = PutStatements(name=called, server=server, statements=self._live_kind.making(name, mark), check=presence)
        return make, PutStatements(name=called, server=server, statements=removing, check=presence, only_if=ownership)

    def end_sessions(self, database: str) -> None:
        """End what is still connected to a database. Raises QueryRefused and ServerGone."""
        self._live_kind.end_sessions(self.query, database)

    def _journal_address(self) -> dict[str, object]:
        """The address in a journal, without the password."""
        return self.address().model_dump(mode="json", exclude={"password", "outage_s"})
