"""Database servers: private ones on the target, in a folder of their own, and those that run already and others use."""

from paribus.databases.server.catalogue_rows import offer
from paribus.databases.server.instance import Instance
from paribus.databases.server.live import Live
from paribus.databases.server.snapshot import Copy
from paribus.databases.server.variable import TakesEffect, Variable

__all__ = ["Copy", "Instance", "Live", "TakesEffect", "Variable", "offer"]
