"""Database servers: private ones on the target, in a folder of their own, and those that run already and others use."""

from ceteris.databases.instance import Instance
from ceteris.databases.live import Live
from ceteris.databases.rows import offer
from ceteris.databases.snapshot import Copy
from ceteris.databases.variable import TakesEffect, Variable

__all__ = ["Copy", "Instance", "Live", "TakesEffect", "Variable", "offer"]
