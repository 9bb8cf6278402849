"""A file under /proc/sys: one number or word."""

from paribus.knobs.kinds import startup
from paribus.knobs.kinds.kind import FileKind, knob_kinds
from paribus.knobs.kinds.sysfs import number_or_text
from paribus.model import Knob, Reading, Value, WriteFile


class SysctlKind(FileKind):
    """`60`, or several numbers between tabs, which are one value."""

    is_condition = True

    def parse(self, knob: Knob, texts: tuple[str, ...]) -> Reading:  # noqa: ARG002
        """The value, inner white space folded."""
        return Reading(number_or_text(" ".join(texts[0].split())))

    def writes(self, knob: Knob, value: Value) -> tuple[WriteFile, ...]:
        """One write of the plain value."""
        return (WriteFile(knob.addresses[0], str(value)),)

    def persist_by_hand(self, knob: Knob, value: Value) -> str:
        """A line of sysctl."""
        return startup.sysctl(self.writes(knob, value))


knob_kinds.register("sysctl", SysctlKind())
