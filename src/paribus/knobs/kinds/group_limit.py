"""A limit of the control group that is created for an experiment, and removed with it.

Addresses: its file in the group, then a second one. For a limit of I/O that is the number of the device (`8:0`). For a
list of processors it is the file of the parent group.
"""

import dataclasses
from pathlib import PurePosixPath

from paribus.errors import Missing, UsageError
from paribus.hosts.transport import Host
from paribus.knobs.catalog import addresses_at
from paribus.knobs.kinds.kind import FileKind, Holder, knob_kinds
from paribus.knobs.kinds.placement import exists
from paribus.model import ControlGroup, Knob, Location, Reading, Value, WriteFile

KIND = "group_limit"
MAX = "max"
CPUS = "cpuset.cpus"
_KEYS = {"read_bytes_per_s": "rbps", "write_bytes_per_s": "wbps", "reads_per_s": "riops", "writes_per_s": "wiops"}
_PROPERTIES = {
    "read_bytes_per_s": "IOReadBandwidthMax",
    "write_bytes_per_s": "IOWriteBandwidthMax",
    "reads_per_s": "IOReadIOPSMax",
    "writes_per_s": "IOWriteIOPSMax",
}


class GroupLimitKind(FileKind):
    """`max`, a number, or a list of processors; a file that does not exist yet is empty."""

    holder: Holder = "group"
    absent_text: str | None = ""

    def place(self, host: Host, knob: Knob, location: Location) -> Knob:
        """The knob in the version of control groups that the machine has."""
        addresses_at(knob, location)
        second, first = PurePosixPath(knob.addresses[0]), PurePosixPath(knob.elsewhere[0])
        controller = second.name.partition(".")[0]
        top = second.parent.parent
        if "cgroup.controllers" in host.names(str(top)):
            if controller not in host.read(f"{top}/cgroup.subtree_control").split():
                message = f"the controller {controller} of control groups is not enabled"
                raise Missing(message, f"enable it: echo +{controller} > {top}/cgroup.subtree_control")
            path, above = second, top / "cpuset.cpus.effective"
        else:
            path, above = first, first.parent.parent / first.name
            if not exists(host, str(path.parent.parent)):
                raise Missing(f"there is no {path.parent.parent}: this machine has no such control groups")
        if path.name == CPUS:
            return dataclasses.replace(knob, addresses=(str(path), str(above)))
        if not location.device:
            raise UsageError(f"{knob.name} needs a device", "set target.device, for example /dev/nvme0n1")
        name = location.device.removeprefix("/dev/").replace("/", "!")
        return dataclasses.replace(knob, addresses=(str(path), host.read(f"/sys/block/{name}/dev").strip()))

    def reads(self, knob: Knob) -> tuple[str, ...]:
        """The file in the group, and the one above for a list of processors."""
        return knob.addresses if _is_cpus(knob) else knob.addresses[:1]

    def parse(self, knob: Knob, texts: tuple[str, ...]) -> Reading:
        """The limit, or the value without one; undone by removing the group."""
        undo = (ControlGroup(group_of(knob), present=False),)
        if _is_cpus(knob):
            return Reading(texts[0].strip() or texts[1].strip(), undo=undo)
        for line in texts[0].splitlines():
            number, *fields = line.split()
            if number == knob.addresses[1]:
                limits = dict(field.split("=") for field in fields) if "=" in line else {_key(knob): fields[0]}
                limit = limits.get(_key(knob), MAX)
                return Reading(limit if limit == MAX else int(limit), undo=undo)
        return Reading(MAX, undo=undo)

    def writes(self, knob: Knob, value: Value) -> tuple[ControlGroup | WriteFile, ...]:
        """Create the group, then write the limit."""
        path = knob.addresses[0]
        if _is_cpus(knob):
            text = str(value)
        elif path.endswith("io.max"):
            text = f"{knob.addresses[1]} {_key(knob)}={value}"
        else:
            text = f"{knob.addresses[1]} {0 if value == MAX else value}"
        return (ControlGroup(group_of(knob), present=True), WriteFile(path, text))

    def engine_options(self, knob: Knob, value: Value) -> tuple[str, ...]:  # noqa: ARG002
        """The engine's option that starts the load in the group."""
        return "--cgroup", group_of(knob)

    def conflict(self, host: Host, knob: Knob) -> tuple[str, str]:
        """A group of that name that exists already, and how to remove it."""
        group = group_of(knob)
        return (
            (f"there is a control group {group} already", f"remove it: rmdir {group}")
            if exists(host, group)
            else ("", "")
        )

    def persist_by_hand(self, knob: Knob, value: Value) -> str:
        """A property of the service that is to be limited; the trials limited a group of the experiment's own."""
        if _is_cpus(knob):
            return f"systemctl set-property SERVICE AllowedCPUs={value}"
        limit = f"/dev/block/{knob.addresses[1]} {'infinity' if value == MAX else value}"
        return f"systemctl set-property SERVICE '{_PROPERTIES[knob.name.rpartition('.')[2]]}={limit}'"


def group_of(knob: Knob) -> str:
    """The folder of the group that a placed knob limits."""
    return str(PurePosixPath(knob.addresses[0]).parent)


def _is_cpus(knob: Knob) -> bool:
    return knob.addresses[0].endswith(CPUS)


def _key(knob: Knob) -> str:
    """The key in io.max."""
    return _KEYS[knob.name.rpartition(".")[2]]


knob_kinds.register(KIND, GroupLimitKind())
