"""A limit of the control group that is made for an experiment, and goes with it.

Addresses: its file in the group, then what the kind needs beside it: the number of the device (`8:0`) for a limit of
input and output, the file of the group above for a list of processors.
"""

from pathlib import PurePosixPath

from paribus.model import ControlGroup, Knob, Reading, Value, WriteFile
from paribus.registry import knob_kinds

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


class GroupLimit:
    """`max`, a number, or a list of processors; a file that is not there yet is empty."""

    def reads(self, knob: Knob) -> tuple[str, ...]:
        """The file in the group, and the one above for a list of processors."""
        return knob.addresses if _is_cpus(knob) else knob.addresses[:1]

    def parse(self, knob: Knob, texts: tuple[str, ...]) -> Reading:
        """The limit, or what holds without one; undone by removing the group."""
        undo = (ControlGroup(group_of(knob), present=False),)
        if _is_cpus(knob):
            return Reading(texts[0].strip() or texts[1].strip(), undo=undo)
        for line in texts[0].splitlines():
            number, *fields = line.split()
            if number == knob.addresses[1]:
                limits = dict(field.split("=") for field in fields) if "=" in line else {_key(knob): fields[0]}
                found = limits.get(_key(knob), MAX)
                return Reading(found if found == MAX else int(found), undo=undo)
        return Reading(MAX, undo=undo)

    def writes(self, knob: Knob, value: Value) -> tuple[ControlGroup | WriteFile, ...]:
        """The group, then the limit in it."""
        path = knob.addresses[0]
        if _is_cpus(knob):
            text = str(value)
        elif path.endswith("io.max"):
            text = f"{knob.addresses[1]} {_key(knob)}={value}"
        else:
            text = f"{knob.addresses[1]} {0 if value == MAX else value}"
        return (ControlGroup(group_of(knob), present=True), WriteFile(path, text))

    def same(self, wanted: Value, found: Value) -> bool:
        """Equal as text."""
        return str(wanted) == str(found)

    def persist_by_hand(self, knob: Knob, value: Value) -> str:
        """A property of the service that is to be limited; what was tried was a group of the experiment's own."""
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
    """What io.max calls it."""
    return _KEYS[knob.name.rpartition(".")[2]]


knob_kinds.register(KIND, GroupLimit())
