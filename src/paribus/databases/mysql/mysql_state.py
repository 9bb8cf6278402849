"""Content and pending work of servers of the MySQL family."""

from collections.abc import Mapping

from paribus.databases.server.quiescence import PendingWork
from paribus.databases.server.state import Ask, Cache
from paribus.databases.server.variable import number_of
from paribus.i18n import N_

_STATUS = """SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_buffer_pool_pages_dirty',
'Innodb_buffer_pool_pages_total', 'Innodb_buffer_pool_bytes_data', 'Innodb_checkpoint_age',
'Innodb_history_list_length', 'Innodb_redo_log_current_lsn', 'Innodb_redo_log_checkpoint_lsn',
'Innodb_buffer_pool_load_status')"""
_TABLES = """SELECT CONCAT('`', REPLACE(table_name, '`', '``'), '`') FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' ORDER BY table_name"""
_SIZE = "SELECT SUM(data_length + index_length) FROM information_schema.tables WHERE table_schema = DATABASE()"
_LITTLE_SHARE = 0.01  # of the pool
_LITTLE_LOG_BYTES = 1 << 20
_LITTLE_HISTORY = 1000  # transactions whose old rows are still there
_STIR = 30  # pages or transactions in three seconds: less than the least that a server can be set to
_DAMAGE = ("error", "warning")  # kinds of lines of CHECK TABLE; a note says nothing of the content
_LOADED = ("completed", "not started", "aborted", "cannot", "cancelled")


class MysqlState:
    """InnoDB's buffer pool and log."""

    cold: Mapping[str, str] = {"innodb_buffer_pool_load_at_startup": "OFF"}
    cache_size = "innodb_buffer_pool_size"

    def finish(self, ask: Ask) -> None:
        """Compute the statistics of the tables, which it would do some seconds later by itself."""
        for table in self.tables(ask):
            ask(f"ANALYZE TABLE {table}")

    def read_tables(self, ask: Ask) -> None:
        """Read the rows by their checksum, and the smallest index by counting them."""
        for table in self.tables(ask):
            ask(f"CHECKSUM TABLE {table}")
            ask(f"SELECT COUNT(*) FROM {table}")  # noqa: S608  a quoted name of the server's own

    def warm(self, ask: Ask) -> None:
        """Do nothing: pages that were read stay while there is room."""

    def cache(self, ask: Ask) -> Cache:
        """The pool, all that is in it taken for the database's, and the size of its tables when `finish` looked."""
        (size,) = ask("SELECT @@innodb_buffer_pool_size").rows[0]
        (data,) = ask(_SIZE).rows[0]
        held = number_of(self._status(ask).get("Innodb_buffer_pool_bytes_data", ""))
        return Cache(number_of(size or "") or 0.0, number_of(data or "") or 0.0, held)

    def flush(self, ask: Ask) -> None:
        """Do nothing: flushing faster than its settings say would change them."""

    def pending_work(self, ask: Ask) -> dict[str, PendingWork]:
        """Dirty pages, the age of the checkpoint, rows to purge, and the reload of the pool's earlier content."""
        status = self._status(ask)
        numbers = {name: number for name, text in status.items() if (number := number_of(text)) is not None}
        work = {}
        if (dirty := numbers.get("Innodb_buffer_pool_pages_dirty")) is not None:
            little = _LITTLE_SHARE * numbers.get("Innodb_buffer_pool_pages_total", 0.0)
            work[N_("dirty pages")] = PendingWork(dirty, little, _STIR)
        age = numbers.get("Innodb_checkpoint_age")
        if age is None and "Innodb_redo_log_current_lsn" in numbers:
            age = numbers["Innodb_redo_log_current_lsn"] - numbers.get("Innodb_redo_log_checkpoint_lsn", 0.0)
        if age is not None:
            work[N_("checkpoint age")] = PendingWork(age, _LITTLE_LOG_BYTES, _LITTLE_LOG_BYTES)
        if (history := numbers.get("Innodb_history_list_length")) is not None:
            work[N_("history")] = PendingWork(history, _LITTLE_HISTORY, _STIR)
        load_status = status.get("Innodb_buffer_pool_load_status", "")
        loads = bool(load_status) and not any(word in load_status for word in _LOADED)
        work[N_("loading the buffer pool")] = PendingWork(float(loads), to_the_end=True)
        return work

    def damage(self, ask: Ask) -> list[str]:
        """Read every table and index by CHECK TABLE, and return what it says of the damaged ones."""
        damage = []
        for table in self.tables(ask):
            for name, _, kind, text in ask(f"CHECK TABLE {table}").rows:
                if (kind or "").lower() in _DAMAGE or (kind == "status" and text != "OK"):
                    damage.append(f"{name}: {text}")
        return damage

    def tables(self, ask: Ask) -> list[str]:
        """Return the tables of the connection's database."""
        return [name or "" for (name,) in ask(_TABLES).rows]

    def _status(self, ask: Ask) -> dict[str, str]:
        return {name or "": value or "" for name, value in ask(_STATUS).rows}
