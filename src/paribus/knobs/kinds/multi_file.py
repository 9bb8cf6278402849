"""Several files that are one knob, such as the governor of each processor: one value in all of them.

Addresses: one file of each. Where the files differ, the value is the list of theirs, with `|` between.
"""

from paribus.knobs.kinds import startup
from paribus.knobs.kinds.sysfs import number_or_text
from paribus.model import Knob, Reading, Value, WriteFile
from paribus.registry import knob_kinds

_BETWEEN = "|"


class Every:
    """`performance`, or `performance|powersave`, which is put back as it was and cannot be a level."""

    def reads(self, knob: Knob) -> tuple[str, ...]:
        """Every file."""
        return knob.addresses

    def parse(self, knob: Knob, texts: tuple[str, ...]) -> Reading:  # noqa: ARG002
        """The value that all have, else all values."""
        values = [" ".join(text.split()) for text in texts]
        if len(set(values)) == 1:
            return Reading(number_or_text(values[0]))
        return Reading(_BETWEEN.join(values))

    def writes(self, knob: Knob, value: Value) -> tuple[WriteFile, ...]:
        """One write for each file."""
        values = str(value).split(_BETWEEN)
        if len(values) == 1:
            values *= len(knob.addresses)
        return tuple(WriteFile(address, one) for address, one in zip(knob.addresses, values, strict=True))

    def same(self, wanted: Value, found: Value) -> bool:
        """Equal as text."""
        return str(wanted) == str(found)

    def persist_by_hand(self, knob: Knob, value: Value) -> str:
        """Lines of tmpfiles."""
        return startup.written_at_start(self.writes(knob, value))


knob_kinds.register("every", Every())
