"""TPC-C in a plan: what its database cannot have.

The check of a plan calls this.
"""

from collections.abc import Iterator

from pydantic import BaseModel

from paribus.model import TPCC
from paribus.plan.form.key_paths import KeyPath
from paribus.plan.form.parse import Parsed
from paribus.plan.workloads import kind_of, places_of

_TERMINALS = 10


def complaints(parsed: Parsed) -> Iterator[tuple[KeyPath, str, str]]:
    """Yields every reason against TPC-C workloads."""
    table = parsed.table
    for number, workload in enumerate(table.workload):
        if kind_of(workload).name == TPCC and getattr(workload, "think", False):
            yield from _complaints_of_terminals(("workload", number), workload)
    if table.database is None:
        return
    keys, partitions = (tuple(places_of(table, {TPCC}, key)) for key in ("foreign_keys", "partitions"))
    if table.database.kind == "sqlite":
        for places, name in ((keys, "foreign keys"), (partitions, "partitions")):
            message, todo = f"tables of SQLite have no {name} here", "remove it, or use a server"
            yield from ((place, message, todo) for place in places)
    elif table.database.kind != "postgres" and keys:
        message, todo = "tables with partitions have no foreign keys on MySQL", "remove one of them"
        yield from ((place, message, todo) for place in partitions)


def _complaints_of_terminals(place: KeyPath, workload: BaseModel) -> Iterator[tuple[KeyPath, str, str]]:
    """Yields the reasons against the load levels of a workload whose connections are terminals."""
    threads, warehouses = (getattr(workload, key) for key in ("threads", "warehouses"))
    most = _TERMINALS * warehouses
    if getattr(workload, "rate", None):
        yield (*place, "rate"), "terminals that think set the rate themselves", "remove rate, or think"
    elif threads and max(threads) > most:
        message = f"{max(threads)} terminals think, and {warehouses} warehouses have {most} (clause 4.2.2 of TPC-C)"
        yield (*place, "threads"), message, f"use {most} at most, or {-(-max(threads) // _TERMINALS)} warehouses"
