"""A parameter of a kernel module that is taken only when the module is loaded.

Addresses: its file under /sys/module.
"""

from pathlib import PurePosixPath

from paribus.knobs.kinds import startup
from paribus.knobs.kinds.sysfs import number_or_text
from paribus.model import Knob, LoadModule, Reading, Value
from paribus.registry import knob_kinds


class Module:
    """`8`, `Y` or a word."""

    def reads(self, knob: Knob) -> tuple[str, ...]:
        """The one file."""
        return knob.addresses

    def parse(self, knob: Knob, texts: tuple[str, ...]) -> Reading:  # noqa: ARG002
        """The value that the module was loaded with."""
        return Reading(number_or_text(texts[0].strip()))

    def writes(self, knob: Knob, value: Value) -> tuple[LoadModule]:
        """The module unloaded, and loaded with the value and all its other parameters as they are."""
        path = PurePosixPath(knob.addresses[0])
        return (LoadModule(str(path), path.parent.parent.name, path.name, str(value)),)

    def same(self, wanted: Value, found: Value) -> bool:
        """Equal as text."""
        return str(wanted) == str(found)

    def persist_by_hand(self, knob: Knob, value: Value) -> str:
        """An option of the module."""
        path = PurePosixPath(knob.addresses[0])
        return startup.parameter(path.parent.parent.name, path.name, str(value))


knob_kinds.register("module", Module())
