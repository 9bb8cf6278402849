"""Private database servers on the target, in a folder of their own: made, started, asked, stopped, copied, removed."""

from ceteris.databases.instance import Instance
from ceteris.databases.rows import offer
from ceteris.databases.snapshot import Copy
from ceteris.databases.variable import TakesEffect, Variable

__all__ = ["Copy", "Instance", "TakesEffect", "Variable", "offer"]
