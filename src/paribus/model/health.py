"""Health of a machine's parts, such as the battery of a controller: what decides whether trials count."""

from dataclasses import dataclass

from paribus.model.machine import CommandLines
from paribus.model.words import Value

HEALTH = "health "
"""Prefix of the names of metrics that are states of health."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthCheck:
    """A state that a program prints; `command` sets nothing.

    A trial counts while the state is one of `sound` (any, where that is empty), and while a number is between `minimum`
    and `maximum`. Where it is `constant`, a change during a trial voids that trial. Where it is of `every` match of the
    pattern, it is their sum, or their different words. `proved`: what tried it. `disks`: a pattern of the kernel names
    of those that have it; empty: all.
    """

    name: str
    command: CommandLines
    summary: str
    unit: str = ""
    sound: tuple[Value, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    constant: bool = False
    every: bool = False
    disks: str = ""
    proved: str = ""
