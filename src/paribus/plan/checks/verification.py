"""Verification of the tables of databases in a plan: where it is impossible, and how it changes the protocol.

The check of a plan calls this.
"""

import dataclasses
from collections.abc import Iterator

from paribus.model import Protocol
from paribus.plan.form.file import PlanTable
from paribus.plan.form.key_paths import KeyPath
from paribus.plan.form.parse import Parsed
from paribus.plan.workloads import kind_of, places_of

_VERIFY, _OLTP = "verify", "oltp_"


def with_verification(protocol: Protocol, table: PlanTable) -> Protocol:
    """Returns the protocol of a plan; where tables are verified after a trial, its load has to end with it."""
    on_database = {kind_of(each).name for each in table.workload if kind_of(each).on_database}
    return dataclasses.replace(protocol, in_flight=False) if any(places_of(table, on_database, _VERIFY)) else protocol


def complaints(parsed: Parsed) -> Iterator[tuple[KeyPath, str, str]]:
    """Yields every reason against verification."""
    table = parsed.table
    if table.database is None or table.database.kind != "sqlite":
        return
    of_servers = {kind_of(each).name for each in table.workload if kind_of(each).name.startswith(_OLTP)}
    for place in places_of(table, of_servers, _VERIFY):
        yield place, "tables of SQLite are verified under tpcc only", "remove it, or use a server"
