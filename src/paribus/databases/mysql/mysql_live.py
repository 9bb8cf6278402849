"""MariaDB, MySQL and Percona Server in use by others: statements that change them, and statements that undo it."""

from types import MappingProxyType

from paribus.databases.mysql import mysql_server, mysql_variables
from paribus.databases.server.kind import Ask
from paribus.databases.server.live_kind import LiveServerKind, RestorePoint, live_kinds
from paribus.databases.server.variable import ServerVariable
from paribus.errors import QueryRefused
from paribus.hosts.transport import Host
from paribus.i18n import StoredMessage, stored_message
from paribus.model import ExpectedAnswer

_ENDED = "1094"  # a session that has ended meanwhile
_MARK = "made_by_paribus"  # a table, whose comment says for which experiment
_STARTED = "SELECT ROUND(UNIX_TIMESTAMP() - VARIABLE_VALUE) FROM {schema}.global_status WHERE VARIABLE_NAME = 'Uptime'"
# A bound follows what it bounds, or the other way round; and two names for one thing.
_MOVES = {
    "innodb_io_capacity": ("innodb_io_capacity_max",),
    "innodb_io_capacity_max": ("innodb_io_capacity",),
    "innodb_max_dirty_pages_pct": ("innodb_max_dirty_pages_pct_lwm",),
    "expire_logs_days": ("binlog_expire_logs_seconds",),
    "binlog_expire_logs_seconds": ("expire_logs_days",),
    "slave_parallel_threads": ("slave_parallel_workers",),
    "slave_parallel_workers": ("slave_parallel_threads",),
}


class MySqlLive(LiveServerKind):
    """One of the three."""

    commands = ("mariadbd", "mysqld")
    moves = MappingProxyType(_MOVES)

    def identity(self, ask: Ask) -> tuple[str, str]:
        """Return the kind of server that it states, and its version."""
        version, comment = (text or "" for text in ask("SELECT @@version, @@version_comment").rows[0])
        return mysql_server.flavour(f"{version} {comment}"), version.partition("-")[0]

    def instance(self, ask: Ask) -> str:
        """Its machine, its port there and its data directory."""
        return " ".join(text or "" for text in ask("SELECT @@hostname, @@port, @@datadir").rows[0])

    def started(self, ask: Ask) -> float:
        """Return the time of its start, from the seconds that it has run."""
        return float(ask(self._started(ask)).rows[0][0] or 0)

    def _started(self, ask: Ask) -> str:
        schema = "information_schema" if self.identity(ask)[0] == "mariadb" else "performance_schema"
        return _STARTED.format(schema=schema)

    def claim(self, ask: Ask) -> str:
        """Take the lock, which is one of the whole server."""
        is_taken, holder = ask("SELECT GET_LOCK('paribus', 0), IS_USED_LOCK('paribus')").rows[0]
        if is_taken == "1":
            return ""
        sessions = ask(f"SELECT USER, HOST FROM information_schema.PROCESSLIST WHERE ID = {int(holder or 0)}").rows  # noqa: S608
        return "".join([f"connection {holder}", *(f" of {user} from {host}" for user, host in sessions)])

    def may_not_set(self, ask: Ask, name: str) -> str:
        """Return the reason why this user may not set a variable; empty where it may."""
        refused = mysql_variables.refusal(ask, name)
        return refused.words if refused else ""

    def may_not_make(self, ask: Ask, prefix: str) -> str:
        """Return the reason why this user may make no databases with this prefix; empty where it may."""
        name = f"{prefix}_x"
        try:
            ask(f"SHOW CREATE DATABASE `{name}`")
        except QueryRefused as error:
            return "" if error.kind == "missing" else error.words
        return ""

    def databases(self, ask: Ask, prefix: str) -> list[str]:
        """Return the names of the databases with this prefix."""
        like = mysql_variables.quoted(f"{prefix}\\_%")
        names = ask(f"SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE {like}")  # noqa: S608
        return [name or "" for (name,) in names.rows]

    def setting(self, variable: ServerVariable, value: str) -> tuple[str, ...]:
        """The statements that set a variable."""
        return (mysql_variables.statement(variable, value),)

    def restore_point(self, ask: Ask, variable: ServerVariable) -> RestorePoint:
        """The way back to the value now, which a start of the server takes too."""
        before = mysql_variables.read(ask, variable.name)
        check = ExpectedAnswer(f"SHOW GLOBAL VARIABLES WHERE Variable_name = '{variable.name}'", before)
        started = self._started(ask)
        return RestorePoint(
            before, self.setting(variable, before), check, ExpectedAnswer(started, ask(started).rows[0][0] or "0")
        )

    def moment(self, ask: Ask) -> str:  # noqa: ARG002
        """Return no marker: a variable is in force once it is set."""
        return ""

    def await_effect(self, ask: Ask, name: str, moment: str) -> None:  # noqa: ARG002
        """Wait for changes that the server makes in the background."""
        mysql_variables.await_effect(ask, name)

    def making(self, database: str, mark: str) -> tuple[str, ...]:
        """The statements that make a database, which others can tell to be of this experiment."""
        marked = f"CREATE TABLE `{database}`.{_MARK} (experiment INT) COMMENT = {mysql_variables.quoted(mark)}"
        return f"CREATE DATABASE `{database}`", marked

    def removing(self, ask: Ask, database: str, mark: str) -> tuple[tuple[str, ...], ExpectedAnswer, ExpectedAnswer]:  # noqa: ARG002
        """The statements that remove it, the check that it is gone, and the check that it is ours.

        It is ours where it has the mark, or has no table yet.
        """
        name = mysql_variables.quoted(database)
        there = f"information_schema.SCHEMATA WHERE SCHEMA_NAME = {name}"
        tables = f"(SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = {name}"  # noqa: S608
        marked = f"EXISTS {tables} AND TABLE_NAME = '{_MARK}' AND TABLE_COMMENT = {mysql_variables.quoted(mark)})"
        presence_query = f"SELECT IF(COUNT(*) = 0, 'no database', 'a database') FROM {there}"  # noqa: S608
        ours = f"SELECT COUNT(*) FROM {there} AND ({marked} OR NOT EXISTS {tables}))"  # noqa: S608
        return (
            (f"DROP DATABASE IF EXISTS `{database}`",),
            ExpectedAnswer(presence_query, "no database"),
            ExpectedAnswer(ours, "1"),
        )

    def end_sessions(self, ask: Ask, database: str) -> None:
        """End the connections of a lost machine: with an open transaction, each would keep the database."""
        sessions = f"SELECT ID FROM information_schema.PROCESSLIST WHERE DB = {mysql_variables.quoted(database)}"  # noqa: S608
        for (session,) in ask(sessions).rows:
            try:
                ask(f"KILL {session}")
            except QueryRefused as error:
                if error.code != _ENDED:
                    raise

    def notes(self, ask: Ask) -> list[StoredMessage]:
        """Return a note for readers if the binary log is on."""
        if ask("SELECT @@GLOBAL.log_bin").rows[0][0] != "1":
            return []
        return [stored_message("the binary log is on: the data of the workloads is written to it and sent to replicas")]

    def process(self, ask: Ask, host: Host) -> int:
        """The server's process, as it says itself. Raises ValueError and HostError where it cannot be told."""
        file, folder = (text or "" for text in ask("SELECT @@pid_file, @@datadir").rows[0])
        return int(host.read(file if file.startswith("/") else f"{folder.rstrip('/')}/{file}"))


for _kind in ("mariadb", "mysql", "percona"):
    live_kinds.register(_kind, MySqlLive())
