"""The lines of a text as the tool printed them: without colours, marks of quotation and the mark of the byte order."""

import re

_COLOUR = re.compile(r"\x1b\[[0-9;:?]*[ -/]*[@-~]")
_END = 16384
_QUOTED = re.compile(r"(?:> ?)+")


def plain_lines(text: str) -> list[str]:
    """Numbered as `splitlines` does. Marks of quotation are taken off where most lines have one."""
    text = text.removeprefix("\ufeff")
    lines = [line.rstrip(" \t") for line in (_COLOUR.sub("", text) if "\x1b" in text else text).splitlines()]
    said = [line for line in lines if line.strip()]
    if sum(line.startswith(">") for line in said) > len(said) / 2:
        return [_QUOTED.sub("", line, count=1) for line in lines]
    return lines


def unended(text: str, lines: list[str]) -> int:
    """The number of the line that may be cut off, 0 where the text ends with the end of a line."""
    end = _COLOUR.sub("", text[-_END:])
    return len(lines) if end and not end.endswith(("\n", "\r")) else 0


def ends_of(text: str) -> str:
    """The first and last kilobytes, plain: what tells of a format."""
    ends = text if len(text) < 2 * _END else f"{text[:_END]}\n{text[-_END:]}"
    return "\n".join(plain_lines(ends))
