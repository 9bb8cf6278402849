"""A setting that one program prints and another sets, such as that of a RAID controller."""

import dataclasses
import json
import re
import shlex
from collections.abc import Sequence
from typing import Any

from paribus.errors import UsageError
from paribus.hosts.programs import full_path
from paribus.hosts.transport import Host
from paribus.knobs.catalog.own_rows import KIND
from paribus.knobs.kinds.kind import FileKind, knob_kinds
from paribus.knobs.kinds.sysfs import number_or_text
from paribus.model import CommandLines, Knob, Location, Reading, SetByCommand, Value

_RUNNERS = {"sh", "bash", "sudo", "env", "python3"}
_MOST_CHARACTERS = 200  # of a value
_DEVICE, _VALUE = "{device}", "{value}"


class ByCommandKind(FileKind):
    """A value that a program prints, at a JSON pointer or in the first group of a pattern."""

    def place(self, host: Host, knob: Knob, location: Location) -> Knob:
        """The knob with the disk under test, and the full paths of its programs, in its argument lists.

        Raises UsageError where it needs one disk and there is another number of them.
        """
        command = _command(knob)
        if any(_DEVICE in word for word in (*command.get, *command.set)):
            if not location.device:
                raise UsageError(f"{knob.name} needs a device", "set target.device, for example /dev/nvme0n1")
            if location.more_disks:
                raise UsageError(
                    f"{knob.name} is set on one disk, and the files lie on several", "set target.device to one of them"
                )
        reader, *get = _filled(command.get, _DEVICE, location.device or _DEVICE)
        writer, *to_set = _filled(command.set, _DEVICE, location.device or _DEVICE)
        placed = dataclasses.replace(
            command, get=(full_path(host, reader), *get), set=(full_path(host, writer), *to_set)
        )
        return dataclasses.replace(knob, command=placed, addresses=(shlex.join(placed.get),))

    def reads(self, knob: Knob) -> tuple[str, ...]:  # noqa: ARG002
        """No file."""
        return ()

    def runs(self, knob: Knob) -> tuple[tuple[str, ...], ...]:
        """The program that prints the value."""
        return (_command(knob).get,)

    def parse(self, knob: Knob, texts: tuple[str, ...]) -> Reading:
        """The value in the program's output."""
        return Reading(number_or_text(extract(_command(knob), texts[0])))

    def writes(self, knob: Knob, value: Value) -> tuple[SetByCommand, ...]:
        """One run of the program that sets the value."""
        command = _command(knob)
        word = command.written.get(str(value), str(value))
        argv = _filled(command.set, _VALUE, word)
        return (SetByCommand(set=argv, get=command.get, json=command.json, pattern=command.pattern, value=str(value)),)

    def check_by_hand(self, knob: Knob) -> str:
        """The program that prints the value."""
        return shlex.join(_command(knob).get)

    def persist_by_hand(self, knob: Knob, value: Value) -> str:
        """Return the row's command; a setting that survives a reboot needs none."""
        command = _command(knob)
        return command.keep or (
            "# it lasts" if command.survives_reboot else f"# run at boot: {self.set_by_hand(knob, value)}"
        )


def program_in(argv: Sequence[str]) -> str:
    """The program of a command, which is not run again once it hangs; a script or what sudo runs is another program."""
    return shlex.join(argv) if argv[0].rpartition("/")[2] in _RUNNERS else argv[0]


def extract(command: CommandLines, text: str) -> str:
    """The value in an output of `get`. Raises ValueError where there is none, or a whole text in its place."""
    value = _value_in(command, text)
    if len(value) > _MOST_CHARACTERS:
        place = command.pattern or command.json
        raise ValueError(f"{place!r} finds {len(value):,} characters: let it find the value alone")
    return value


def _value_in(command: CommandLines, text: str) -> str:
    if command.pattern:
        match = re.search(command.pattern, text, re.MULTILINE)
        if match is None or match[1] is None:
            raise ValueError(f"nothing matches {command.pattern!r}")
        return match[1]
    value: Any = json.loads(text)
    for part in command.json.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        try:
            value = value[int(key)] if isinstance(value, list) else value[key]
        except (KeyError, TypeError, IndexError, ValueError) as error:
            raise ValueError(f"{command.json} leads nowhere: there is no {key!r}") from error
    if isinstance(value, dict | list) or value is None:
        raise ValueError(f"{command.json} leads to no single value")
    return str(value).lower() if isinstance(value, bool) else str(value)


def _filled(argv: tuple[str, ...], placeholder: str, word: str) -> tuple[str, ...]:
    return tuple(part.replace(placeholder, word) for part in argv)


def _command(knob: Knob) -> CommandLines:
    """The programs of the knob, which every row of this kind has."""
    assert knob.command is not None
    return knob.command


knob_kinds.register(KIND, ByCommandKind())
