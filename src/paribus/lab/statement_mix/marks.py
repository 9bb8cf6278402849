"""Marks in place of the literals of a statement, and the text with arguments that replaces them."""

import re
from dataclasses import dataclass
from typing import Any

_QUOTED_OR_PLACEHOLDER = re.compile(r"`[^`]*`|\"[^\"]*\"|\?|\$(?P<number>\d+)")
_MARK = re.compile(r"paribus_argument_(\d+)_")


class NotExpressible(Exception):
    """A statement that a `sqlmix` cannot carry out; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Substitute:
    """Text in place of a literal, with `?` for an argument: a draw, or the value of the literal `same`."""

    text: str
    draw: dict[str, Any] | None = None
    same: int | None = None


def mark(position: int) -> str:
    """Return the word that stands for the literal at a position, counted from 0."""
    return f"paribus_argument_{position}_"


def marked_position(name: str) -> int | None:
    """Return the position for which a word stands; None where it is no mark."""
    match = _MARK.fullmatch(name)
    return int(match[1]) if match else None


def written(sql: str, substitutes: dict[int, Substitute]) -> tuple[str, list[dict[str, Any]]]:
    """Return the text with the substitutes, and the arguments in its order. Raises NotExpressible."""
    arguments: list[dict[str, Any]] = []
    numbers: dict[int, int] = {}

    def text(match: re.Match[str]) -> str:
        position = int(match[1])
        substitute = substitutes[position]
        if substitute.same is not None:
            if substitute.same not in numbers:
                raise NotExpressible("a range whose bounds are apart")
            arguments.append({"same": numbers[substitute.same]})
        elif substitute.draw is not None:
            arguments.append(substitute.draw)
            numbers[position] = len(arguments)
        return substitute.text

    text_with_arguments = _MARK.sub(text, sql)
    if text_with_arguments.count("?") != len(arguments):
        raise NotExpressible("an operator or a name with a question mark")
    return text_with_arguments, arguments


def as_insert(sql: str) -> tuple[str, bool]:
    """Return the statement with INSERT in place of REPLACE, and whether that was so."""
    replaced = re.sub(r"^\s*REPLACE\b(\s+INTO\b)?", "INSERT INTO", sql, count=1, flags=re.IGNORECASE)
    return replaced, replaced != sql


def with_marks(sql: str) -> tuple[str, int]:
    """Return the statement with a named placeholder for each literal, numbered from 0, and their count."""
    count = 0

    def text(match: re.Match[str]) -> str:
        nonlocal count
        if match[0][0] in '`"':
            return match[0]
        count += 1
        return f":p{count - 1}"

    return _QUOTED_OR_PLACEHOLDER.sub(text, sql), count
