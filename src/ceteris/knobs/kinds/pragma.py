"""A pragma of SQLite, which belongs to a connection or to the database file; the machine stays as it is.

Addresses: the pragma's name.
"""

from ceteris.model import Action, Knob, Reading, Value
from ceteris.registry import LEFT_TO_IT, knob_kinds

KIND = "pragma"


class Pragma:
    """Nothing to read and nothing to write: the engine sets it on each connection, and reads it back."""

    def reads(self, knob: Knob) -> tuple[str, ...]:  # noqa: ARG002
        """Nothing."""
        return ()

    def parse(self, knob: Knob, texts: tuple[str, ...]) -> Reading:  # noqa: ARG002
        """What SQLite itself takes."""
        return Reading(LEFT_TO_IT)

    def writes(self, knob: Knob, value: Value) -> tuple[Action, ...]:  # noqa: ARG002
        """Nothing."""
        return ()

    def same(self, wanted: Value, found: Value) -> bool:
        """Equal as text."""
        return str(wanted) == str(found)


knob_kinds.register(KIND, Pragma())
