"""Content and pending work of PostgreSQL."""

import contextlib
from collections.abc import Mapping

from paribus.databases.server.quiescence import PendingWork
from paribus.databases.server.state import Ask, Cache
from paribus.databases.server.variable import number_of
from paribus.errors import QueryRefused
from paribus.i18n import N_

_TABLES = """SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) FROM pg_tables
WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1"""
_OWN = """relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace, 'pg_toast'::regnamespace)
AND relkind IN ('r', 'i')"""
_PREWARM = f"SELECT pg_prewarm(oid) FROM pg_class WHERE {_OWN}"  # noqa: S608  a text of our own
_SIZE = f"SELECT sum(pg_relation_size(oid)) FROM pg_class WHERE {_OWN}"  # noqa: S608
_POOL = "SELECT setting::bigint * current_setting('block_size')::bigint FROM pg_settings WHERE name = 'shared_buffers'"
_HELD = f"""SELECT count(*) * current_setting('block_size')::bigint FROM pg_buffercache
WHERE reldatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
AND relfilenode IN (SELECT pg_relation_filenode(oid) FROM pg_class WHERE {_OWN})"""  # noqa: S608
_INDEXES = f"SELECT oid FROM pg_class WHERE {_OWN} AND relam = (SELECT oid FROM pg_am WHERE amname = 'btree')"  # noqa: S608
_CHECK_INDEX = "SELECT bt_index_check({}, true)"
_CHECKS_ROWS = "SELECT 1 FROM pg_proc WHERE proname = 'verify_heapam'"
_CHECK_ROWS = f"SELECT c.relname, v.msg FROM pg_class c, verify_heapam(c.oid) v WHERE relkind = 'r' AND {_OWN}"  # noqa: S608
_DAMAGE = ("XX", "58")  # classes of errors: internal, of which corruption is one, and of the system
_NOT_ALLOWED = "42501"
_WORKERS = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'"


class _NotAllowed(Exception):
    """The user may not run a check."""


class PostgresState:
    """Its shared buffers, checkpoints and vacuum."""

    cold: Mapping[str, str] = {}  # its buffers are empty at every start
    cache_size = "shared_buffers"

    def finish(self, ask: Ask) -> None:
        """Do what autovacuum would do within the next minutes."""
        ask("VACUUM (ANALYZE)")

    def read_tables(self, ask: Ask) -> None:
        """Count the rows without an index; `warm` loads the indexes."""
        ask("SET enable_indexonlyscan = off")
        for table in self.tables(ask):
            ask(f"SELECT count(*) FROM {table}")  # noqa: S608  a quoted name of the server's own

    def warm(self, ask: Ask) -> None:
        """Load tables larger than a quarter of the buffers, of which plain reading leaves next to nothing there."""
        if self._has(ask, "pg_prewarm"):
            ask(_PREWARM)

    def cache(self, ask: Ask) -> Cache:
        """The shared buffers, those that the database's tables and indexes have, and the size of these."""
        held = ask(_HELD).rows[0][0] if self._has(ask, "pg_buffercache") else None
        size, data = ask(_POOL).rows[0][0], ask(_SIZE).rows[0][0]
        return Cache(number_of(size or "") or 0.0, number_of(data or "") or 0.0, number_of(held or ""))

    def flush(self, ask: Ask) -> None:
        """Write out all buffers."""
        ask("CHECKPOINT")

    def pending_work(self, ask: Ask) -> dict[str, PendingWork]:
        """Vacuum in progress; `flush` wrote out all else."""
        workers = number_of(ask(_WORKERS).rows[0][0] or "")
        return {N_("autovacuum"): PendingWork(workers or 0.0, to_the_end=True)}

    def damage(self, ask: Ask) -> list[str]:
        """Hold every row against its B-tree indexes by amcheck, and the rows by themselves from PostgreSQL 14 on.

        Where amcheck is not installed or allowed, every row is read, and pages hold their checksum if they have one.
        """
        if self._has(ask, "amcheck"):
            checks = [_CHECK_INDEX.format(oid) for (oid,) in ask(_INDEXES).rows]
            checks += [_CHECK_ROWS] if ask(_CHECKS_ROWS).rows else []
            with contextlib.suppress(_NotAllowed):
                return [text for statement in checks for text in self._findings(ask, statement)]
        reads = [f"SELECT NULL, NULL FROM {table} HAVING count(*) < 0" for table in self.tables(ask)]  # noqa: S608
        return [text for statement in reads for text in self._findings(ask, statement)]

    def _findings(self, ask: Ask, statement: str) -> list[str]:
        """The rows of a check that name damage, or the error that it ends with. Raises _NotAllowed."""
        try:
            return [f"{row[0]}: {row[1]}" for row in ask(statement).rows if len(row) > 1]
        except QueryRefused as error:
            if error.code == _NOT_ALLOWED:
                raise _NotAllowed from error
            if error.code[:2] not in _DAMAGE:
                raise
            return [error.words]

    def tables(self, ask: Ask) -> list[str]:
        """Return the tables of the connection's database."""
        return [name or "" for (name,) in ask(_TABLES).rows]

    def _has(self, ask: Ask, extension: str) -> bool:
        """Whether an extension is installed on the machine and this user may use it; it is put into the database."""
        there = ask(f"SELECT 1 FROM pg_available_extensions WHERE name = '{extension}'").rows  # noqa: S608
        try:
            if there:
                ask(f"CREATE EXTENSION IF NOT EXISTS {extension}")
        except QueryRefused as error:
            if error.code != _NOT_ALLOWED:
                raise
            return False
        return bool(there)
