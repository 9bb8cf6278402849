"""The lines of a text as the tool printed them: without colours, marks of quotation and the mark of the byte order."""

import re

_COLOUR = re.compile(r"\x1b\[[0-9;:?]*[ -/]*[@-~]")
_END = 16384
_QUOTED = re.compile(r"(?:> ?)+")
# What `ts`, a journal, `docker compose` or `pdsh` puts before each line, the last with the name of a machine.
_MARKS = tuple(
    re.compile(f"(?P<mark>{mark})(?:[ \\t]|$)", re.ASCII)
    for mark in (
        r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?",
        r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?: [\w.-]{1,64} [\w./-]{1,64}(?:\[\d{1,9}\])?:)?",
        r"(?:stdout|stderr) [FP]",
        r"\[pod/[\w./-]{1,200}\]",
        r"[A-Za-z][\w.-]{0,60} +\|",
        r"[A-Za-z][\w.-]{0,40}[\d.-][\w.-]{0,20}:",  # no word of a tool's, such as progress: and FATAL:, has a digit
    )
)
_MOST = 0.9


def plain_lines(text: str) -> list[str]:
    """Numbered as `splitlines` does. Marks of quotation are taken off where most lines have one."""
    text = text.removeprefix("\ufeff")
    lines = [line.rstrip(" \t") for line in (_COLOUR.sub("", text) if "\x1b" in text else text).splitlines()]
    said = [line for line in lines if line.strip()]
    if sum(line.startswith(">") for line in said) > len(said) / 2:
        return [_QUOTED.sub("", line, count=1) for line in lines]
    return lines


def tool_lines(text: str) -> list[str]:
    """Plain lines without the time, the one name or the blanks that stand before each of them."""
    lines = plain_lines(text)
    for _ in _MARKS:
        lines = _dedented(lines)
        said = [line for line in lines if line]
        marks = (mark for mark in _MARKS if said and mark.match(said[len(said) // 2]) and _marked(mark, said))
        mark = next(marks, None)
        if mark is None:
            break
        lines = [mark.sub("", line, count=1) if mark.match(line) else line for line in lines]
    return lines


def unnamed(lines: list[str]) -> list[str]:
    """The lines without the one name of a machine that stands before each of them."""
    said = [line for line in lines if line.strip()]
    named = bool(said) and bool(_MARKS[-1].match(said[len(said) // 2])) and _marked(_MARKS[-1], said)
    return [_MARKS[-1].sub("", line, count=1) for line in lines] if named else lines


def _dedented(lines: list[str]) -> list[str]:
    blanks = min((len(line) - len(line.lstrip()) for line in lines if line), default=0)
    return [line[blanks:] for line in lines] if blanks else lines


def _marked(mark: re.Pattern[str], said: list[str]) -> bool:
    """Whether most lines have it; the names of several machines say that their lines are mixed."""
    found = [one["mark"] for line in said if (one := mark.match(line))]
    named = mark is _MARKS[-1]
    return len(found) >= _MOST * len(said) and not (named and (len(said) < 2 or len(set(found)) > 1))


def unended(text: str, lines: list[str]) -> int:
    """The number of the line that may be cut off, 0 where the text ends with the end of a line."""
    end = _COLOUR.sub("", text[-_END:])
    return len(lines) if end and not end.endswith(("\n", "\r")) else 0


def ends_of(text: str) -> str:
    """The first and last kilobytes as a tool printed them: what tells of a format."""
    ends = text if len(text) < 2 * _END else f"{text[:_END]}\n{text[-_END:]}"
    return "\n".join(tool_lines(ends))
