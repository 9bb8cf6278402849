"""An option of the file system under test: `noatime`, or `commit=60`.

Addresses: the mount point. `filesystems` of the knob holds the one that is mounted there, with the value that is in
force where none is shown; a choice is spelled as it stands, anything else as `name=value`.
"""

import dataclasses
import shlex

from paribus.errors import Missing
from paribus.hosts.storage.mounts import MOUNTINFO, mounted_at
from paribus.hosts.transport import Host
from paribus.knobs.catalog import addresses_at
from paribus.knobs.kinds.kind import FileKind, knob_kinds
from paribus.knobs.kinds.sysfs import number_or_text
from paribus.model import Knob, Location, MountOption, Reading, Value

NOT_GIVEN = "dynamic"  # the value of an option that is not given, and has no other name for that


class MountOptionKind(FileKind):
    """Changed in place, or by remounting where the file system takes it only when it is mounted."""

    def place(self, host: Host, knob: Knob, location: Location) -> Knob:
        """The knob narrowed to the file system that is mounted at its address."""
        knob = dataclasses.replace(knob, addresses=addresses_at(knob, location))
        mounted = mounted_at(host.read(MOUNTINFO), knob.addresses[0])
        name = mounted.filesystem
        hidden = knob.filesystems.get(name) or knob.filesystems.get("*")
        if hidden is None:
            where = f"{mounted.point} is {name}, which does not have {knob.name}"
            raise Missing(
                where, knob.gone.get(name) or f"only {', '.join(knob.filesystems)} has it: remove it from the plan"
            )
        allowed = tuple(level for level in knob.allowed if knob.only_on.get(str(level), name) == name)
        return dataclasses.replace(knob, filesystems={name: hidden}, allowed=allowed)

    def reads(self, knob: Knob) -> tuple[str, ...]:  # noqa: ARG002
        """The kernel's list of mounts."""
        return (MOUNTINFO,)

    def parse(self, knob: Knob, texts: tuple[str, ...]) -> Reading:
        """The value that is shown, else the hidden default. Raises Missing where nothing is mounted."""
        mounted = mounted_at(texts[0], knob.addresses[0])
        (hidden,) = knob.filesystems.values()
        name = _option(knob)
        value = hidden
        for word in (*mounted.flags.split(","), *mounted.options.split(",")):
            if knob.type == "choice" and word in knob.allowed:
                value = word
            elif knob.type != "choice" and word.startswith(f"{name}="):
                value = word.partition("=")[2]
        (back,) = self.writes(knob, value)
        return Reading(number_or_text(value), undo=(dataclasses.replace(back, mounted=mounted),))

    def writes(self, knob: Knob, value: Value) -> tuple[MountOption]:
        """One change of the mount."""
        ((filesystem, hidden),) = knob.filesystems.items()
        return (
            MountOption(
                path=knob.addresses[0],
                option=_spelled(knob, value),
                instead_of=tuple(map(str, knob.allowed)) if knob.type == "choice" else (f"{_option(knob)}=",),
                hidden=_spelled(knob, hidden),
                anew=filesystem in knob.unmounts,
            ),
        )

    def check_by_hand(self, knob: Knob) -> str:
        """The shell line that shows the options of the mount."""
        return shlex.join(["findmnt", "--output", "FSTYPE,OPTIONS", *knob.addresses])

    def persist_by_hand(self, knob: Knob, value: Value) -> str:
        """A line of fstab."""
        (action,) = self.writes(knob, value)
        others = ", ".join(f"{word}…" if word.endswith("=") else word for word in action.instead_of)
        instruction = f"give {action.option}, none else of" if action.option else "give none of"
        return f"in /etc/fstab, among the options of {action.path}: {instruction} {others}"


def _option(knob: Knob) -> str:
    """The file system's name of the option."""
    return knob.name.rpartition(".")[2]


def _spelled(knob: Knob, value: Value) -> str:
    """The option as mount takes it."""
    if knob.type == "choice":
        return str(value)
    return "" if value == NOT_GIVEN else f"{_option(knob)}={value}"


knob_kinds.register("mount_option", MountOptionKind())
