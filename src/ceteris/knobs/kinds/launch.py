"""A condition that the process under test is started with, such as its NUMA policy; the machine stays as it is.

Addresses: the engine's option that asks for it, in one or two words.
"""

from ceteris.model import Action, Knob, Reading, Value
from ceteris.registry import knob_kinds

KIND = "launch"
INHERITED = "default"


class Launch:
    """Nothing to read and nothing to write: the engine takes it from its command line, and reads it back."""

    def reads(self, knob: Knob) -> tuple[str, ...]:  # noqa: ARG002
        """Nothing."""
        return ()

    def parse(self, knob: Knob, texts: tuple[str, ...]) -> Reading:  # noqa: ARG002
        """What a process inherits."""
        return Reading(INHERITED)

    def writes(self, knob: Knob, value: Value) -> tuple[Action, ...]:  # noqa: ARG002
        """Nothing."""
        return ()

    def same(self, wanted: Value, found: Value) -> bool:
        """Equal as text."""
        return str(wanted) == str(found)


def arguments(knob: Knob, value: Value) -> tuple[str, ...]:
    """The engine's options that ask for the value."""
    if value == INHERITED:
        return ()
    option, *name = knob.addresses
    return (option, f"{''.join(name)}{value}")


knob_kinds.register(KIND, Launch())
