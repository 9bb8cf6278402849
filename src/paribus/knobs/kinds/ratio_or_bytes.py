"""Two files that are one knob: a share of memory (`20%`) or a number of bytes; the kernel zeroes the other.

Addresses: the file of the ratio, then the file of the bytes, or of KiB where it is called so.
"""

from paribus.knobs.kinds import startup
from paribus.knobs.kinds.kind import FileKind, knob_kinds
from paribus.model import Knob, Reading, Value, WriteFile


class RatioOrBytesKind(FileKind):
    """`vm.dirty_ratio` and `vm.dirty_bytes`, and what else the kernel couples in this way."""

    is_condition = True

    def parse(self, knob: Knob, texts: tuple[str, ...]) -> Reading:
        """The bytes where they are in force, else the share."""
        ratio, size = (int(text) for text in texts)
        return Reading(size * _unit(knob.addresses[1]) if size else f"{ratio}%")

    def writes(self, knob: Knob, value: Value) -> tuple[WriteFile, ...]:
        """One write, to the file that the value belongs to."""
        text = str(value)
        if text.endswith("%"):
            return (WriteFile(knob.addresses[0], text.removesuffix("%")),)
        return (WriteFile(knob.addresses[1], str(int(value) // _unit(knob.addresses[1]))),)

    def persist_by_hand(self, knob: Knob, value: Value) -> str:
        """A line of sysctl."""
        return startup.sysctl(self.writes(knob, value))


def _unit(address: str) -> int:
    """Bytes in one unit of the file."""
    return 1024 if address.endswith("_kbytes") else 1


knob_kinds.register("ratio_or_bytes", RatioOrBytesKind())
