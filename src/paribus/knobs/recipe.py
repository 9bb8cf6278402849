"""A setting as commands that a person can type: to set it, to look at it, and to have it at the next start too."""

import shlex
from collections.abc import Sequence

from paribus.hosts.mounts import MOUNTINFO
from paribus.knobs import kinds as _kinds  # noqa: F401  registers every kind
from paribus.knobs.kinds import launch, pragma, variable
from paribus.model import Action, ControlGroup, Knob, LoadModule, MountOption, PutStatements, Value, WriteFile
from paribus.registry import knob_kinds

DANGERS = {
    "data_loss": "some values can lose data at a power cut or a crash",
    "durability": "used for good, some values lose what was written last in a crash",
}
"""What setting a knob may cost, in words."""


def set_command(knob: Knob, value: Value) -> str:
    """The shell line that does by hand what applying the setting of a placed knob does."""
    if knob.kind == launch.KIND:
        return shlex.join(["paribus-engine", "run", *launch.arguments(knob, value)])
    if knob.kind == pragma.KIND:
        return shlex.join(["sqlite3", "FILE", f"PRAGMA {knob.addresses[0]} = {value}"])
    if knob.kind == variable.KIND:
        return variable.set_by_hand(knob, value)
    return commands(knob_kinds.get(knob.kind).writes(knob, value))


def commands(actions: Sequence[Action]) -> str:
    """The shell line that does by hand what these actions do."""
    return " && ".join(map(_line, actions))


def check_command(knob: Knob) -> str:
    """The shell line that shows the value in force of a placed knob."""
    if knob.kind == launch.KIND:
        return "cat /proc/PID/status /proc/PID/limits /proc/PID/numa_maps"
    if knob.kind == pragma.KIND:
        return shlex.join(["sqlite3", "FILE", f"PRAGMA {knob.addresses[0]}"])
    if knob.kind == variable.KIND:
        return variable.show_by_hand(knob)
    paths = knob_kinds.get(knob.kind).reads(knob)
    if paths == (MOUNTINFO,):
        return shlex.join(["findmnt", "--output", "FSTYPE,OPTIONS", *knob.addresses])
    return shlex.join(["cat", *paths])


def persist_command(knob: Knob, value: Value) -> str:
    """What makes the setting of a placed knob last beyond the next start: a shell line, or where to write what."""
    return knob_kinds.get(knob.kind).persist_by_hand(knob, value)


def _line(action: Action) -> str:
    match action:
        case WriteFile():
            return f"echo {shlex.quote(action.text)} > {shlex.quote(action.path)}"
        case MountOption(anew=True):
            options = ["-o", action.option] if action.option else []
            return f"{shlex.join(['umount', action.path])} && {shlex.join(['mount', *options, action.path])}"
        case MountOption():
            return shlex.join(["mount", "-o", f"remount,{action.option}", action.path])
        case PutStatements():
            return " ".join(f"{statement};" for statement in action.statements)
        case ControlGroup():
            return shlex.join(["mkdir", "-p", action.path] if action.present else ["rmdir", action.path])
        case LoadModule():
            load = shlex.join(["modprobe", action.module, f"{action.parameter}={action.value}"])
            return f"modprobe -r {shlex.quote(action.module)} && {load}"
