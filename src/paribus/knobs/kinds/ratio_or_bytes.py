"""Two files that are one knob: a share of memory (`20%`) or a number of bytes; the kernel zeroes the other.

Addresses: the file of the ratio, then the file of the bytes, or of KiB where it is called so.
"""

from paribus.knobs.kinds import startup
from paribus.model import Knob, Reading, Value, WriteFile
from paribus.registry import knob_kinds


class RatioOrBytes:
    """`vm.dirty_ratio` and `vm.dirty_bytes`, and what else the kernel couples in this way."""

    def reads(self, knob: Knob) -> tuple[str, ...]:
        """Both files."""
        return knob.addresses

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

    def same(self, wanted: Value, found: Value) -> bool:
        """Equal as text: a share never equals a size."""
        return str(wanted) == str(found)

    def persist_by_hand(self, knob: Knob, value: Value) -> str:
        """A line of sysctl."""
        return startup.sysctl(self.writes(knob, value))


def _unit(address: str) -> int:
    """Bytes of one that the file counts."""
    return 1024 if address.endswith("_kbytes") else 1


knob_kinds.register("ratio_or_bytes", RatioOrBytes())
