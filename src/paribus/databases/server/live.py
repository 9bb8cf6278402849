"""A server that others use: asked by way of the engine; what is to be set or made there is told as actions.

The actions are for the journal's keeper to carry out and to take back; nothing here changes the server.
"""

import dataclasses

from paribus.databases.mysql import mysql_live  # noqa: F401  they register their kinds
from paribus.databases.postgres import postgres_live  # noqa: F401  they register their kinds
from paribus.databases.server.kind import Server, kinds
from paribus.databases.server.live_kind import live_kinds
from paribus.databases.server.variable import TakesEffect, Variable
from paribus.engine.protocol import Counting, MysqlServer, PostgresServer, Rows, SqlJob
from paribus.engine.sql import Sql
from paribus.errors import DatabaseError, EngineError, HostError, QueryRefused, ServerGone, Unreachable
from paribus.hosts.transport import Host
from paribus.i18n import StoredMessage
from paribus.model import PutStatements, RunningServer, UntilRestart

_CONNECTING_S = 10.0
_ANSWER_S = 600.0  # dropping much data takes its time
_HERE = ("localhost", "127.0.0.1", "::1")
MARK = "made by Paribus for experiment "


class Live:
    """A running server of a kind; connected when it is first asked."""

    def __init__(self, host: Host, engine: str, kind: str, server: RunningServer) -> None:
        """Nothing is asked yet. Raises UsageError for a kind that is not known."""
        self._host = host
        self._engine = engine
        self._kind = kinds.get(kind)
        self._live = live_kinds.get(kind)
        self.server = server
        self._sql: Sql | None = None
        self._known: dict[str, Variable] = {}

    def address(self, database: str = "", timeout_s: float = _ANSWER_S) -> Server:
        """How the engine connects: to one of its databases, or to where an administrator does."""
        own = self.server
        form = MysqlServer if own.protocol == "mysql" else PostgresServer
        return form(
            socket=own.socket,
            host=own.host,
            port=own.port,
            user=own.user,
            credential=dict(own.credential) if own.credential else None,
            database=database or own.database,
            tls=own.tls,
            tls_ca=own.tls_ca,
            timeout_s=timeout_s,
        )

    def name(self) -> str:
        """Which server it is, with its version. Raises DatabaseError where it is of another kind, or not reached."""
        flavour, version = self._live.told(self.query)
        if flavour != self._kind.name:
            wrong = f"{self.server.address} is {flavour} {version}, and no {self._kind.name} server"
            raise DatabaseError(wrong, f'write kind = "{flavour}"')
        return f"{flavour} {version}"

    def query(self, text: str) -> Rows:
        """What one statement returns. Raises QueryRefused, and ServerGone where it is not reached."""
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
        """First with little patience: whoever does not answer soon will not."""
        Sql(self._host, self._engine, SqlJob(database=self.address(timeout_s=_CONNECTING_S))).close()
        return Sql(self._host, self._engine, SqlJob(database=self.address()), self._kind.opening)

    def close(self) -> None:
        """End the connection; the next question makes another."""
        if self._sql is not None:
            self._sql.close()
            self._sql = None

    # --- what it says ---

    def variables(self) -> dict[str, Variable]:
        """All variables, as the server describes them. Raises QueryRefused and ServerGone."""
        self._known = self._kind.variables(self.query)
        return self._known

    def read(self, name: str) -> str:
        """A variable's value, as a new connection sees it. Raises QueryRefused where there is none of that name."""
        return self._kind.read(self.query, name)

    def moved_by(self, name: str) -> list[str]:
        """What the server moves by itself when a variable is set."""
        return [other for other in self._live.moves.get(name, ()) if other in (self._known or self.variables())]

    def counting(self) -> Counting:
        """How its counters are read. Raises ServerGone."""
        statement = self._kind.counting(self.query)
        return Counting(database=self.address(), opening=self._kind.opening, statement=statement)

    def may_not_set(self, variable: Variable) -> str:
        """Why this user may not set it, in the server's words; empty where it may."""
        return self._live.may_not_set(self.query, variable.name)

    def may_not_make(self) -> str:
        """Why no databases can be made for the load, in the server's words; empty where they can."""
        return self._live.may_not_make(self.query, self.server.prefix)

    def databases(self) -> list[str]:
        """Those that are there with our prefix."""
        return self._live.databases(self.query, self.server.prefix)

    def notes(self) -> list[StoredMessage]:
        """What a reader must know of it."""
        return self._live.notes(self.query)

    def process(self) -> int | None:
        """The server's process, where it runs on the target and can be told from others."""
        here = self.server.socket is not None or self.server.host in _HERE
        if not here:
            return None
        try:
            found = [self._live.process(self.query, self._host)]
        except (ValueError, IndexError, HostError, QueryRefused):
            found = self._of_its_name()
        own = [pid for pid in found if self._command(pid) in self._live.commands]
        return own[0] if len(own) == 1 else None

    def _of_its_name(self) -> list[int]:
        """All processes that are called so."""
        pids = [int(name) for name in self._host.names("/proc") if name.isdecimal()]
        return [pid for pid in pids if self._command(pid) in self._live.commands]

    def _command(self, pid: int) -> str:
        try:
            return self._host.read(f"/proc/{pid}/comm").strip()
        except HostError:  # it has ended
            return ""

    # --- what is set and made there ---

    def way_back(self, variable: Variable) -> tuple[str, PutStatements]:
        """A variable's value now, and what comes back to it. Raises QueryRefused."""
        back = self._live.back(self.query, variable)
        return back.before, PutStatements(
            name=variable.name,
            server=self._address_alone(),
            statements=back.statements,
            check=back.check,
            until_restart=UntilRestart(back.started, back.before) if back.started else None,
        )

    def meant_for(self, back: PutStatements, wanted: str) -> PutStatements:
        """The way back from one value, which alone is ours where the server was started since."""
        until = back.until_restart
        if until is None:
            return back
        return dataclasses.replace(back, until_restart=UntilRestart(until.started, self._kind.spell(wanted)))

    def setting(self, variable: Variable, value: str, back: PutStatements) -> PutStatements:
        """What sets a variable, given the way back."""
        return PutStatements(
            name=f"{variable.name} = {value}",
            server=self._address_alone(),
            statements=self._live.setting(variable, self._kind.spell(value)),
            check=back.check,
        )

    def moment(self) -> str:
        """What `await_effect` needs of the time before a variable is set."""
        return self._live.moment(self.query)

    def await_effect(self, variable: Variable, moment: str) -> None:
        """Wait until what was set since then is in force. Raises QueryRefused where it does not come."""
        self._live.await_effect(self.query, variable.name, moment)
        if variable.takes_effect is TakesEffect.SESSION:
            self.close()  # only a new connection shows it

    def database(self, name: str, experiment: str) -> tuple[PutStatements, PutStatements]:
        """What makes a database for an experiment, and what removes it, no other of that name."""
        mark = f"{MARK}{experiment}"
        removing, shown, ours = self._live.removing(self.query, name, mark)
        server = self._address_alone()
        called = f"database {name}"
        make = PutStatements(name=called, server=server, statements=self._live.making(name, mark), check=shown)
        return make, PutStatements(name=called, server=server, statements=removing, check=shown, only_if=ours)

    def _address_alone(self) -> dict[str, object]:
        """The address as it stands in a journal."""
        return self.address().model_dump(mode="json", exclude={"password"})
