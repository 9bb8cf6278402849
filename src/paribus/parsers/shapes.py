"""Shapes of lines: a line with its numbers replaced (`total time: #s`), and the numbers.

A tool prints few shapes, so its format is a table from shapes to columns. A line that is damaged, truncated or
interleaved has no known shape, and none of its numbers is read.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from paribus.parsers.log import LogReading

# 16.5, 16,5 and 16.5G before b or B, as in 16.5Gb; signs, exponents and nan stay in the shape, where no table has them.
NUMBER = re.compile(r"([0-9]+(?:[.,][0-9]+)?(?:[KMGT]i?(?=[bB]))?)")
_PLAIN = re.compile(r"[0-9]+(?:[.,][0-9]+)?")
_COLOUR = re.compile(r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
# Quotation marks and timestamps before a line, removed only if the line is not understood with them.
_PREFIX = re.compile(
    r"(?:(?:>(?!>)|[|#*`\s])+"
    r"|\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?Z| ?[+-]\d\d:?\d\d| UTC)?\]?:?\s+"
    r"|\[?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]?:?\s+"
    r"|(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} [ \d]?\d \d\d:\d\d:\d\d(?: \d{4})?:?\s+"
    r"(?:[\w.-]{1,64} [\w./-]{1,64}\[\d{1,9}\]: )?"
    r"|\[pod/[\w./-]{1,200}\] "
    r"|(?:stdout|stderr) [FP] "
    r"|[A-Za-z][\w.-]{0,60} +\| )+",
    re.ASCII,
)
_COMMENT = re.compile(r"\S\s{2,}(#.*)")  # a user's comment at the end of a line
_UNIT = re.compile(r"(?:[A-Za-z%]+(?:/s(?:ec)?)?)?")
_LONG = 4096
_SIZES = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
MOST = 2.0**63  # upper limit of counters; larger values are negative differences
MOST_S = 1e9  # 30 years; old versions print 2^64 ns for no time


@dataclass(frozen=True, slots=True)
class Field:
    """Meaning of a number in a shape: it is divided by `per` to give the base unit and has `decimals` decimals.

    If `decimals` is None, it has five significant digits and a suffix K, M, G or T (powers of 1024).
    """

    metric: str
    unit: str
    decimals: int | None
    per: float = 1.0
    subject: str = ""


@dataclass(frozen=True, slots=True)
class EchoedOption:
    """A number that echoes the option of that name."""

    option: str


@dataclass(frozen=True, slots=True)
class Unproven:
    """A number of unknown unit, with at least this many decimals."""

    decimals: int


class Percent:
    """A number that names the percentile of the shape's `response_p{}_s`."""


Part = Field | EchoedOption | Unproven | Percent | None
PERCENT = Percent()


def lines_of(text: str) -> list[str]:
    """Split into lines without colours, line ends and the byte order mark; numbered as in an editor."""
    if "\x1b" in text:
        text = _COLOUR.sub("", text)
    text = text.removeprefix("\ufeff")
    return text.split("\r" if "\n" not in text else "\n")


def is_cut(text: str) -> bool:
    """Return whether the last line may be incomplete."""
    return not text.endswith(("\n", "\r"))


_NO_NUMBER = "\N{MUSIC SHARP SIGN}"  # replaces `#` in a line, which stands for a number in a shape


def shape_of(line: str) -> tuple[str, list[str]]:
    """Return the shape and the parts of a line; the numbers are at odd indexes, the text between them at even ones."""
    parts = NUMBER.split(line.replace("#", _NO_NUMBER) if "#" in line else line)
    return " ".join("#".join(parts[::2]).split()), parts


def without_prefix(line: str) -> str:
    """Return the line without a leading quotation mark, timestamp or container name and a trailing comment."""
    if match := _COMMENT.search(line[:_LONG]):
        line = line[: match.start(1)].rstrip()
    match = _PREFIX.match(line[:_LONG])
    if not match or not match.end():
        return line
    signs = "".join(sign for sign in "*`" if sign in match[0])  # emphasis marks appear at both ends
    return line[match.end() :].rstrip(f"{signs} ")


