"""A parameter of a kernel module that is taken only when the module is loaded.

Addresses: its file under /sys/module.
"""

from pathlib import PurePosixPath

from paribus.knobs.kinds import startup
from paribus.knobs.kinds.kind import FileKind, knob_kinds
from paribus.knobs.kinds.sysfs import number_or_text
from paribus.model import Knob, LoadModule, Reading, Value


class ModuleKind(FileKind):
    """`8`, `Y` or a word."""

    renumbers_devices = True

    def parse(self, knob: Knob, texts: tuple[str, ...]) -> Reading:  # noqa: ARG002
        """The value that the module was loaded with."""
        return Reading(number_or_text(texts[0].strip()))

    def writes(self, knob: Knob, value: Value) -> tuple[LoadModule]:
        """Unload the module, and load it with the value and all its other parameters unchanged."""
        path = PurePosixPath(knob.addresses[0])
        return (LoadModule(str(path), path.parent.parent.name, path.name, str(value)),)

    def persist_by_hand(self, knob: Knob, value: Value) -> str:
        """An option of the module."""
        path = PurePosixPath(knob.addresses[0])
        return startup.parameter(path.parent.parent.name, path.name, str(value))


knob_kinds.register("module", ModuleKind())
