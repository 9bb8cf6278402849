"""A setting that is no file of the machine: whoever takes it, the load or a server, sets it and reads it back."""

from paribus.model import Action, Knob, Reading, Value
from paribus.registry import LEFT_TO_IT


class Elsewhere:
    """Nothing to read and nothing to write."""

    def reads(self, knob: Knob) -> tuple[str, ...]:  # noqa: ARG002
        """Nothing."""
        return ()

    def parse(self, knob: Knob, texts: tuple[str, ...]) -> Reading:  # noqa: ARG002
        """What it is where nobody sets it."""
        return Reading(LEFT_TO_IT)

    def writes(self, knob: Knob, value: Value) -> tuple[Action, ...]:  # noqa: ARG002
        """Nothing."""
        return ()

    def same(self, wanted: Value, found: Value) -> bool:
        """Equal as text."""
        return str(wanted) == str(found)
