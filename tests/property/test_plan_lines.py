"""Lines of keys in documents made at random, against the text and what tomllib reads of it."""

import itertools
import re
import tomllib
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from paribus.plan.form.key_lines import lines_of

DECOYS = ("x", " = 1", "\n", "\n[x]\n", "\n[[x]]\nx = 1\n", "#", ",", "]", "}", "{", "'", '\\"', "\\\\", '"x', "\u2028")
Draw = Callable[[st.SearchStrategy[Any]], Any]


class _Writer:
    """Writes a TOML document of random form; every key and number is there once, and no string holds one."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._names = itertools.count()
        self._arrays: list[str] = []

    def document(self) -> str:
        return self._pairs() + "".join(self._table() for _ in range(self._draw(st.integers(0, 4))))

    def _table(self) -> str:
        if self._draw(st.booleans()):
            return f"{self._space()}[{self._key()}] {self._comment()}\n{self._pairs()}"
        if not self._arrays or self._draw(st.booleans()):
            self._arrays.append(self._name())
        array = self._draw(st.sampled_from(self._arrays))
        below = f"[{array}.{self._key()}]\n{self._pairs()}" if self._draw(st.booleans()) else ""
        return f"[[{array}]]{self._comment()}\n{self._pairs()}{below}"

    def _pairs(self) -> str:
        lines = [f"{self._space()}{self._pair(2)} {self._comment()}" for _ in range(self._draw(st.integers(0, 3)))]
        return "".join(f"{line}\n" for line in lines)

    def _pair(self, depth: int) -> str:
        return f"{self._key()}{self._space()}={self._space()}{self._value(depth)}"

    def _value(self, depth: int) -> str:
        kinds = ("number", "string", "date", "array", "table") if depth else ("number", "string", "date")
        kind = self._draw(st.sampled_from(kinds))
        if kind == "number":
            return str(9000 + next(self._names))
        if kind == "date":
            return "1979-05-27 07:32:00.5"
        if kind == "string":
            return self._string()
        parts = [
            self._value(depth - 1) if kind == "array" else self._pair(0) for _ in range(self._draw(st.integers(0, 3)))
        ]
        if kind == "table":
            return "{" + ", ".join(parts) + "}"
        gaps = [self._draw(st.sampled_from(("", "\n", " # x = [\n"))) for _ in parts]
        return "[" + "".join(f"{gap}{part}," for gap, part in zip(gaps, parts, strict=True)) + "]"

    def _string(self) -> str:
        quote = self._draw(st.sampled_from(('"', "'", '"""', "'''")))
        allowed = [decoy for decoy in DECOYS if len(quote) == 3 or not {"\n", quote} & {*decoy.replace('\\"', "")}]
        text = "".join(self._draw(st.lists(st.sampled_from(allowed), max_size=5)))
        return f"{quote}{text.replace(quote, '') if len(quote) == 3 else text}{quote}"

    def _key(self) -> str:
        return self._draw(st.sampled_from((".", " . "))).join(
            self._quoted() for _ in range(self._draw(st.integers(1, 3)))
        )

    def _quoted(self) -> str:
        name = self._name()
        return self._draw(st.sampled_from((name, f'"{name}.="', f"'{name} #['", f'"{name}\\u005b"')))

    def _name(self) -> str:
        return f"k{1000 + next(self._names)}"

    def _space(self) -> str:
        return self._draw(st.sampled_from(("", " ", "\t ")))

    def _comment(self) -> str:
        return self._draw(st.sampled_from(("", "# x = 1", "#[x]", '# """')))


@st.composite
def documents(draw: Draw) -> str:
    text = _Writer(draw).document()
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


def _paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every path in what tomllib read, with the value there."""
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in items:
        yield (*path, key), below
        yield from _paths(below, (*path, key))


def _line_of(text: str, path: tuple[str | int, ...], value: Any) -> int | None:
    """The line by searching the text: of a name, of a number, of the header of an array's table; None: of another."""
    last = path[-1]
    if isinstance(last, str):
        start = text.index(last[:5])
    elif isinstance(value, int):
        start = text.index(str(value))
    elif len(path) == 2 and isinstance(value, dict) and (headers := _headers(text, str(path[0]))):
        start = headers[last]
    else:
        return None
    return 1 + text.count("\n", 0, start)


def _headers(text: str, array: str) -> list[int]:
    return [match.start() for match in re.finditer(rf"\[\[{re.escape(array)}\]\]", text)]


@settings(deadline=None)
@given(documents())
def test_every_key_has_the_line_where_it_stands(text: str) -> None:
    paths = dict(_paths(tomllib.loads(text)))
    lines = lines_of(text)
    assert lines.keys() == paths.keys()
    for path, value in paths.items():
        assert _line_of(text, path, value) in (lines[path], None), path
