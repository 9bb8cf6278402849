"""Workloads of tools completed with the address of the plan's server, where their tables name none.

In: the document of a plan. Out: the document with the options or placeholders that reach the server.
"""

from collections.abc import Mapping
from typing import Any

from paribus.model import FAMILIES
from paribus.plan import dsn
from paribus.registry import workload_kinds


def with_addresses(document: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a plan's document with the server's address in the tables of tools that need it.

    Whatever is wrong in the document stays as it is, for the form to refuse.
    """
    database, tables = document.get("database"), document.get("workload")
    if not isinstance(database, dict) or not isinstance(tables, list):
        return dict(document)
    family, has_socket = FAMILIES.get(str(database.get("kind")), ""), True
    if address := database.get("dsn"):
        try:
            has_socket = dsn.parse(str(address)).socket is not None
        except ValueError:
            return dict(document)
    return {**document, "workload": [_completed(table, family, has_socket) for table in tables]}


def _completed(table: Any, family: str, has_socket: bool) -> Any:
    kind = table.get("kind") if isinstance(table, dict) else None
    if kind not in list(workload_kinds):
        return table
    tool = workload_kinds.get(kind).tool
    return tool.addressed(table, family, has_socket) if tool else table
