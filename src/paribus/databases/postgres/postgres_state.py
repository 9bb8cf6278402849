"""Content and pending work of PostgreSQL."""

from collections.abc import Mapping

from paribus.databases.server.quiescence import PendingWork
from paribus.databases.server.state import Ask, Cache
from paribus.databases.server.variable import number_of
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
_WORKERS = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'"


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

    def tables(self, ask: Ask) -> list[str]:
        """Return the tables of the connection's database."""
        return [name or "" for (name,) in ask(_TABLES).rows]

    def _has(self, ask: Ask, extension: str) -> bool:
        """Whether an extension that comes with the server is installed on the machine; it is put into the database."""
        there = ask(f"SELECT 1 FROM pg_available_extensions WHERE name = '{extension}'").rows  # noqa: S608
        if there:
            ask(f"CREATE EXTENSION IF NOT EXISTS {extension}")
        return bool(there)
