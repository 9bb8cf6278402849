"""Lines of keys, tables and array elements in a TOML document.

tomllib, which reads the values, does not report positions.
"""

import bisect
import re
import tomllib

from paribus.plan.form.key_paths import KeyPath

_SPACE = re.compile(r"[ \t]*")
_BETWEEN = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")  # space, line ends and comments
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?""""{0,2}'  # one or two quotes before the closing three belong to the text
    r"|'''.*?''''{0,2}"
    r'|"(?:\\.|[^"\\])*"'
    r"|'[^']*'",
    re.DOTALL,
)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BARE_VALUE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:.+Z-]+|[^ \t\r\n,\]}#]+")


def lines_of(text: str) -> dict[KeyPath, int]:
    """The line (from 1) of every table, key and array element of a TOML document, which must be valid.

    A table without a header has the line that names it first.
    """
    scanner = _Scanner(text)
    scanner.document()
    return scanner.named | scanner.lines


class _Scanner:
    """One pass over a valid TOML document.

    `lines` are those of headers, keys and elements, `named` those where a header or a dotted key names a table above.
    """

    def __init__(self, text: str) -> None:
        self.lines: dict[KeyPath, int] = {}
        self.named: dict[KeyPath, int] = {}
        self._text = text
        self._position = 0
        self._line_ends = [match.start() for match in re.finditer("\n", text)]
        self._array_tables: dict[KeyPath, int] = {}  # by array, the number of its latest table

    def document(self) -> None:
        """Scan the document from its start to its end."""
        table: KeyPath = ()
        self._skip(_BETWEEN)
        while self._position < len(self._text):
            if self._next_is("["):
                table = self._header()
            else:
                self._key_and_value(table)
            self._skip(_BETWEEN)

    def _header(self) -> KeyPath:
        """The path of the table that a header opens."""
        line = self._line()
        brackets = 2 if self._text.startswith("[[", self._position) else 1
        self._position += brackets
        *above, last = self._dotted_key()
        self._position += brackets
        path: KeyPath = ()
        for part in above:
            path = (*path, part)
            self.named.setdefault(path, line)
            if path in self._array_tables:
                path = (*path, self._array_tables[path])
        path = (*path, last)
        if brackets == 2:
            self.named.setdefault(path, line)
            self._array_tables[path] = self._array_tables.get(path, -1) + 1
            path = (*path, self._array_tables[path])
        self.lines[path] = line
        return path

    def _key_and_value(self, table: KeyPath) -> None:
        """Scan `key = value` of a table or an inline table."""
        line = self._line()
        *above, last = self._dotted_key()
        for part in above:
            table = (*table, part)
            self.named.setdefault(table, line)
        path = (*table, last)
        self.lines[path] = line
        self._position += len("=")
        self._skip(_SPACE)
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        if self._next_is("["):
            self._array(path)
        elif self._next_is("{"):
            self._inline_table(path)
        elif self._next_is('"') or self._next_is("'"):
            self._take(_STRING)
        else:
            self._take(_BARE_VALUE)

    def _array(self, path: KeyPath) -> None:
        number = 0
        self._position += len("[")
        self._skip(_BETWEEN)
        while not self._next_is("]"):
            element = (*path, number)
            self.lines[element] = self._line()
            self._value(element)
            self._skip_comma()
            number += 1
        self._position += len("]")

    def _inline_table(self, path: KeyPath) -> None:
        self._position += len("{")
        self._skip(_BETWEEN)
        while not self._next_is("}"):
            self._key_and_value(path)
            self._skip_comma()
        self._position += len("}")

    def _skip_comma(self) -> None:
        self._skip(_BETWEEN)
        if self._next_is(","):
            self._position += len(",")
            self._skip(_BETWEEN)

    def _dotted_key(self) -> list[str]:
        """The parts of a dotted key, unquoted, and the space around them."""
        parts = []
        while True:
            self._skip(_SPACE)
            parts.append(self._simple_key())
            self._skip(_SPACE)
            if not self._next_is("."):
                return parts
            self._position += len(".")

    def _simple_key(self) -> str:
        if self._next_is("'"):
            return self._take(_STRING)[1:-1]
        if self._next_is('"'):
            return str(tomllib.loads(f"key = {self._take(_STRING)}")["key"])
        return self._take(_BARE_KEY)

    def _next_is(self, sign: str) -> bool:
        return self._text.startswith(sign, self._position)

    def _skip(self, pattern: re.Pattern[str]) -> None:
        self._take(pattern)

    def _take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._position)
        assert match is not None, f"line {self._line()} is no TOML"
        self._position = match.end()
        return match[0]

    def _line(self) -> int:
        return 1 + bisect.bisect_left(self._line_ends, self._position)
