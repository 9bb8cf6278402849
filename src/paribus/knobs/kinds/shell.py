"""Actions as shell lines that a person can type."""

import shlex
from collections.abc import Sequence

from paribus.model import (
    Action,
    ControlGroup,
    DefineGuest,
    LoadModule,
    MountOption,
    PutStatements,
    ReleaseDisk,
    RunProgram,
    SetByCommand,
    WriteFile,
)


def commands(actions: Sequence[Action]) -> str:
    """The shell line that does by hand what these actions do."""
    return " && ".join(map(_line, actions))


def _line(action: Action) -> str:
    match action:
        case WriteFile():
            return f"echo {shlex.quote(action.text)} > {shlex.quote(action.path)}"
        case MountOption(anew=True):
            options = ["-o", action.option] if action.option else []
            return f"{shlex.join(['umount', action.path])} && {shlex.join(['mount', *options, action.path])}"
        case MountOption():
            cleared = "atime," if action.option == "relatime" else ""  # else a noatime stays, and wins
            return shlex.join(["mount", "-o", f"remount,{cleared}{action.option}", action.path])
        case PutStatements():
            return " ".join(f"{statement};" for statement in action.statements)
        case ControlGroup():
            return shlex.join(["mkdir", "-p", action.path] if action.present else ["rmdir", action.path])
        case SetByCommand():
            return shlex.join(action.set)
        case DefineGuest():
            return shlex.join([*action.virsh, "start" if action.running else "shutdown", "--domain", action.name])
        case RunProgram():
            return shlex.join(action.argv)
        case ReleaseDisk():
            return shlex.join(["wipefs", "--all", action.path])
        case LoadModule():
            load = shlex.join(["modprobe", action.module, f"{action.parameter}={action.value}"])
            return f"modprobe -r {shlex.quote(action.module)} && {load}"
