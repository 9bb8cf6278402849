"""Lines of a text as the tool printed them, without colours, quotation marks and the byte order mark."""

import re

_COLOUR = re.compile(r"\x1b\[[0-9;:?]*[ -/]*[@-~]")
_END = 16384
_QUOTED = re.compile(r"(?:> ?)+")
# Prefixes added by `ts`, journald, `docker compose` or `pdsh`; the last one is a machine name.
_MARKS = tuple(
    re.compile(f"(?P<mark>{mark})(?:[ \\t]|$)", re.ASCII)
    for mark in (
        r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?",
        r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?: [\w.-]{1,64} [\w./-]{1,64}(?:\[\d{1,9}\])?:)?",
        r"(?:stdout|stderr) [FP]",
        r"\[pod/[\w./-]{1,200}\]",
        r"[A-Za-z][\w.-]{0,60} +\|",
        r"[A-Za-z][\w.-]{0,40}[\d.-][\w.-]{0,20}:",  # words of tools, such as progress: and FATAL:, have no digit
    )
)
_MARKED_SHARE = 0.9


def plain_lines(text: str) -> list[str]:
    """Split as `splitlines` does; quotation marks are removed if most lines have one, and `#` if all have it."""
    text = text.removeprefix("\ufeff")
    lines = [line.rstrip(" \t") for line in (_COLOUR.sub("", text) if "\x1b" in text else text).splitlines()]
    nonblank = [line for line in lines if line.strip()]
    if sum(line.startswith(">") for line in nonblank) > len(nonblank) / 2:
        return [_QUOTED.sub("", line, count=1) for line in lines]
    if len(nonblank) > 1 and all(line.startswith("#") for line in nonblank):  # a commented report
        return [line.removeprefix("#").removeprefix(" ") for line in lines]
    return lines


def tool_lines(text: str) -> list[str]:
    """Return plain lines without the timestamp, the single name or the indentation common to all."""
    lines = plain_lines(text)
    for _ in _MARKS:
        lines = _dedented(lines)
        nonblank = [line for line in lines if line]
        marks = (
            mark for mark in _MARKS if nonblank and mark.match(nonblank[len(nonblank) // 2]) and _marked(mark, nonblank)
        )
        mark = next(marks, None)
        if mark is None:
            break
        lines = [mark.sub("", line, count=1) if mark.match(line) else line for line in lines]
    return lines


def unnamed(lines: list[str]) -> list[str]:
    """Return the lines without the machine name, if all lines carry the same one."""
    nonblank = [line for line in lines if line.strip()]
    named = bool(nonblank) and bool(_MARKS[-1].match(nonblank[len(nonblank) // 2])) and _marked(_MARKS[-1], nonblank)
    return [_MARKS[-1].sub("", line, count=1) for line in lines] if named else lines


def _dedented(lines: list[str]) -> list[str]:
    blanks = min((len(line) - len(line.lstrip()) for line in lines if line), default=0)
    return [line[blanks:] for line in lines] if blanks else lines


def _marked(mark: re.Pattern[str], lines: list[str]) -> bool:
    """Return whether most lines carry the mark; several machine names mean interleaved lines."""
    marks = [match["mark"] for line in lines if (match := mark.match(line))]
    named = mark is _MARKS[-1]
    return len(marks) >= _MARKED_SHARE * len(lines) and not (named and (len(lines) < 2 or len(set(marks)) > 1))


def unterminated_line(text: str, lines: list[str]) -> int:
    """Return the number of the last line if it lacks a line end, else 0."""
    end = _COLOUR.sub("", text[-_END:])
    return len(lines) if end and not end.endswith(("\n", "\r")) else 0


def ends_of(text: str) -> str:
    """Return the first and last kilobytes as the tool printed them, for format recognition."""
    ends = text if len(text) < 2 * _END else f"{text[:_END]}\n{text[-_END:]}"
    return "\n".join(tool_lines(ends))
