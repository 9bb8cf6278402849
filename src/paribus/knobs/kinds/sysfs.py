"""A file under /sys: one value, or every possible one with the value in force in brackets.

A limit of an md array is `2000 (local)`, or `system` where it is that of all arrays: `1000 (system)`.

On several disks it is one file of each. Where these differ, the value is the list of theirs, with `|` between.
"""

from paribus.knobs.kinds import startup
from paribus.knobs.kinds.kind import FileKind, knob_kinds
from paribus.model import SYSTEM, Knob, Reading, Value, WriteFile


def number_or_text(word: str) -> Value:
    """The word as a whole number where it is one."""
    return int(word) if word.removeprefix("-").isdecimal() else word


SEPARATOR = "|"


def _reading(text: str) -> Reading:
    """The value of one file; in a list, the word in brackets."""
    words = text.split()
    chosen = [word[1:-1] for word in words if word.startswith("[") and word.endswith("]")]
    if len(chosen) == 1:
        return Reading(number_or_text(chosen[0]), tuple(number_or_text(word.strip("[]")) for word in words))
    if words[1:] in (["(local)"], [f"({SYSTEM})"]):
        return Reading(SYSTEM if words[1] != "(local)" else number_or_text(words[0]))
    return Reading(number_or_text(text.strip()))


class SysfsKind(FileKind):
    """`[none] mq-deadline bfq` or `128`; `none|bfq`, which is restored as it was, on disks that differ."""

    is_condition = True

    def parse(self, knob: Knob, texts: tuple[str, ...]) -> Reading:  # noqa: ARG002
        """The value that all files have, else the list of all values; what every disk offers."""
        readings = [_reading(text) for text in texts]
        values = [reading.value for reading in readings]
        allowed = tuple(v for v in readings[0].allowed if all(v in reading.allowed for reading in readings))
        return Reading(values[0] if len(set(values)) == 1 else SEPARATOR.join(map(str, values)), allowed)

    def writes(self, knob: Knob, value: Value) -> tuple[WriteFile, ...]:
        """One write of the plain value for each disk."""
        values = str(value).split(SEPARATOR)
        if len(values) != len(knob.addresses):
            values = [str(value)] * len(knob.addresses)
        return tuple(WriteFile(path, text, "bracketed") for path, text in zip(knob.addresses, values, strict=True))

    def persist_by_hand(self, knob: Knob, value: Value) -> str:
        """Rules of udev, an option of the module, or lines of tmpfiles."""
        return " && ".join(startup.kernel_file(path, str(value)) for path in knob.addresses)


knob_kinds.register("sysfs", SysfsKind())
