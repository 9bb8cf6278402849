"""An option of the file system under test: `noatime`, or `commit=60`.

Addresses: the mount point. `filesystems` of the knob holds the one that is mounted there, with the value that is in
force where none is shown; a choice is spelled as it stands, anything else as `name=value`.
"""

import dataclasses

from paribus.hosts.mounts import MOUNTINFO, mounted_at
from paribus.knobs.kinds.sysfs import number_or_text
from paribus.model import Knob, MountOption, Reading, Value
from paribus.registry import knob_kinds

NOT_GIVEN = "dynamic"  # the value of an option that is not given, and has no other name for that


class MountOptionKind:
    """Changed in place, or by unmounting, where the file system takes it only when it is mounted."""

    def reads(self, knob: Knob) -> tuple[str, ...]:  # noqa: ARG002
        """The kernel's list of mounts."""
        return (MOUNTINFO,)

    def parse(self, knob: Knob, texts: tuple[str, ...]) -> Reading:
        """What is shown, else what goes without saying. Raises Missing where nothing is mounted."""
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

    def same(self, wanted: Value, found: Value) -> bool:
        """Equal as text: the kernel shows options as they are given."""
        return str(wanted) == str(found)

    def persist_by_hand(self, knob: Knob, value: Value) -> str:
        """A line of fstab."""
        (action,) = self.writes(knob, value)
        others = ", ".join(f"{word}…" if word.endswith("=") else word for word in action.instead_of)
        given = f"give {action.option}, none else of" if action.option else "give none of"
        return f"in /etc/fstab, among the options of {action.path}: {given} {others}"


def _option(knob: Knob) -> str:
    """The name that the file system knows."""
    return knob.name.rpartition(".")[2]


def _spelled(knob: Knob, value: Value) -> str:
    """As it is given to mount."""
    if knob.type == "choice":
        return str(value)
    return "" if value == NOT_GIVEN else f"{_option(knob)}={value}"


knob_kinds.register("mount_option", MountOptionKind())
