"""Removal of literals and comments from statements in MySQL's syntax."""

import re
from typing import NamedTuple

_TOKEN = re.compile(
    r"""(?P<comment>/\*.*?(?:\*/|\Z)|--(?=\s|\Z)[^\n]*|\#[^\n]*)
    |(?P<text>(?:\b[xXbBnN]|\b_[a-zA-Z0-9]+\s*)?(?:'(?:[^'\\]++|\\.|'')*+'?+|"(?:[^"\\]++|\\.|"")*+"?+))
    |(?P<quoted>`[^`]*(?:`|\Z))
    |(?P<hexadecimal>\b0[xXbB][0-9a-fA-F]+\b)
    |(?P<number>(?<![\w$.])(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w$]))
    |(?P<word>[\w$@]+)
    |(?P<space>\s+)
    |(?P<other>.)""",
    re.DOTALL | re.VERBOSE,
)
_COMMENT = re.compile(r"(?P<quoted>'[^']*'|\"[^\"]*\"|`[^`]*`)|--[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_LIST = re.compile(r"\?(?:\s*,\s*\?)+")
_ROWS = re.compile(r"\(\s*\?\+?\s*\)(?:\s*,\s*\(\s*\?\+?\s*\))+")


class Statement(NamedTuple):
    """A statement with `?` for each literal; `numbers` has None for a literal that is no number."""

    sql: str
    numbers: tuple[float | None, ...]


def without_literals(sql: str) -> Statement:
    """Return the statement with `?` for each literal, without comments, with single spaces."""
    pieces: list[str] = []
    numbers: list[float | None] = []
    for match in _TOKEN.finditer(sql):
        match match.lastgroup:
            case "comment" | "space":
                if pieces and pieces[-1] != " ":
                    pieces.append(" ")
            case "text" | "hexadecimal":
                numbers.append(None)
                pieces.append("?")
            case "number":
                numbers.append(float(match[0]))
                pieces.append("?")
            case _:
                pieces.append(match[0])
    return Statement("".join(pieces).strip().rstrip(";").rstrip(), tuple(numbers))


def without_comments(sql: str) -> str:
    """Return a statement of PostgreSQL, or a digest, without comments and with single spaces."""
    text = _COMMENT.sub(lambda match: match[0] if match["quoted"] else " ", sql)
    return " ".join(text.split())


def digest_key(sql: str) -> str:
    """Return the text that statements of a digest share: lists of any length are alike."""
    return _ROWS.sub("(?+)*", _LIST.sub("?+", sql)).casefold()
