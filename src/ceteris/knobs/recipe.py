"""A setting as commands that a person can type: to set it, and to look at it."""

import shlex

from ceteris.model import Knob, Value
from ceteris.registry import knob_kinds


def set_command(knob: Knob, addresses: tuple[str, ...], value: Value) -> str:
    """The shell line that does by hand what applying the setting does."""
    actions = knob_kinds.get(knob.kind).writes(addresses, value)
    return " && ".join(f"echo {shlex.quote(a.text)} > {shlex.quote(a.path)}" for a in actions)


def check_command(knob: Knob, addresses: tuple[str, ...]) -> str:
    """The shell line that shows the value in force."""
    paths = knob_kinds.get(knob.kind).reads(addresses)
    return "cat " + " ".join(shlex.quote(path) for path in paths)
