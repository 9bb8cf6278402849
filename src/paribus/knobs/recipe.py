"""A setting as commands that a person can type: to set it, to check it, and to keep it after the next start."""

from collections.abc import Sequence

from paribus.knobs.kinds import knob_kinds, shell
from paribus.model import Action, Knob, Offer, Value, is_of_hypervisor

DANGERS = {
    "data_loss": "some values can lose data at a power cut or a crash",
    "durability": "in permanent use, some values lose the last writes in a crash",
}
"""The danger of setting a knob, in words."""
PROVED = {
    "device": "a device",
    "transcript": "what its manual says that is printed, and never on a device",
}
"""On what the row of a knob was tried, in words."""


def located(knob: Knob, line: str) -> str:
    """A line that is typed on the machine that has the knob, with a remark where that is not the target."""
    return f"{line}  # on the hypervisor" if line and is_of_hypervisor(knob.name) else line


def joined(lines: Sequence[tuple[Knob, str]]) -> str:
    """Lines that are typed one after the other: for each machine in one line, unless a remark ends it."""
    by_machine: dict[bool, list[tuple[Knob, str]]] = {}
    for knob, line in lines:
        by_machine.setdefault(is_of_hypervisor(knob.name), []).append((knob, line))
    return "\n".join(
        located(of[0][0], line) for of in by_machine.values() for line in _chained([line for _, line in of])
    )


def _chained(lines: Sequence[str]) -> list[str]:
    """Lines as one, so that each needs the success of those before; a line with a remark stands alone."""
    different = list(dict.fromkeys(lines))
    return different if any("  # " in line for line in different) else [" && ".join(different)]


def set_command(knob: Knob, value: Value) -> str:
    """The shell line that does by hand what applying the setting of a placed knob does."""
    return knob_kinds.get(knob.kind).set_by_hand(knob, value)


def commands(actions: Sequence[Action]) -> str:
    """The shell line that does by hand what these actions do."""
    return shell.commands(actions)


def undo_command(offer: Offer) -> str:
    """The shell line that restores the value that an offer found; empty where nothing has to be restored."""
    if knob_kinds.get(offer.knob.kind).holder == "guest" and offer.current is not None:
        return located(offer.knob, set_command(offer.knob, offer.current))
    return located(offer.knob, commands(offer.undo))


def check_command(*knobs: Knob) -> str:
    """The shell line that shows the values in force of placed knobs; a remark names programs of other generations."""
    line = joined([(knob, knob_kinds.get(knob.kind).check_by_hand(knob)) for knob in knobs])
    also = dict.fromkeys(other for knob in knobs if knob.command for other in knob.command.also)
    return f"{line}  # or: {'; '.join(also)}" if also else line


def persist_command(knob: Knob, value: Value) -> str:
    """The shell line or line of configuration that keeps the setting of a placed knob after the next start."""
    return knob_kinds.get(knob.kind).persist_by_hand(knob, value)
