"""Workload like the statements in a file, with the tables of a running server."""

from pathlib import Path

from paribus.databases import LiveServer
from paribus.errors import DatabaseError, UsageError
from paribus.lab.audit.server_facts import running_server
from paribus.lab.machine.connection import LOCAL, Report, discard, site
from paribus.lab.statement_mix.mix import StatementMix, statement_mix
from paribus.lab.statement_mix.mysql_tables import MysqlTables
from paribus.parsers.statements.digest import StatementRecord
from paribus.parsers.statements.source import read_statements

_TODO = "name with --like a slow query log: SET GLOBAL slow_query_log = 1, long_query_time = 0"


def statements_of(source: str) -> StatementRecord:
    """Return the statements of a file here. Raises UsageError where it cannot be read or has another form."""
    try:
        return read_statements(Path(source))
    except OSError as error:
        raise UsageError(f"cannot read --like {source}: {error.strerror}", _TODO) from error
    except ValueError as error:
        raise UsageError(f"--like {source} {error}", _TODO) from error


def workload_like(
    record: StatementRecord,
    source: str,
    *,
    target: str = LOCAL,
    database: str,
    become: bool = False,
    report: Report = discard,
) -> StatementMix:
    """Return the workload of a record; columns and the ranges of their values are read from the server `database`.

    Nothing is changed. Raises UsageError, HostError, EngineError and DatabaseError.
    """
    with site(target, become=become, report=report) as connected:
        live = running_server(connected.host, connected.engine, database)
        try:
            return statement_mix(record, _tables(live), source)
        finally:
            live.close()


def _tables(live: LiveServer) -> MysqlTables:
    if live.server.protocol != "mysql":
        raise DatabaseError(f"{live.server.address} is no server of MySQL's family", _TODO)
    return MysqlTables(live.query)
