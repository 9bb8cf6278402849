"""Paths of keys in a plan, and problems that name the line of a key."""

import re
from collections.abc import Mapping

from paribus.errors import Problem

KeyPath = tuple[str | int, ...]
"""Keys from the top of the document to a value; a number is the index of an array element, from 0."""

Places = Mapping[KeyPath, int | str]
"""Lines of keys, from 1; where a command line gave a key, its argument or option."""


def problem(places: Places, key_path: KeyPath, message: str, hint: str = "") -> Problem:
    """A problem at a key, shown as `line 12, workload[0].threads`, or as `--threads` where that gave the key.

    The line is that of the key, or of the nearest table above it that has one.
    """
    text = ""
    for part in key_path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            name = part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else f'"{part}"'
            text += f".{name}" if text else name
    for end in range(len(key_path), 0, -1):
        match places.get(key_path[:end]):
            case int(line):
                return Problem(f"line {line}, {text}", message, hint, line)
            case str(argument):
                return Problem(argument, message, hint)
    return Problem(text or "the plan", message, hint)
