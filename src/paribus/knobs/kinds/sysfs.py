"""A file under /sys: one value, or every possible one with the value in force in brackets."""

from paribus.knobs.kinds import startup
from paribus.knobs.kinds.kind import FileKind, knob_kinds
from paribus.model import Knob, Reading, Value, WriteFile


def number_or_text(word: str) -> Value:
    """The word as a whole number where it is one."""
    return int(word) if word.removeprefix("-").isdecimal() else word


class SysfsKind(FileKind):
    """`[none] mq-deadline bfq` or `128`."""

    is_condition = True

    def parse(self, knob: Knob, texts: tuple[str, ...]) -> Reading:  # noqa: ARG002
        """The value in force; in a list, the word in brackets."""
        words = texts[0].split()
        chosen = [word[1:-1] for word in words if word.startswith("[") and word.endswith("]")]
        if len(chosen) == 1:
            allowed = tuple(number_or_text(word.strip("[]")) for word in words)
            return Reading(number_or_text(chosen[0]), allowed)
        return Reading(number_or_text(texts[0].strip()))

    def writes(self, knob: Knob, value: Value) -> tuple[WriteFile, ...]:
        """One write of the plain value."""
        return (WriteFile(knob.addresses[0], str(value), "bracketed"),)

    def persist_by_hand(self, knob: Knob, value: Value) -> str:
        """A rule of udev, an option of the module, or a line of tmpfiles."""
        return startup.kernel_file(knob.addresses[0], str(value))


knob_kinds.register("sysfs", SysfsKind())