def count(token: str) -> int | None:
    """Return a whole number of at most nine digits, else None."""
    return int(token) if token.isascii() and token.isdigit() and len(token) < 10 else None


def size(token: str) -> float | None:
    """Return the bytes of a token such as 16K, 16.5Gi or 512 (K is 1024); a comma is the decimal separator."""
    number = token.rstrip("iKMGT")
    amount = value(number.replace(",", "."), len(number))
    return None if amount is None else amount * _SIZES.get(token[len(number) :].rstrip("i"), 1)


def value(token: str, decimals: int) -> float | None:
    """Return the number; None if it is ambiguous or exceeds any counter.

    A comma is a decimal separator only if it precedes as many digits as the tool prints, so 1,234 is never read as
    1.234. A count (0 decimals) has neither comma nor point.
    """
    if not _PLAIN.fullmatch(token):
        return None
    if "," in token:
        if not decimals or len(token) - token.index(",") - 1 != decimals:
            return None
        token = token.replace(",", ".")
    elif decimals == 0 and "." in token:
        return None
    amount = float(token)
    return amount if amount < MOST else None


def last_number_is_whole(parts: Sequence[str], columns: Sequence[Part]) -> bool | None:
    """Return whether the last number of a line is complete; None if the line alone does not show it."""
    if parts[-1].strip() or "\r" in parts[-1] or len(parts) == 1:
        return True
    last = columns[-1] if columns else None
    if not isinstance(last, (Field, Unproven)) or not last.decimals:
        return None
    token = parts[-2]
    point = max(token.rfind("."), token.rfind(","))
    return False if point < 0 else len(token) - point > last.decimals or None


def similar_lines_pattern(parts: Sequence[str], columns: Sequence[Part]) -> str:
    """Return a regular expression for complete lines that differ only in numbers; its groups are the parts.

    Empty if a line does not show that its last number is complete, or contains sizes.
    """
    last = columns[-1] if columns else None
    if (
        parts[-1]
        or not isinstance(last, (Field, Unproven))
        or not last.decimals
        or not all(map(_PLAIN.fullmatch, parts[1::2]))
    ):
        return ""
    numbers = [f"({_PLAIN.pattern})"] * (len(parts) // 2 - 1) + [f"([0-9]+[.,][0-9]{{{last.decimals}}})"]
    return "".join(f"({re.escape(text)}){number}" for text, number in zip(parts[::2], numbers, strict=False)) + "()"


def in_base_unit(token: str, column: Field) -> float | None:
    """Return the number in its base unit, or None if it is ambiguous."""
    amount = size(token) if column.decimals is None else value(token, column.decimals)
    if amount is None:
        return None
    amount /= column.per
    return None if column.unit == "s" and amount > MOST_S else amount


def percentile(token: str) -> str:
    """Return the percentile as metric names have it: 95 as 95, 99.9 as 999; empty outside 0 to 100."""
    share = float(token.replace(",", "."))
    return f"{share:g}".replace(".", "") if 0 < share <= 100 else ""


def readings(line: int, parts: Sequence[str], columns: Sequence[Part]) -> Iterator[LogReading | None]:
    """Yield a reading per number of a line, None for an ambiguous one."""
    percent_columns = [index for index, column in enumerate(columns) if column is PERCENT]
    percent = percentile(parts[2 * percent_columns[0] + 1]) if percent_columns else ""
    for index, column in enumerate(columns):
        if not isinstance(column, Field):
            continue
        token, following = parts[2 * index + 1], parts[2 * index + 2]
        amount = in_base_unit(token, column)
        unit = _UNIT.match(following)
        if amount is None or ("{}" in column.metric and not percent):
            yield None
            continue
        yield LogReading(
            metric=column.metric.format(percent),
            value=amount,
            unit=column.unit,
            line=line,
            stated=token + (unit[0] if unit else ""),
            subject=column.subject,
        )


def shapes(table: Mapping[str, tuple[Part, ...]]) -> Mapping[str, tuple[Part, ...]]:
    """Return the table after checking that each shape has as many numbers as columns."""
    for shape, columns in table.items():
        assert shape.count("#") == len(columns), shape
    return table
