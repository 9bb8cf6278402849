"""Queries about knobs without a plan: the catalogue, variables of a private server, a value on this machine."""

import os
import secrets
from dataclasses import dataclass

from paribus.databases import Instance, offer
from paribus.databases.server import removed_variables
from paribus.engine.find import binary
from paribus.errors import HostError, UsageError
from paribus.hosts.facts import whole_disk
from paribus.hosts.local import LocalHost
from paribus.hosts.mounts import mount_of
from paribus.knobs.catalog import load
from paribus.knobs.discovery import kernels_of
from paribus.knobs.discovery import offer as offer_of_machine
from paribus.knobs.recipe import DANGERS
from paribus.lab.machine.server_inspection import temporary_server
from paribus.model import FAMILIES, Knob, Location, Value
from paribus.registry import nearest

__all__ = ["DANGERS", "VARIABLE_FAMILIES", "KnobReading", "catalogue", "find", "kernels_of", "read_here"]

_READY_S = 120.0
KINDS = {"mysql": "mariadb", "postgres": "postgres"}  # by the family in a knob's name, the server that is asked
# What no catalogue lists, since the server or the file itself says what there is.
VARIABLE_FAMILIES = {
    "mysql.*": "any variable of MariaDB, MySQL or Percona Server, such as mysql.innodb_io_capacity",
    "postgres.*": "any parameter of PostgreSQL, such as postgres.shared_buffers",
    "sqlite.*": "any pragma of SQLite that can be read back, such as sqlite.journal_mode",
}


def is_variable(name: str) -> bool:
    """Whether the knob is a variable that only a server can describe."""
    return name.partition(".")[0] in KINDS


def look_up(name: str, kind: str, path: str) -> Knob:
    """The variable as a private server of this kind describes it; the server runs below `path` and is removed.

    Raises UsageError for an unknown variable, DatabaseError if there is no such server.
    """
    family, _, variable = name.partition(".")
    kind = kind or KINDS[family]
    if FAMILIES.get(kind) != family:
        raise UsageError(
            f"{kind} has no variables {family}.*",
            f"choose --kind among {', '.join(k for k, f in FAMILIES.items() if f == family)}",
        )
    instance = Instance(LocalHost(), binary(), f"{path.rstrip('/')}/paribus-asking-{secrets.token_hex(4)}", kind)
    with temporary_server(instance, _READY_S):
        variables = instance.variables()
    if variable not in variables:
        version = instance.program.version
        hint = removed_variables.explain(kind, version, variable) or nearest(variable, variables)
        raise UsageError(f"{kind} {version} has no variable {variable}", hint)
    return offer(family, f"{kind} {instance.program.version}", variables[variable]).knob


def catalogue() -> tuple[Knob, ...]:
    """Every knob of the catalogue, in its order."""
    return tuple(load())


def find(name: str, kind: str, path: str) -> Knob:
    """The definition of a knob, from the catalogue or from a private server below `path`. Raises as `look_up`."""
    return look_up(name, kind, path) if is_variable(name) else load().get(name)


@dataclass(frozen=True, slots=True)
class KnobReading:
    """The value of a knob on this machine, its disk and the values that the machine offers."""

    knob: str
    device: str | None
    value: Value
    allowed: tuple[Value, ...]


def read_here(name: str, device: str | None) -> KnobReading:
    """Read a knob on this machine, of a `device` or of the disk below the current folder. Raises HostError."""
    host = LocalHost()
    knob = load().get(name)
    device_number = os.stat(".").st_dev  # noqa: PTH116  the number is wanted, not the file
    disk = None
    if any("{device}" in address for address in knob.addresses):
        disk = whole_disk(host, device or f"{os.major(device_number)}:{os.minor(device_number)}")
    offered = offer_of_machine(host, load(), name, Location(disk, mount_of(host, ".").point), root=True)
    if offered.current is None:
        raise HostError(offered.refused, offered.todo)
    return KnobReading(knob.name, disk, offered.current, tuple(offered.allowed))
