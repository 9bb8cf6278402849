"""Database servers: private ones in a folder on the target, and running ones in use by others."""

from paribus.databases.server.catalogue_rows import offer
from paribus.databases.server.instance import Instance
from paribus.databases.server.live import LiveServer
from paribus.databases.server.snapshot import Copy
from paribus.databases.server.variable import ServerVariable, TakesEffect

__all__ = ["Copy", "Instance", "LiveServer", "ServerVariable", "TakesEffect", "offer"]
