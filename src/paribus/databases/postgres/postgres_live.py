"""PostgreSQL in use by others: statements that change it, and statements that undo it.

Changes are written to postgresql.auto.conf and outlive a restart: undo restores what that file had before, also where
that is nothing.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from paribus.databases.postgres import postgres_variables
from paribus.databases.postgres.postgres_variables import quoted
from paribus.databases.server.kind import Ask
from paribus.databases.server.live_kind import LiveServerKind, RestorePoint, live_kinds
from paribus.databases.server.variable import ServerVariable
from paribus.hosts.transport import Host
from paribus.i18n import StoredMessage, stored_message
from paribus.model import ExpectedAnswer

_FORCE_SINCE, _PARAMETER_RIGHTS_SINCE = 130000, 150000
_STANDS = (
    "(SELECT setting FROM pg_file_settings WHERE name = {name} AND sourcefile LIKE '%/postgresql.auto.conf' "
    "ORDER BY seqno DESC LIMIT 1)"
)
_SHOWN = "SELECT 'set: ' || coalesce({stands}, 'nothing') || '; in force: ' || current_setting({name})"
_LOCK = 0x70617269  # "pari": any number that nobody else uses
_LOCK_HOLDER = """SELECT pid, usename, coalesce(host(client_addr), 'a socket') FROM pg_locks
JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND granted AND classid = 0 AND objid = {lock}"""
_RIGHTS = """SELECT has_table_privilege('pg_catalog.pg_file_settings', 'SELECT')
AND has_function_privilege('pg_catalog.pg_show_all_file_settings()', 'EXECUTE')
AND has_function_privilege('pg_catalog.pg_reload_conf()', 'EXECUTE')"""
_SUPERUSER = "SELECT rolsuper FROM pg_roles WHERE rolname = current_user"


class PostgresLive(LiveServerKind):
    """PostgreSQL."""

    commands = ("postgres",)
    moves: Mapping[str, Sequence[str]] = MappingProxyType({})

    def identity(self, ask: Ask) -> tuple[str, str]:
        """Return the kind of server, and its version."""
        return "postgres", (ask("SHOW server_version").rows[0][0] or "").partition(" ")[0]

    def instance(self, ask: Ask) -> str:
        """Return the time of its start, to a microsecond."""
        return ask("SELECT extract(epoch FROM pg_postmaster_start_time())").rows[0][0] or ""

    def started(self, ask: Ask) -> float:
        """Return the time of its start."""
        return float(self.instance(ask))

    def claim(self, ask: Ask) -> str:
        """Take the lock, which is one of the database that is connected to."""
        if ask(f"SELECT pg_try_advisory_lock({_LOCK})").rows[0][0] == "t":
            return ""
        sessions = ask(_LOCK_HOLDER.format(lock=_LOCK)).rows
        return "".join(f"process {process} of {user} from {host}" for process, user, host in sessions) or "a session"

    def may_not_set(self, ask: Ask, name: str) -> str:
        """Return the reason why this user may not set a variable; empty where it may."""
        may = ask(_SUPERUSER).rows[0][0] == "t"
        if not may and _number(ask) >= _PARAMETER_RIGHTS_SINCE:
            may = ask(f"SELECT has_parameter_privilege({quoted(name)}, 'ALTER SYSTEM')").rows[0][0] == "t"
        if not may:
            return "permission denied to ALTER SYSTEM"
        if ask(_RIGHTS).rows[0][0] != "t":
            return "permission denied for pg_file_settings or pg_reload_conf()"
        return ""

    def may_not_make(self, ask: Ask, prefix: str) -> str:  # noqa: ARG002
        """Return the reason why this user may make no databases; empty where it may."""
        may = ask("SELECT rolsuper OR rolcreatedb FROM pg_roles WHERE rolname = current_user").rows[0][0] == "t"
        return "" if may else "permission denied to create database"

    def databases(self, ask: Ask, prefix: str) -> list[str]:
        """Return the names of the databases with this prefix."""
        names = [name or "" for (name,) in ask("SELECT datname FROM pg_database").rows]
        return [name for name in names if name.startswith(f"{prefix}_")]

    def setting(self, variable: ServerVariable, value: str) -> tuple[str, ...]:
        """The statements that set a variable."""
        return postgres_variables.statements(variable.name, value)

    def restore_point(self, ask: Ask, variable: ServerVariable) -> RestorePoint:
        """The way back to what stands in postgresql.auto.conf now, and to the value in force."""
        name = quoted(variable.name)
        stands = _STANDS.format(name=name)
        check_query = _SHOWN.format(stands=stands, name=name)
        written = ask(f"SELECT {stands}").rows[0][0]
        statements = postgres_variables.statements(variable.name, written)
        before = postgres_variables.read(ask, variable.name)
        return RestorePoint(before, statements, ExpectedAnswer(check_query, ask(check_query).rows[0][0] or ""), None)

    def moment(self, ask: Ask) -> str:
        """Return the time at which this connection read the configuration."""
        return postgres_variables.loaded(ask) or ""

    def await_effect(self, ask: Ask, name: str, moment: str) -> None:  # noqa: ARG002
        """Wait until it has read it again. Raises QueryRefused where it does not."""
        postgres_variables.await_reload(ask, moment)

    def making(self, database: str, mark: str) -> tuple[str, ...]:
        """The statements that make a database; nobody can connect to it before it is marked as this experiment's."""
        return (
            f'CREATE DATABASE "{database}" ALLOW_CONNECTIONS false',
            f'COMMENT ON DATABASE "{database}" IS {quoted(mark)}',
            f'ALTER DATABASE "{database}" ALLOW_CONNECTIONS true',
        )

    def removing(self, ask: Ask, database: str, mark: str) -> tuple[tuple[str, ...], ExpectedAnswer, ExpectedAnswer]:
        """The statements that remove it, the check that it is gone, and the check that it is ours.

        It is ours where it has the mark, or was never open to connections.
        """
        name = quoted(database)
        there = f"pg_database WHERE datname = {name}"
        presence_query = f"SELECT CASE WHEN count(*) = 0 THEN 'no database' ELSE 'a database' END FROM {there}"  # noqa: S608
        marked = f"shobj_description(oid, 'pg_database') = {quoted(mark)}"
        ours = f"SELECT count(*) FROM {there} AND ({marked} OR NOT datallowconn)"  # noqa: S608
        statements: tuple[str, ...] = (f'DROP DATABASE IF EXISTS "{database}" WITH (FORCE)',)
        if _number(ask) < _FORCE_SINCE:
            ended = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = {name}"  # noqa: S608
            statements = (ended, f'DROP DATABASE IF EXISTS "{database}"')
        return statements, ExpectedAnswer(presence_query, "no database"), ExpectedAnswer(ours, "1")

    def end_sessions(self, ask: Ask, database: str) -> None:
        """Do nothing: the statement that removes a database ends its sessions."""

    def notes(self, ask: Ask) -> list[StoredMessage]:
        """Return a note for readers if the server has replicas."""
        if ask("SELECT count(*) FROM pg_stat_replication").rows[0][0] == "0":
            return []
        return [stored_message("the server has replicas: the data of the workloads is replicated to them")]

    def process(self, ask: Ask, host: Host) -> int:
        """The process above the one that answers. Raises ValueError, IndexError and HostError where it is not here."""
        pid = ask("SELECT pg_backend_pid()").rows[0][0]
        return int(host.read(f"/proc/{pid}/stat").rpartition(")")[2].split()[1])


def _number(ask: Ask) -> int:
    return int(ask("SHOW server_version_num").rows[0][0] or 0)


live_kinds.register("postgres", PostgresLive())
