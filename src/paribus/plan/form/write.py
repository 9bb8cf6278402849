"""Writer of plans: tables and values as TOML, with comments."""

from collections.abc import Mapping
from typing import Any

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_COMMENT_GAP = "  "
_LONGEST_LIST = 200  # characters on a line


def toml_text(document: Mapping[str, Any], comments: Mapping[str, str]) -> str:
    """Returns a document as TOML. Raises ValueError for text that is not UTF-8.

    Args:
        document: Keys with values as tomllib reads them. Tables below the second level become inline tables.
        comments: Comments by key: `""` for the whole, `factors` for a table, `workload.kind` for a key in tables.

    Example:
        `toml_text({"factors": {"vm.swappiness": [10, 60]}}, {"factors": "the first level is the baseline"})`
    """
    values = {key: value for key, value in document.items() if not isinstance(value, dict) and not _is_array(value)}
    parts = [_lines(values, "", comments)]
    for key, value in document.items():
        if isinstance(value, dict):
            parts.append([_commented(f"[{_key(key)}]", comments.get(key)), *_lines(value, f"{key}.", comments)])
        elif _is_array(value):
            header = _commented(f"[[{_key(key)}]]", comments.get(key))
            parts += [[header, *_lines(table, f"{key}.", comments)] for table in value]
    if "" in comments:
        parts[0] = [*(_commented("", line) for line in comments[""].splitlines()), *parts[0]]
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def _is_array(value: Any) -> bool:
    """Returns whether the value is an array of tables."""
    return isinstance(value, list) and bool(value) and all(isinstance(element, dict) for element in value)


def _lines(table: Mapping[str, Any], prefix: str, comments: Mapping[str, str]) -> list[str]:
    """Returns a line for each key of a table, with equals signs and comments in columns."""
    width = max((len(_key(key)) for key in table), default=0)
    lines = {f"{prefix}{key}": f"{_key(key):<{width}} = {_lined(value)}" for key, value in table.items()}
    width = max((len(line) for key, line in lines.items() if key in comments), default=0)
    return [_commented(f"{line:<{width}}", comments[key]) if key in comments else line for key, line in lines.items()]


def _commented(line: str, comment: str | None) -> str:
    return f"{line}{_COMMENT_GAP if line else ''}# {comment}" if comment else line


def _key(key: str) -> str:
    return key if key and _BARE.issuperset(key) else _string(key)


def _lined(value: Any) -> str:
    """Returns a value; a long list has each element on a line."""
    text = _value(value)
    if isinstance(value, list) and len(text) > _LONGEST_LIST:
        return "\n".join(["[", *(f"  {_value(element)}," for element in value), "]"])
    return text


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return _string(value)
        case list():
            return f"[{', '.join(map(_value, value))}]"
        case dict():
            pairs = [f"{_key(key)} = {_value(element)}" for key, element in value.items()]
            return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
        case _:  # a date or a time
            return str(value.isoformat())


def _string(text: str) -> str:
    """Returns a basic string, in which every character that cannot be printed is escaped."""
    if any("\ud800" <= character <= "\udfff" for character in text):  # bytes of the command line, for one
        raise ValueError(f"{text!r} is not UTF-8 text")
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    if character in _ESCAPES or character.isprintable():
        return _ESCAPES.get(character, character)
    number = ord(character)
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"
