"""Lines as shapes: what a line says with its numbers taken out (`total time: #s`), and the numbers.

A tool prints few shapes, so that its format is a table from shapes to what their numbers are. A line that is damaged,
cut off or mixed with another has no known shape, and none of its numbers is taken for one.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from paribus.parsers.log import LogReading

# 16.5, 16,5 and 16.5G before b or B, as in 16.5Gb; signs, exponents and nan stay in the shape, where no table has them.
NUMBER = re.compile(r"([0-9]+(?:[.,][0-9]+)?(?:[KMGT]i?(?=[bB]))?)")
_PLAIN = re.compile(r"[0-9]+(?:[.,][0-9]+)?")
_COLOUR = re.compile(r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
# What stands before a line that somebody quoted or gave a time; taken off only where the line means nothing else.
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
_COMMENT = re.compile(r"\S\s{2,}(#.*)")  # what somebody explains behind a line
_UNIT = re.compile(r"(?:[A-Za-z%]+(?:/s(?:ec)?)?)?")
_LONG = 4096
_SIZES = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
MOST = 2.0**63  # no counter holds more; what is above is a difference gone wrong
MOST_S = 1e9  # thirty years: above it is 2^64 ns, which old versions print for no time at all


@dataclass(frozen=True, slots=True)
class Field:
    """What a number of a shape is: it is divided by `per` to be in the base unit, and printed with `decimals`.

    Where these are None, it is five significant digits and one of K, M, G, T, which are powers of 1024.
    """

    metric: str
    unit: str
    decimals: int | None
    per: float = 1.0
    subject: str = ""


@dataclass(frozen=True, slots=True)
class EchoedOption:
    """A number that tells what was asked: an option of that name."""

    option: str


@dataclass(frozen=True, slots=True)
class Unproven:
    """A number whose unit nothing tells; it has at least so many decimals."""

    decimals: int


class Percent:
    """A number that says which percentile the shape's `response_p{}_s` is of."""


Part = Field | EchoedOption | Unproven | Percent | None
PERCENT = Percent()


def lines_of(text: str) -> list[str]:
    """The lines without colours, ends of line and the mark of the byte order; numbered as an editor does."""
    if "\x1b" in text:
        text = _COLOUR.sub("", text)
    text = text.removeprefix("\ufeff")
    return text.split("\r" if "\n" not in text else "\n")


def is_cut(text: str) -> bool:
    """Whether the last line may lack its end."""
    return not text.endswith(("\n", "\r"))


_NO_NUMBER = "\N{MUSIC SHARP SIGN}"  # for what stands in a line where a shape has numbers


def shape_of(line: str) -> tuple[str, list[str]]:
    """The shape, and the parts of the line: what is between the numbers, and at odd places the numbers."""
    parts = NUMBER.split(line.replace("#", _NO_NUMBER) if "#" in line else line)
    return " ".join("#".join(parts[::2]).split()), parts


def without_prefix(line: str) -> str:
    """The line without a quotation mark, a time or a container's name before it, and a comment behind it."""
    if match := _COMMENT.search(line[:_LONG]):
        line = line[: match.start(1)].rstrip()
    match = _PREFIX.match(line[:_LONG])
    if not match or not match.end():
        return line
    signs = "".join(sign for sign in "*`" if sign in match[0])  # of emphasis, which ends as it begins
    return line[match.end() :].rstrip(f"{signs} ")


def count(words: str) -> int | None:
    """A whole number of at most nine digits."""
    return int(words) if words.isascii() and words.isdigit() and len(words) < 10 else None


def size(token: str) -> float | None:
    """Bytes of a token such as 16K, 16.5Gi or 512; K is 1024. There are no thousands in it, so a comma is decimal."""
    number = token.rstrip("iKMGT")
    found = value(number.replace(",", "."), len(number))
    return None if found is None else found * _SIZES.get(token[len(number) :].rstrip("i"), 1)


def value(token: str, decimals: int) -> float | None:
    """The number; None where it is not certain, or is more than can be counted.

    A comma is taken for a decimal one only where as many digits follow as the tool prints, so that 1,234 is never
    1.234 where it may be a thousand; a count (0 decimals) has neither comma nor point.
    """
    if not _PLAIN.fullmatch(token):
        return None
    if "," in token:
        if not decimals or len(token) - token.index(",") - 1 != decimals:
            return None
        token = token.replace(",", ".")
    elif decimals == 0 and "." in token:
        return None
    found = float(token)
    return found if found < MOST else None


def ends_whole(parts: Sequence[str], known: Sequence[Part]) -> bool | None:
    """Whether a line has its last number to the last digit; None where the line alone does not tell."""
    if parts[-1].strip() or "\r" in parts[-1] or len(parts) == 1:
        return True
    last = known[-1] if known else None
    if not isinstance(last, (Field, Unproven)) or not last.decimals:
        return None
    token = parts[-2]
    point = max(token.rfind("."), token.rfind(","))
    return False if point < 0 else len(token) - point > last.decimals or None


def alike(parts: Sequence[str], known: Sequence[Part]) -> str:
    """A regular expression of lines that differ in their numbers alone and end with a whole one; groups are the parts.

    Empty where a line does not tell by itself that its last number is whole, or has sizes.
    """
    last = known[-1] if known else None
    if (
        parts[-1]
        or not isinstance(last, (Field, Unproven))
        or not last.decimals
        or not all(map(_PLAIN.fullmatch, parts[1::2]))
    ):
        return ""
    numbers = [f"({_PLAIN.pattern})"] * (len(parts) // 2 - 1) + [f"([0-9]+[.,][0-9]{{{last.decimals}}})"]
    return "".join(f"({re.escape(text)}){number}" for text, number in zip(parts[::2], numbers, strict=False)) + "()"


def in_base_unit(token: str, known: Field) -> float | None:
    """The number in its base unit, or None where it is not certain."""
    found = size(token) if known.decimals is None else value(token, known.decimals)
    if found is None:
        return None
    found /= known.per
    return None if known.unit == "s" and found > MOST_S else found


def percentile(token: str) -> str:
    """95 of 95, 999 of 99.9, as metrics are called; empty where it is no share of a hundred."""
    found = float(token.replace(",", "."))
    return f"{found:g}".replace(".", "") if 0 < found <= 100 else ""


def readings(line: int, parts: Sequence[str], known: Sequence[Part]) -> Iterator[LogReading | None]:
    """What the numbers of a line are, None for each that cannot be read with certainty."""
    places = [index for index, one in enumerate(known) if one is PERCENT]
    percent = percentile(parts[2 * places[0] + 1]) if places else ""
    for index, one in enumerate(known):
        if not isinstance(one, Field):
            continue
        token, after = parts[2 * index + 1], parts[2 * index + 2]
        found = in_base_unit(token, one)
        unit = _UNIT.match(after)
        if found is None or ("{}" in one.metric and not percent):
            yield None
            continue
        yield LogReading(
            metric=one.metric.format(percent),
            value=found,
            unit=one.unit,
            line=line,
            stated=token + (unit[0] if unit else ""),
            subject=one.subject,
        )


def shapes(table: Mapping[str, tuple[Part, ...]]) -> Mapping[str, tuple[Part, ...]]:
    """The table, looked over: each shape has as many numbers as are explained."""
    for shape, known in table.items():
        assert shape.count("#") == len(known), shape
    return table
