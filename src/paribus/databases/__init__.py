"""Database servers: private ones on the target, in a folder of their own, and those that run already and others use."""

from paribus.databases.instance import Instance
from paribus.databases.live import Live
from paribus.databases.rows import offer
from paribus.databases.snapshot import Copy
from paribus.databases.variable import TakesEffect, Variable

__all__ = ["Copy", "Instance", "Live", "TakesEffect", "Variable", "offer"]
