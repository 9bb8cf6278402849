"""Marks of Markdown in texts around tables and in their cells: pictures, links and escapes."""

import re

_PICTURE = re.compile(r"!\[[^\]\n]{0,500}\]\([^)\n]{0,500}\)")
_LINK = re.compile(r"\[([^\]\n]{1,500})\]\([^)\n]{0,500}\)")
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+.!|<>~-])")
_PIPE = re.compile(r"(?<!\\)\|")


def without_links(line: str) -> str:
    """Return a line without pictures, and with the text of links instead of them."""
    return _LINK.sub(r"\1", _PICTURE.sub("", line)) if "](" in line else line


def unescaped(text: str) -> str:
    r"""Return a text without the backslashes before signs: `page_size` of `page\_size`."""
    return _ESCAPE.sub(r"\1", text) if "\\" in text else text


def cells_between_pipes(line: str) -> list[str]:
    """Return the cells of a line of a table."""
    return [unescaped(cell.strip()) for cell in _PIPE.split(line.strip().removeprefix("|").removesuffix("|"))]
