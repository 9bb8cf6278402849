"""Several files that are one knob, such as the governor of each processor: one value in all of them.

Addresses: one file of each. Where the files differ, the value is the list of theirs, with `|` between.
"""

from paribus.knobs.kinds import startup
from paribus.knobs.kinds.kind import FileKind, knob_kinds
from paribus.knobs.kinds.sysfs import SEPARATOR, number_or_text
from paribus.model import Knob, Reading, Value, WriteFile


class MultiFileKind(FileKind):
    """`performance`, or `performance|powersave`, which is restored as it was and cannot be a level."""

    is_condition = True

    def parse(self, knob: Knob, texts: tuple[str, ...]) -> Reading:  # noqa: ARG002
        """The value that all files have, else the list of all values."""
        values = [" ".join(text.split()) for text in texts]
        if len(set(values)) == 1:
            return Reading(number_or_text(values[0]))
        return Reading(SEPARATOR.join(values))

    def writes(self, knob: Knob, value: Value) -> tuple[WriteFile, ...]:
        """One write for each file."""
        values = str(value).split(SEPARATOR)
        if len(values) == 1:
            values *= len(knob.addresses)
        return tuple(WriteFile(address, text) for address, text in zip(knob.addresses, values, strict=True))

    def persist_by_hand(self, knob: Knob, value: Value) -> str:
        """Lines of tmpfiles."""
        return startup.written_at_start(self.writes(knob, value))


knob_kinds.register("every", MultiFileKind())
