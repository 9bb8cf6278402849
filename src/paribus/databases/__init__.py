"""Database servers: private ones in a folder on the target, and running ones in use by others."""

from paribus.databases.server.catalogue_rows import offer
from paribus.databases.server.data_directory import abandoned_sockets, remove_sockets
from paribus.databases.server.instance import Instance
from paribus.databases.server.kind import database_kinds
from paribus.databases.server.live import LiveServer
from paribus.databases.server.snapshot import Copy
from paribus.databases.server.state import State
from paribus.databases.server.variable import ServerVariable, TakesEffect

__all__ = [
    "Copy",
    "Instance",
    "LiveServer",
    "ServerVariable",
    "TakesEffect",
    "abandoned_sockets",
    "offer",
    "remove_sockets",
    "state_of",
]


def state_of(kind: str) -> State:
    """The statements about the content and the pending work of a kind of server."""
    return database_kinds.get(kind).state
