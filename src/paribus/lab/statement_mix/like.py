"""Workload like the statements in a file, with the tables of a running server."""

from pathlib import Path

from paribus.databases import LiveServer
from paribus.errors import UsageError
from paribus.lab.audit.server_facts import running_server
from paribus.lab.machine.connection import LOCAL, Report, discard, site
from paribus.lab.statement_mix.mix import StatementMix, statement_mix
from paribus.lab.statement_mix.mysql_tables import MysqlTables
from paribus.lab.statement_mix.postgres_tables import PostgresTables
from paribus.lab.statement_mix.server_tables import ServerTables
from paribus.parsers.statements.digest import StatementRecord
from paribus.parsers.statements.source import read_statements

_TODO = "see docs/how-to/audit.md: a slow query log, or statistics of statements exported with the names of columns"


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
            return statement_mix(record, _tables(live, record, source), source)
        finally:
            live.close()


def _tables(live: LiveServer, record: StatementRecord, source: str) -> ServerTables:
    if live.server.protocol != record.protocol:
        raise UsageError(
            f"--like {source} ({record.form}) is of another kind of server than {live.server.address}",
            "name with --database the server that recorded it",
        )
    return (MysqlTables if record.protocol == "mysql" else PostgresTables)(live.query)
