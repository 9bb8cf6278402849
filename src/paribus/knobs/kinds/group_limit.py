"""A limit of the control group of the load or the server, which is created for an experiment and removed with it.

Addresses: its file in the group, then a second one. For a limit of I/O that is the number of the device (`8:0`). For a
list of processors it is the file of the parent group.
"""

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from paribus.errors import Missing, UsageError
from paribus.hosts.transport import Host
from paribus.knobs.catalog import addresses_at
from paribus.knobs.kinds.kind import FileKind, Holder, knob_kinds
from paribus.knobs.kinds.placement import exists
from paribus.model import ControlGroup, Knob, Location, ProcessState, Reading, Refusal, Value, WriteFile

KIND = "group_limit"
MAX = "max"
CPUS = "cpuset.cpus"
_PERIOD_US = 100_000  # the kernel's own period of a quota
_NO_LIMIT = 1 << 62  # version 1 shows the largest number of pages
_USUAL_WEIGHT, _USUAL_SHARES = 100, 1024
_DEVICE_KEYS = {
    "read_bytes_per_s": "rbps",
    "write_bytes_per_s": "wbps",
    "reads_per_s": "riops",
    "writes_per_s": "wiops",
}


def _bytes(text: str) -> Value:
    return MAX if text == MAX or int(text) >= _NO_LIMIT else int(text)


def _cores(text: str) -> Value:
    """The quota in processors: `150000 100000` in version 2, and `150000` in version 1, is 1.5."""
    quota = text.split(maxsplit=1)[0]
    return MAX if quota in (MAX, "-1") else int(quota) / _PERIOD_US


# By file: the value that a text stands for, and the text that sets a value.
_PLAIN_FILES: Mapping[str, tuple[Callable[[str], Value], Callable[[Value], str]]] = {
    "memory.max": (_bytes, str),
    "memory.high": (_bytes, str),
    "memory.limit_in_bytes": (_bytes, lambda value: "-1" if value == MAX else str(value)),
    "cpu.weight": (int, str),
    "cpu.shares": (
        lambda text: max(1, round(int(text) * _USUAL_WEIGHT / _USUAL_SHARES)),
        lambda value: str(max(2, round(float(value) * _USUAL_SHARES / _USUAL_WEIGHT))),
    ),
    "cpu.max": (_cores, lambda value: f"{MAX if value == MAX else round(float(value) * _PERIOD_US)} {_PERIOD_US}"),
    "cpu.cfs_quota_us": (_cores, lambda value: "-1" if value == MAX else str(round(float(value) * _PERIOD_US))),
}
_ABSENT = {"cpu.weight": _USUAL_WEIGHT, "cpu.shares": _USUAL_WEIGHT}
_PROPERTIES: Mapping[str, Callable[[Value], str]] = {
    "cpus": lambda value: f"AllowedCPUs={value}",
    "cpu_quota": lambda value: f"CPUQuota={'' if value == MAX else f'{float(value) * 100:g}%'}",
    "cpu_weight": lambda value: f"CPUWeight={value}",
    "memory_max": lambda value: f"MemoryMax={'infinity' if value == MAX else value}",
    "memory_high": lambda value: f"MemoryHigh={'infinity' if value == MAX else value}",
}
_DEVICE_PROPERTIES = {
    "read_bytes_per_s": "IOReadBandwidthMax",
    "write_bytes_per_s": "IOWriteBandwidthMax",
    "reads_per_s": "IOReadIOPSMax",
    "writes_per_s": "IOWriteIOPSMax",
}


