"""JSON documents among other lines, each value with its line number; a truncated document keeps what was read."""

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
    """A scalar as written, with its line; `word` is without quotes."""

    word: str
    line: int


class Members(dict[str, Any]):
    """An object; `whole` if its closing brace was read."""

    line: int = 0
    whole: bool = False


class Items(list[Any]):
    """A list; `whole` if its closing bracket was read."""

    line: int = 0
    whole: bool = False


@dataclass(slots=True, kw_only=True)
class JsonDocument:
    """A top-level object with its first and last line."""

    top: Members
    first: int
    last: int


@dataclass(slots=True)
class _Reader:
    """Incremental parser of consecutive documents, one line at a time."""

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
        """Consume a token; False if the token is invalid at this point."""
        mark, text, word = token["mark"], token["text"], token["word"]
        if mark in ("}", "]"):
            return self._close(mark)
        if mark == ",":
            if self.expects != "more":
                return False
            self._store()
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
        self._store()  # so that a truncated container is kept
        self.open.append(inner)
        self.keys.append("")
        self.expects = "key" if mark == "{" else "value"
        return True

    def _close(self, mark: str) -> bool:
        last = self.open[-1]
        empty = not last and self.pending is None and self.expects in ("key", "value")
        if isinstance(last, Members) != (mark == "}") or not (self.expects == "more" or empty):
            return False
        self._store()
        last.whole = True
        self.open.pop()
        self.keys.pop()
        self.expects = "more"
        return True

    def _store(self) -> None:
        """Add the pending value to its container; a scalar is added only after the next token proves it complete."""
        if self.pending is None:
            return
        last = self.open[-1]
        if isinstance(last, Members):
            last[self.keys[-1]] = self.pending
        else:
            last.append(self.pending)
        self.pending = None


def documents(lines: list[str]) -> tuple[list[JsonDocument], list[tuple[int, str]]]:
    """Return the top-level objects of a text, and the numbered lines outside them."""
    parsed: list[JsonDocument] = []
    other_lines: list[tuple[int, str]] = []
    reader = _Reader()
    for number, line in enumerate(lines, 1):
        inside = bool(reader.open)
        if not line.strip():
            continue
        start = 0
        if not inside:
            start = line.find("{") if line.lstrip().startswith("{") else -1
            if start < 0:
                other_lines.append((number, line))
                continue
            parsed.append(JsonDocument(top=reader.begin(number), first=number, last=number))
            start += 1
        elif not _BEGINS.match(line):
            other_lines.append((number, line))
            continue
        if (
            inside and line.startswith("{") and reader.expects != "value"
        ):  # a new document starts before the last one ended
            parsed.append(JsonDocument(top=reader.begin(number), first=number, last=number))
            start = 1
        stop = _line(reader, line, start, number)
        parsed[-1].last = number
        while stop is not None and not reader.open and line.startswith("{", stop):
            parsed.append(JsonDocument(top=reader.begin(number), first=number, last=number))
            stop = _line(reader, line, stop + 1, number)
        if stop is not None and line[stop:].strip():
            other_lines.append((number, line))
            reader.open = []  # the nesting of what follows is unknown
    return parsed, other_lines


def _line(reader: _Reader, line: str, start: int, number: int) -> int | None:
    """Parse one line; return the column where JSON ends, or None if the document may continue."""
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
    """Return a scalar as text with its escapes decoded; empty for any other value."""
    if not isinstance(value, Leaf):
        return ""
    if "\\" not in value.word:
        return value.word
    try:
        return str(json.loads(f'"{value.word}"'))
    except ValueError:
        return value.word


def objects(value: object) -> Iterator[Members]:
    """Iterate over the objects in a list."""
    return (item for item in value if isinstance(item, Members)) if isinstance(value, Items) else iter(())
