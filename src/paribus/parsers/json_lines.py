"""JSON documents among other lines, each value with its line; one that breaks off gives what it has up to there."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_TOKEN = re.compile(
    r'[ \t\f\v\r]*(?:(?P<text>"(?:[^"\\]|\\.)*")|(?P<mark>[{}\[\],:])'
    r"|(?P<word>-?[0-9][0-9.eE+-]*|true|false|null|-?nan|NaN|-?inf(?:inity)?|-?Infinity)(?=[\s,}\]]|$))"
)
_BEGINS = re.compile(r'\s*(?:[{}\[\]",0-9-]|(?:true|false|null)\s*[,}\]]?\s*$)')
_DEEPEST = 60


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value that is neither an object nor a list, as it is written: `word` without the quotes of a text."""

    word: str
    line: int


class Members(dict[str, Any]):
    """An object; `whole` where its end was read."""

    line: int = 0
    whole: bool = False


class Items(list[Any]):
    """A list; `whole` where its end was read."""

    line: int = 0
    whole: bool = False


@dataclass(slots=True, kw_only=True)
class JsonDocument:
    """An outermost object, from its first to its last line."""

    top: Members
    first: int
    last: int


@dataclass(slots=True)
class _Reader:
    """One document after the other, a line at a time."""

    open: list[Members | Items] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    pending: Leaf | Members | Items | None = None
    expects: str = "value"  # or key, colon, more

    def begin(self, line: int) -> Members:
        top = Members()
        top.line = line
        self.open, self.keys, self.pending, self.expects = [top], [""], None, "key"
        return top

    def take(self, token: re.Match[str], line: int) -> bool:
        """Whether the token fits what came before."""
        mark, text, word = token["mark"], token["text"], token["word"]
        if mark in ("}", "]"):
            return self._close(mark)
        if mark == ",":
            if self.expects != "more":
                return False
            self._keep()
            self.expects = "key" if isinstance(self.open[-1], Members) else "value"
            return True
        if self.expects == "key":
            self.keys[-1] = text[1:-1] if text else ""
            self.expects = "colon"
            return bool(text)
        if self.expects == "colon":
            self.expects = "value"
            return mark == ":"
        if self.expects == "more":
            return False
        self.expects = "more"
        if text is not None or word is not None:
            self.pending = Leaf(text[1:-1] if text is not None else word, line)
            return True
        if mark == ":" or len(self.open) == _DEEPEST:
            return False
        inner: Members | Items = Members() if mark == "{" else Items()
        inner.line = line
        self.pending = inner
        self._keep()  # so that it is there if its end is missing
        self.open.append(inner)
        self.keys.append("")
        self.expects = "key" if mark == "{" else "value"
        return True

    def _close(self, mark: str) -> bool:
        last = self.open[-1]
        empty = not last and self.pending is None and self.expects in ("key", "value")
        if isinstance(last, Members) != (mark == "}") or not (self.expects == "more" or empty):
            return False
        self._keep()
        last.whole = True
        self.open.pop()
        self.keys.pop()
        self.expects = "more"
        return True

    def _keep(self) -> None:
        """What was read becomes part of what it is in: a scalar only when what follows it has come, so it is whole."""
        if self.pending is None:
            return
        last = self.open[-1]
        if isinstance(last, Members):
            last[self.keys[-1]] = self.pending
        else:
            last.append(self.pending)
        self.pending = None


def documents(lines: list[str]) -> tuple[list[JsonDocument], list[tuple[int, str]]]:
    """The objects that a text holds, and the lines that belong to none: what a tool said besides."""
    found: list[JsonDocument] = []
    besides: list[tuple[int, str]] = []
    reader = _Reader()
    for number, line in enumerate(lines, 1):
        inside = bool(reader.open)
        if not line.strip():
            continue
        start = 0
        if not inside:
            start = line.find("{") if line.lstrip().startswith("{") else -1
            if start < 0:
                besides.append((number, line))
                continue
            found.append(JsonDocument(top=reader.begin(number), first=number, last=number))
            start += 1
        elif not _BEGINS.match(line):
            besides.append((number, line))
            continue
        if inside and line.startswith("{") and reader.expects != "value":  # a new one before the end of the last
            found.append(JsonDocument(top=reader.begin(number), first=number, last=number))
            start = 1
        rest = _line(reader, line, start, number)
        found[-1].last = number
        while rest is not None and not reader.open and line.startswith("{", rest):
            found.append(JsonDocument(top=reader.begin(number), first=number, last=number))
            rest = _line(reader, line, rest + 1, number)
        if rest is not None and line[rest:].strip():
            besides.append((number, line))
            reader.open = []  # what follows could be put in the wrong place
    return found, besides


def _line(reader: _Reader, line: str, start: int, number: int) -> int | None:
    """Where a line stops being JSON; None where it is all of it, and more may follow."""
    at = start
    while reader.open:
        token = _TOKEN.match(line, at)
        if token is None:
            return at if line[at:].strip() else None
        if not reader.take(token, number):
            return at
        at = token.end()
    while at < len(line) and line[at] in " \t,":
        at += 1
    return at


def text_of(value: object) -> str:
    """What is written, with its escapes read; empty where it is no scalar."""
    if not isinstance(value, Leaf):
        return ""
    if "\\" not in value.word:
        return value.word
    try:
        return str(json.loads(f'"{value.word}"'))
    except ValueError:
        return value.word


def objects(value: object) -> Iterator[Members]:
    """The objects of a list."""
    return (one for one in value if isinstance(one, Members)) if isinstance(value, Items) else iter(())