class GroupLimitKind(FileKind):
    """`max`, a number, or a list of processors; a file that does not exist yet has the value without a limit."""

    holder: Holder = "group"
    absent_text: str | None = ""

    def place(self, host: Host, knob: Knob, location: Location) -> Knob:
        """The knob in the version of control groups that the machine has."""
        addresses_at(knob, location)
        path = _file_in_group(host, knob)
        if path.name == CPUS:
            top = path.parent.parent
            is_second = path == PurePosixPath(knob.addresses[0])
            above = top / "cpuset.cpus.effective" if is_second else top / path.name
            return dataclasses.replace(knob, addresses=(str(path), str(above)))
        if path.name in _PLAIN_FILES:
            return dataclasses.replace(knob, addresses=(str(path),))
        if not location.device:
            raise UsageError(f"{knob.name} needs a device", "set target.device, for example /dev/nvme0n1")
        if location.is_layout:
            raise UsageError(f"{knob.name} limits a device, and those of a layout come and go", "limit the load: rate")
        name = (location.top or location.device).removeprefix("/dev/").replace("/", "!")
        return dataclasses.replace(knob, addresses=(str(path), host.read(f"/sys/block/{name}/dev").strip()))

    def reads(self, knob: Knob) -> tuple[str, ...]:
        """The file in the group, and the one above for a list of processors."""
        return knob.addresses if _file(knob) == CPUS else knob.addresses[:1]

    def parse(self, knob: Knob, texts: tuple[str, ...]) -> Reading:
        """The limit, or the value without one; undone by removing the group."""
        undo = (ControlGroup(group_of(knob), present=False),)
        text = texts[0].strip()
        if _file(knob) == CPUS:
            return Reading(text or texts[1].strip(), undo=undo)
        if _file(knob) in _PLAIN_FILES:
            parse, _ = _PLAIN_FILES[_file(knob)]
            return Reading(parse(text) if text else _ABSENT.get(_file(knob), MAX), undo=undo)
        for line in text.splitlines():
            number, *fields = line.split()
            if number == knob.addresses[1]:
                limits = dict(field.split("=") for field in fields) if "=" in line else {_device_key(knob): fields[0]}
                limit = limits.get(_device_key(knob), MAX)
                return Reading(limit if limit == MAX else int(limit), undo=undo)
        return Reading(MAX, undo=undo)

    def writes(self, knob: Knob, value: Value) -> tuple[ControlGroup | WriteFile, ...]:
        """Create the group, then write the limit."""
        path, file = knob.addresses[0], _file(knob)
        if file == CPUS:
            text = str(value)
        elif file in _PLAIN_FILES:
            _, text_of = _PLAIN_FILES[file]
            text = text_of(value)
        elif file == "io.max":
            text = f"{knob.addresses[1]} {_device_key(knob)}={value}"
        else:
            text = f"{knob.addresses[1]} {0 if value == MAX else value}"
        return (ControlGroup(group_of(knob), present=True), WriteFile(path, text))

    def engine_options(self, knob: Knob, value: Value) -> tuple[str, ...]:  # noqa: ARG002
        """The engine's option that starts a process in the group."""
        return "--cgroup", group_of(knob)

    def of_process(self, knob: Knob, value: Value, process: ProcessState) -> Value:
        """The value where the process is in the group, else the group that it is in."""
        controller, name = _file(knob).partition(".")[0], PurePosixPath(group_of(knob)).name
        for line in process.groups:
            _, controllers, path = line.split(":", 2)
            if not controllers or controller in controllers.split(","):
                here = PurePosixPath(path).name
                if here == name:
                    return value
        return f"a process in another group than {name}"

    def conflict(self, host: Host, knob: Knob) -> Refusal | None:
        """A group of that name that exists already, and how to remove it."""
        group = group_of(knob)
        if not exists(host, group):
            return None
        return Refusal(f"there is a control group {group} already", f"remove it: rmdir {group}")

    def persist_by_hand(self, knob: Knob, value: Value) -> str:
        """A property of the service that is to be limited; the trials limited a group of the experiment's own."""
        name = knob.name.rpartition(".")[2]
        if name in _PROPERTIES:
            return f"systemctl set-property SERVICE {_PROPERTIES[name](value)}"
        limit = f"/dev/block/{knob.addresses[1]} {'infinity' if value == MAX else value}"
        return f"systemctl set-property SERVICE '{_DEVICE_PROPERTIES[name]}={limit}'"


def _file_in_group(host: Host, knob: Knob) -> PurePosixPath:
    """The knob's file in the version of control groups that the machine has. Raises Missing where it has neither."""
    second = PurePosixPath(knob.addresses[0])
    controller, top = second.name.partition(".")[0], second.parent.parent
    if "cgroup.controllers" in host.names(str(top)):
        if controller not in host.read(f"{top}/cgroup.subtree_control").split():
            message = f"the controller {controller} of control groups is not enabled"
            raise Missing(message, f"enable it: echo +{controller} > {top}/cgroup.subtree_control")
        return second
    if not knob.elsewhere:
        raise Missing(f"{knob.name} needs version 2 of control groups, and this machine has version 1")
    first = PurePosixPath(knob.elsewhere[0])
    if not exists(host, str(first.parent.parent)):
        raise Missing(f"there is no {first.parent.parent}: this machine has no such control group")
    return first


def group_of(knob: Knob) -> str:
    """The folder of the group that a placed knob limits."""
    return str(PurePosixPath(knob.addresses[0]).parent)


def _file(knob: Knob) -> str:
    return PurePosixPath(knob.addresses[0]).name


def _device_key(knob: Knob) -> str:
    """The key in io.max."""
    return _DEVICE_KEYS[knob.name.rpartition(".")[2]]


knob_kinds.register(KIND, GroupLimitKind())
