"""Cells of published tables: numbers in the notation of the whole table, with their units."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from paribus.parsers.numbers import number

_EMPTY = {"", "-", "–", "—", "--", "n/a", "na", "nan", "none", "null", "?", "/", "×", "x", "..", "…"}
_GROUPS = r"[0-9]{1,3}(?:%s[0-9]{3})+"
_POINT_GROUPED = re.compile(rf"{_GROUPS % ','}(?:\.[0-9]+)?")
_COMMA_GROUPED = re.compile(rf"{_GROUPS % '[.]'}(?:,[0-9]+)?")
_SPACED = re.compile(r"(?P<groups>[0-9]{1,3}(?:[ '\u2019\u00a0\u2009\u202f][0-9]{3})+)(?P<rest>[.,][0-9]+)?")
_COMMA = re.compile(r"[0-9]+,[0-9]+")
_PLAIN = re.compile(r"[0-9]{1,60}(?:\.[0-9]{1,60})?", re.ASCII)
_FORM = re.compile(
    r"(?P<ratio>[x×X] ?(?=[0-9.]))?(?P<sign>[+\u2212-] ?)?"
    r"(?P<digits>[0-9](?:[0-9.,'\u2019\u00a0\u2009\u202f ]*[0-9])?(?:[eE][+-]?[0-9]{1,3})?)"
    r" ?(?P<unit>[A-Za-z%µμ×][A-Za-z/%µμ]*(?: (?=IOPS|TPS|QPS|ops|req)[A-Za-z]+(?:/s(?:ec)?)?)?)?"
)
_SPREAD = re.compile(
    r"(?P<mean>[0-9][^±]*?) ?(?P<unit>[A-Za-zµμ/]*) ?(?:±|\+/?-) ?[0-9.,]+ ?(?:%|(?P<after>[A-Za-zµμ/]*))"
)
_LONGEST = 60
THOUSANDS = "commas are taken for thousands, as in 1,234: counts, rates and cells between commas have nothing else"
LEFT_OUT = "numbers such as 1,234 or 1.234 are left out: the table does not show whether these are thousands"


class Style(Enum):
    """Number notation of a table."""

    POINT = "1,234.5"
    COMMA = "1.234,5"
    UNSURE = "1,234"  # thousands separator or decimal comma


def style_of(cells: Iterable[str], *, semicolons: bool, thousands: bool = False) -> Style:
    """Infer the notation from the whole table; semicolon separators suggest a locale with decimal commas.

    `thousands`: 1,234 can only mean 1234, because of the cell separator or the kind of the metrics.
    """
    words = [match["digits"].replace(" ", "") for cell in cells if (match := _FORM.fullmatch(cell[:_LONGEST].strip()))]
    commas = [word for word in words if "," in word]
    dotted = [word for word in words if "." in word and "," not in word]
    if not commas:
        return Style.COMMA if any(word.count(".") > 1 for word in dotted) else Style.POINT
    point = sum(bool(_POINT_GROUPED.fullmatch(word)) and ("." in word or word.count(",") > 1) for word in commas)
    point += sum(word.count(".") == 1 and not _COMMA_GROUPED.fullmatch(word) for word in dotted)
    comma = sum(
        bool(_COMMA_GROUPED.fullmatch(word))
        or (bool(_COMMA.fullmatch(word)) and not _POINT_GROUPED.fullmatch(word))
        or word.startswith("0,")
        for word in commas
    )
    if point or comma:
        return Style.UNSURE if point and comma else Style.POINT if point else Style.COMMA
    if semicolons or len(commas) != sum(bool(_POINT_GROUPED.fullmatch(word)) for word in commas):
        return Style.UNSURE
    plain = [value for word in words if "," not in word and (value := number(word)) is not None]
    small = any(100 <= value < 1000 and value == int(value) for value in plain)
    large = any(value >= 1000 for value in plain)
    # Whole numbers below 1000 occur, and none above lacks a comma.
    return Style.POINT if thousands or (small and not large) else Style.UNSURE


def unsure_points(column: Iterable[str]) -> bool:
    """Return whether a column mixes whole hundreds with only 1.234 forms, which may be thousands."""
    words = [_bare(cell) for cell in column if not empty(cell)]
    dotted = [word for word in words if "." in word]
    grouped = len(dotted) > 1 and all(_COMMA_GROUPED.fullmatch(word) and word[0] != "0" for word in dotted)
    return grouped and any(word.isdecimal() and len(word) == 3 for word in words)


@dataclass(frozen=True, slots=True)
class TableCell:
    """A number as written: `kind` is ratio (x 1.2), change (+12 %), or empty for the column's metric."""

    value: float
    unit: str = ""
    kind: str = ""


def cell_of(text: str, style: Style) -> TableCell | None:
    """Return the number in a cell; None if it is ambiguous or absent. Call `empty` first."""
    if style is Style.POINT and _PLAIN.fullmatch(text):
        return TableCell(float(text))
    text = _bare(text)
    match = _FORM.fullmatch(text) if len(text) < _LONGEST else None
    if match is None:
        return None
    value = _value(match["digits"], style)
    if value is None:
        return None
    unit = match["unit"] or ""
    signed = (match["sign"] or "").strip()
    if signed in ("-", "\u2212"):
        value = -value
    if match["ratio"] or unit in ("x", "×", "X"):
        return TableCell(value, "", "ratio") if not signed else None
    if signed and unit == "%":
        return TableCell(value / 100, "", "change")
    return TableCell(value, unit)


def empty(text: str) -> bool:
    """Return whether a cell is marked as empty."""
    return _bare(text).lower() in _EMPTY


def _bare(text: str) -> str:
    """The cell without emphasis and without the spread after a mean, as in 7.2 ± 2.2."""
    bare = text.strip().strip("*`_").strip()
    match = _SPREAD.fullmatch(bare) if len(bare) < _LONGEST else None
    return f"{match['mean']} {match['unit'] or match['after'] or ''}".strip() if match else bare


def _value(digits: str, style: Style) -> float | None:
    """Return the value of the digits in the table's notation; None if it is ambiguous."""
    if match := _SPACED.fullmatch(digits):
        fraction = (match["rest"] or "").replace(",", ".")
        return number(re.sub(r"[^0-9]", "", match["groups"]) + fraction)
    if style is Style.UNSURE and _COMMA_GROUPED.fullmatch(digits) and digits[0] != "0":
        return None
    if "," not in digits and (style is not Style.COMMA or "." not in digits):
        return number(digits)
    if style is Style.POINT and _POINT_GROUPED.fullmatch(digits):
        return number(digits.replace(",", ""))
    if style is Style.COMMA:
        if _COMMA_GROUPED.fullmatch(digits):
            return number(digits.replace(".", "").replace(",", "."))
        return number(digits.replace(",", ".")) if _COMMA.fullmatch(digits) else None
    if style is Style.UNSURE and (_POINT_GROUPED.fullmatch(digits) and "." in digits):
        return number(digits.replace(",", ""))
    return None
