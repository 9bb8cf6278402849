"""A variable of a database server, set by the server's own means; the machine stays as it is.

Addresses: the variable's name.
"""

from ceteris.model import Action, Knob, Reading, Value
from ceteris.registry import LEFT_TO_IT, knob_kinds

KIND = "variable"


class Variable:
    """Nothing to read and nothing to write: the private server is asked, told or started anew."""

    def reads(self, knob: Knob) -> tuple[str, ...]:  # noqa: ARG002
        """Nothing."""
        return ()

    def parse(self, knob: Knob, texts: tuple[str, ...]) -> Reading:  # noqa: ARG002
        """What the server itself takes."""
        return Reading(LEFT_TO_IT)

    def writes(self, knob: Knob, value: Value) -> tuple[Action, ...]:  # noqa: ARG002
        """Nothing."""
        return ()

    def same(self, wanted: Value, found: Value) -> bool:
        """Equal as text."""
        return str(wanted) == str(found)


def set_by_hand(knob: Knob, value: Value) -> str:
    """The statement that sets it, or the line of the server's configuration."""
    family, name = knob.name.split(".", 1)
    if knob.takes_effect == "restart":
        return f"{name} = {value}    # in the server's configuration, then restart it"
    text = f"'{value}'" if isinstance(value, str) and not value.replace(".", "").isdigit() else str(value)
    if family == "postgres":
        return f"ALTER SYSTEM SET {name} = {text}; SELECT pg_reload_conf();"
    return f"SET GLOBAL {name} = {text};"


def show_by_hand(knob: Knob) -> str:
    """The statement that shows it."""
    family, name = knob.name.split(".", 1)
    return f"SHOW {name};" if family == "postgres" else f"SHOW GLOBAL VARIABLES LIKE '{name}';"


knob_kinds.register(KIND, Variable())
