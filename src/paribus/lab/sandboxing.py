"""Sandboxes made, listed and removed, and the document of `paribus sandbox`."""

import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from paribus import workloads as _workloads  # noqa: F401  registers the kinds that a plan may name
from paribus.errors import SandboxError, UsageError
from paribus.plan.form.file import SandboxTable
from paribus.plan.form.parse import parse, read_file
from paribus.sandbox.machine import Sandbox, all_sandboxes
from paribus.sandbox.specification import BUSES, PACKAGES, Specification, parse_disks
from paribus.units import parse_size

__all__ = ["BUSES", "DEFAULT_DISKS", "DEFAULT_NAME", "PACKAGES"]

DEFAULT_NAME = "lab"
DEFAULT_DISKS = ("ssd:1GiB:count=4",)


class SandboxState(StrEnum):
    """Whether the machine runs."""

    ON = "on"
    OFF = "off"


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SandboxDisk(_Document):
    """A disk of a sandbox."""

    serial: str
    size_bytes: int
    bus: str
    iops: int = Field(description="operations a second at most; 0: no limit")
    bytes_per_s: int = Field(description="bytes a second at most; 0: no limit")
    latency_s: float = Field(description="seconds that each read and write waits")


class SandboxStatus(_Document):
    """One sandbox."""

    name: str
    address: str = Field(description="what target.host of a plan, or --target, names")
    state: SandboxState
    emulated: bool | None = Field(
        description="whether its processors are emulated, so that times in it mean nothing; null where it is off"
    )
    cores: int
    nodes: int = Field(description="NUMA nodes")
    memory_bytes: int
    packages: list[str]
    disks: list[SandboxDisk]


class SandboxDocument(_Document):
    """The answer of `paribus sandbox … --json`."""

    sandboxes: list[SandboxStatus]


def specification(
    disks: Sequence[str], *, cores: int, nodes: int, memory: str, packages: Sequence[str]
) -> Specification:
    """A sandbox from the words of a command line. Raises UsageError."""
    try:
        return Specification(
            disks=parse_disks(disks or DEFAULT_DISKS),
            cores=cores,
            nodes=nodes,
            memory_bytes=parse_size(memory),
            packages=tuple(sorted(set(packages))),
        )
    except ValueError as error:
        raise UsageError(f"no sandbox can be so: {error}", "paribus sandbox up --help shows the options") from error


def of_plan(path: Path, overrides: Mapping[str, str]) -> tuple[str, Specification]:
    """The name and the parts of the sandbox that a plan orders. Raises PlanError and UsageError."""
    table = parse(str(path), read_file(str(path)), overrides).table
    name = re.sub("[^a-z0-9]+", "-", table.name.lower()).strip("-")[:20]
    ordered = table.sandbox or SandboxTable()
    return f"plan-{name}", specification(
        ordered.disks, cores=ordered.cores, nodes=ordered.nodes, memory=ordered.memory, packages=ordered.packages
    )


def up(name: str, ordered: Specification | None, progress: Callable[[str], None]) -> SandboxDocument:
    """Make a sandbox and switch it on; `ordered` may be None where it exists. Raises SandboxError and UsageError."""
    sandbox = Sandbox(name)
    sandbox.up(ordered or sandbox.specification, progress)
    return SandboxDocument(sandboxes=[_status(sandbox)])


def down(name: str) -> None:
    """Remove a sandbox with all that is in it. Raises SandboxError and UsageError."""
    Sandbox(name).down()


def cut_power(name: str) -> SandboxDocument:
    """End a sandbox as a power cut does. Raises SandboxError and UsageError."""
    sandbox = Sandbox(name)
    sandbox.cut_power()
    return SandboxDocument(sandboxes=[_status(sandbox)])


def fail_disk(name: str, serial: str) -> None:
    """Take a disk of a running sandbox away. Raises SandboxError and UsageError."""
    Sandbox(name).fail_disk(serial)


def exists(name: str) -> bool:
    """Whether there is such a sandbox. Raises UsageError for a bad name."""
    return Sandbox(name).exists


def status() -> SandboxDocument:
    """Every sandbox of this user that can be read."""
    return SandboxDocument(sandboxes=[_status(sandbox) for sandbox in all_sandboxes() if sandbox.exists])


def _status(sandbox: Sandbox) -> SandboxStatus:
    made = sandbox.specification
    is_on, emulated = sandbox.is_on, None
    if is_on:
        try:
            emulated = sandbox.is_emulated()
        except SandboxError:  # it ended meanwhile
            is_on = False
    return SandboxStatus(
        name=sandbox.name,
        address=sandbox.address,
        state=SandboxState.ON if is_on else SandboxState.OFF,
        emulated=emulated,
        cores=made.cores,
        nodes=made.nodes,
        memory_bytes=made.memory_bytes,
        packages=list(made.packages),
        disks=[
            SandboxDisk(
                serial=disk.serial,
                size_bytes=disk.size_bytes,
                bus=disk.bus,
                iops=disk.iops,
                bytes_per_s=disk.bytes_per_s,
                latency_s=disk.latency_s,
            )
            for disk in made.disks
        ],
    )
