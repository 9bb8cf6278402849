"""Where in a plan's text a key stands, so that a problem can be found."""

import re
import tomllib
from collections.abc import Mapping

from paribus.errors import Problem

Place = tuple[str | int, ...]

_HEADER = re.compile(r"^\s*(\[\[?)\s*(.+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""^\s*((?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+))*)\s*=""")


def _parts(dotted: str) -> tuple[str, ...]:
    """The keys of a dotted key, unquoted."""
    try:
        table = tomllib.loads(f"{dotted} = 0")
    except tomllib.TOMLDecodeError:
        return (dotted,)
    parts = []
    while isinstance(table, dict):
        key, table = next(iter(table.items()))
        parts.append(key)
    return tuple(parts)


def lines_of(text: str) -> dict[Place, int]:
    """The line (from 1) of every table header and key; an array's tables are counted from 0."""
    found: dict[Place, int] = {}
    table: Place = ()
    counts: dict[Place, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            *above, last = _parts(header[2])
            table = ()
            for part in above:
                table = (*table, part)
                if table in counts:
                    table = (*table, counts[table])  # in the latest of these
            table = (*table, last)
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            found.setdefault(table, number)
        elif key := _KEY.match(line):
            found.setdefault((*table, *_parts(key[1])), number)
    return found


def problem(lines: Mapping[Place, int], place: Place, wrong: str, right: str = "") -> Problem:
    """A problem at a place, shown as `line 12, workload[0].threads`: the nearest key above that has a line."""
    text = ""
    for part in place:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            word = part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else f'"{part}"'
            text += f".{word}" if text else word
    for end in range(len(place), 0, -1):
        if line := lines.get(place[:end]):
            return Problem(f"line {line}, {text}", wrong, right, line)
    return Problem(text or "the plan", wrong, right)
