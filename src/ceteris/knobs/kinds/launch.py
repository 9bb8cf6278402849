"""A condition that the process under test is started with, such as its NUMA policy; the machine stays as it is.

Addresses: the engine's option that asks for it, in one or two words.
"""

from ceteris.knobs.kinds.elsewhere import Elsewhere
from ceteris.model import Knob, Value
from ceteris.registry import LEFT_TO_IT, knob_kinds

KIND = "launch"


def arguments(knob: Knob, value: Value) -> tuple[str, ...]:
    """The engine's options that ask for the value."""
    if value == LEFT_TO_IT:
        return ()
    option, *name = knob.addresses
    return (option, f"{''.join(name)}{value}")


knob_kinds.register(KIND, Elsewhere())
