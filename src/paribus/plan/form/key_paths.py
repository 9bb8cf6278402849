"""Paths of keys in a plan, and problems that name the line of a key."""

import re
from collections.abc import Mapping

from paribus.errors import Problem

KeyPath = tuple[str | int, ...]
"""Keys from the top of the document to a value; a number is the index of an array element, from 0."""


def problem(lines: Mapping[KeyPath, int], key_path: KeyPath, message: str, hint: str = "") -> Problem:
    """A problem at a key, shown as `line 12, workload[0].threads`.

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
        if line := lines.get(key_path[:end]):
            return Problem(f"line {line}, {text}", message, hint, line)
    return Problem(text or "the plan", message, hint)
