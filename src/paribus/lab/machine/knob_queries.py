"""Queries about knobs without a plan: the catalogue, variables of a private server, a value on this machine."""

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from paribus.databases import Instance, offer
from paribus.databases.server import removed_variables
from paribus.engine.find import binary
from paribus.errors import HostError, UsageError
from paribus.hosts.local import LocalHost
from paribus.hosts.storage.mounts import mount_of
from paribus.hosts.storage.stack import stack_of
from paribus.knobs.catalog import is_above_disks
from paribus.knobs.discovery import kernels_of
from paribus.knobs.discovery import offer as offer_of_machine
from paribus.knobs.recipe import DANGERS, PROVED
from paribus.lab.machine.own_knobs import catalogue_here
from paribus.lab.machine.server_inspection import temporary_server
from paribus.model import FAMILIES, READY_S, Knob, Location, Value
from paribus.registry import nearest

__all__ = ["DANGERS", "PROVED", "VARIABLE_FAMILIES", "KnobReading", "catalogue", "find", "kernels_of", "read_here"]

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
    with temporary_server(instance, READY_S):
        variables = instance.variables()
    if variable not in variables:
        version = instance.program.version
        hint = removed_variables.explain(kind, version, variable) or nearest(variable, variables)
        raise UsageError(f"{kind} {version} has no variable {variable}", hint)
    return offer(family, f"{kind} {instance.program.version}", variables[variable]).knob


def catalogue() -> tuple[Knob, ...]:
    """Every knob of the catalogue, in its order."""
    return tuple(catalogue_here())


def find(name: str, kind: str, path: str) -> Knob:
    """The definition of a knob, from the catalogue or from a private server below `path`. Raises as `look_up`."""
    return look_up(name, kind, path) if is_variable(name) else catalogue_here().get(name)


@dataclass(frozen=True, slots=True)
class KnobReading:
    """The value of a knob on this machine, its disks and the values that the machine offers."""

    knob: str
    device: str | None
    value: Value
    allowed: tuple[Value, ...]


def read_here(name: str, device: str | None) -> KnobReading:
    """Read a knob on this machine, of a `device` or of the disk below the current folder. Raises HostError."""
    knobs = catalogue_here()
    knob = knobs.get(name)
    location = location_of([knob], device)
    offered = offer_of_machine(LocalHost(), knobs, name, location, root=True)
    if offered.current is None:
        raise HostError(offered.refused, offered.todo)
    disks = ", ".join(disk for disk in (location.device, *location.more_disks) if disk)
    return KnobReading(knob.name, disks or None, offered.current, tuple(offered.allowed))


def location_of(knobs: Sequence[Knob], device: str | None, *, needs_disk: bool = False) -> Location:
    """Return the location of these knobs: of disks, `device` or what the file system of this folder lies on.

    `needs_disk`: something else needs a disk too. Raises HostError where one is needed and there is none.
    """
    host, number = LocalHost(), os.stat(".").st_dev  # noqa: PTH116  the number is wanted, not the file
    if not needs_disk and not any(
        is_above_disks(knob) or "{device}" in address for knob in knobs for address in knob.addresses
    ):
        return Location(mount=mount_of(host, ".").point)
    stack = stack_of(host, device or f"{os.major(number)}:{os.minor(number)}")
    disk, *more_disks = stack.disks
    return Location(disk, mount_of(host, ".").point, tuple(more_disks), stack.top, stack.arrays)
