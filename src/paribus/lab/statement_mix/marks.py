"""Marks in place of the literals of a statement, and the text with arguments that replaces them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from paribus.workloads.sqlmix import parameter_count

_QUOTED = r"`[^`]*`|\"[^\"]*\""
_IDENTIFIER = re.compile(_QUOTED)
_TEXT = re.compile(r"'|\$\w*\$")
_PLACEHOLDER = re.compile(rf"{_QUOTED}|\?|\$\d+")
_MARK = re.compile(rf"{_QUOTED}|(?P<sign>-\s*)?(?<!:):p(?P<position>\d+)\b")


class NotExpressible(Exception):
    """A statement that a `sqlmix` cannot carry out; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Substitute:
    """Text in place of a literal, with `?` for an argument: a draw, or the value of the literal `same`.

    `signed`: the minus sign before the literal is part of it.
    """

    text: str
    draw: dict[str, Any] | None = None
    same: int | None = None
    signed: bool = False


def with_marks(sql: str) -> tuple[str, int]:
    """Return the statement with a named placeholder for each literal, numbered from 0, and their count."""
    count = 0

    def text(match: re.Match[str]) -> str:
        nonlocal count
        if match[0][0] in '`"':
            return match[0]
        count += 1
        following = sql[match.end() : match.end() + 1]  # `'x'alias` is a literal and a name
        return f":p{count - 1}{' ' if following.isalnum() or following == '_' else ''}"

    return _PLACEHOLDER.sub(text, sql), count


def has_text(sql: str) -> bool:
    """Whether a quoted text is in a statement with marks, which could be private."""
    return bool(_TEXT.search(_IDENTIFIER.sub("", sql)))


def without(sql: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return the text without these spans of characters."""
    for start, end in sorted(spans, reverse=True):
        sql = sql[:start] + sql[end:]
    return sql


def written(sql: str, substitutes: dict[int, Substitute]) -> tuple[str, list[dict[str, Any]]]:
    """Return a text with the substitutes in place of marks, and the arguments in its order. Raises NotExpressible."""
    arguments: list[dict[str, Any]] = []
    numbers: dict[int, int] = {}

    def text(match: re.Match[str]) -> str:
        if match["position"] is None:
            return match[0]
        position = int(match["position"])
        substitute = substitutes[position]
        if substitute.same is not None:
            if substitute.same not in numbers:
                raise NotExpressible("a range whose bounds are apart")
            arguments.append({"same": numbers[substitute.same]})
        elif substitute.draw is not None:
            arguments.append(substitute.draw)
            numbers[position] = len(arguments)
        return substitute.text if substitute.signed else (match["sign"] or "") + substitute.text

    text_with_arguments = _MARK.sub(text, sql)
    if parameter_count(text_with_arguments) != len(arguments):
        raise NotExpressible("an operator with a question mark")
    return text_with_arguments, arguments


def as_insert(sql: str) -> tuple[str, bool]:
    """Return the statement with INSERT in place of REPLACE, and whether that was so."""
    replaced = re.sub(r"^\s*REPLACE\b(\s+INTO\b)?", "INSERT INTO", sql, count=1, flags=re.IGNORECASE)
    return replaced, replaced != sql
