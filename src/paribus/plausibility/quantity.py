"""What somebody states of one run: its figures with how each was written, and how far a figure's rounding reaches."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from paribus.i18n import gettext
from paribus.units import LoadLevel

_NUMBER = re.compile(r"[-+]?(\d[\d,_]*|(?=\.\d))(?:\.(\d+))?(?:[eE]([-+]?\d+))?")
_GROUPED = re.compile(r"[-+]?(\d{1,3}(?:[ '’\u00a0\u2009\u202f]\d{3})+)(?![\d])(?:[.,](\d+))?()")
_DECIMAL_COMMA = re.compile(r"[-+]?(\d{1,3}(?:\.\d{3})*|\d+),(\d+)()")
_FLOAT = 1e-9
_SURE = 10.0  # so many times what rounding leaves open must a figure lie off, before one digit explains it
_SURE_DIGITS = 2  # of a round number without decimals: 50,000 may stand for 49,500 to 50,500


class Range(NamedTuple):
    """The values, none below zero, that a figure can have."""

    low: float
    high: float

    def __add__(self, other: "Range") -> "Range":  # type: ignore[override]
        return Range(self.low + other.low, self.high + other.high)

    def __mul__(self, other: "Range") -> "Range":  # type: ignore[override]
        return Range(self.low * other.low, self.high * other.high)

    def __sub__(self, other: "Range") -> "Range":
        return Range(max(self.low - other.high, 0.0), max(self.high - other.low, 0.0))

    def __truediv__(self, other: "Range") -> "Range":
        return Range(
            self.low / other.high if other.high > 0 else 0.0, self.high / other.low if other.low > 0 else math.inf
        )

    def times(self, factor: float) -> "Range":
        """Scaled."""
        return Range(self.low * factor, self.high * factor)

    def widened(self, share: float) -> "Range":
        """With so much slack on both sides, as a share."""
        return Range(self.low * (1 - share), self.high * (1 + share))

    @property
    def middle(self) -> float:
        """What stands for all of them."""
        return (self.low + self.high) / 2 if self.high < math.inf else self.low

    def meets(self, other: "Range") -> bool:
        """Whether one value can be both."""
        return self.low <= other.high and other.low <= self.high


class WrittenNumber(NamedTuple):
    """A number as it was written, and how many base units its unit has (0 where it is zero)."""

    number: float
    whole: str
    decimals: str
    exponent: int
    scale: float

    @property
    def zeros(self) -> int:
        """How many digits at the end of a whole number may be nothing but rounding."""
        whole = self.whole
        return 0 if self.decimals else max(min(len(whole) - len(whole.rstrip("0")), len(whole) - _SURE_DIGITS), 0)


@dataclass(frozen=True, slots=True)
class StatedFigure:
    """A number in its base unit, and how it was written: `StatedFigure(397_000_000.0, "378.6")`; "" is exact."""

    value: float
    stated: str = ""

    @property
    def written(self) -> WrittenNumber | None:
        """What stands there, None where nothing does."""
        if not self.stated:
            return None
        if match := _GROUPED.match(self.stated):
            return self._as(match)
        match = _NUMBER.search(self.stated)
        if match is None:
            return None
        found, comma = self._as(match), _DECIMAL_COMMA.match(self.stated)
        if comma and found.scale and not _is_unit(found.scale) and _is_unit((other := self._as(comma)).scale):
            return other
        return found

    def _as(self, match: re.Match[str]) -> WrittenNumber:
        whole, decimals, exponent = re.sub(r"\D", "", match[1]), match[2] or "", int(match[3] or 0)
        number = float(f"{whole or 0}.{decimals or 0}e{exponent}")
        return WrittenNumber(
            number, whole, decimals, exponent, abs(self.value) / number if number and self.value else 0.0
        )

    def half(self, metric: str) -> float:
        """How far the true value may lie off: half of the last digit that was written, in the base unit.

        Trailing zeros of a whole number are taken for rounding from the third digit on; whole counts are exact.
        """
        seen = self.written
        if seen is None or (metric in COUNTS and not seen.decimals and seen.number == self.value):
            return 0.0
        return 0.5 * 10.0 ** (seen.zeros - len(seen.decimals) + seen.exponent) * (seen.scale or _scale_of_zero(metric))

    def range(self, metric: str) -> Range:
        """The values that are written so."""
        if not self.stated:
            exact = max(self.value, 0.0)
            return Range(exact, exact)
        half = self.half(metric)
        return Range(max(self.value - half, 0.0), max(self.value + half, 0.0))

    def digits(self) -> int:
        """How many digits were written from the first that is not zero; of what is exact, as many as a double has."""
        seen = self.written
        return 15 if seen is None else len((seen.whole + seen.decimals).lstrip("0"))

    def mistyped(self, right: Range) -> float | None:
        """A value within `right` that is written with one digit unlike this one, or two next to each other swapped."""
        seen = self.written
        if seen is None or not seen.scale:
            return None
        digits = seen.whole + seen.decimals
        one_off = (digits[:n] + new + digits[n + 1 :] for n in range(len(digits)) for new in "0123456789")
        swapped = (digits[:n] + digits[n + 1] + digits[n] + digits[n + 2 :] for n in range(len(digits) - 1))
        step = 10.0 ** (seen.exponent - len(seen.decimals)) * seen.scale
        fitting = (int(other) * step for other in (*one_off, *swapped) if other != digits)
        found = next((value for value in fitting if right.widened(_FLOAT).meets(Range(value, value))), None)
        sure = abs(self.value - right.middle) >= _SURE * (right.high - right.low)
        return found if sure else None


def _is_unit(scale: float) -> bool:
    """Whether a unit has so many base units: 1, 60, powers of 1000 and 1024, and hundredths."""
    powers = (math.log(scale) / math.log(base) for base in (1000.0, 1024.0))
    return (
        any(abs(one - round(one)) < _FLOAT for one in powers)
        or min(abs(scale * n - 1) for n in (100, 60, 1 / 60)) < _FLOAT
    )


TOLD_AGAIN = ":again"
"""What stands behind the name of a count that a report has under another name too."""

_COUNTED = ("operations", "queries", "queries_read", "queries_write", "queries_other", "errors", "reconnects")
COUNTS = frozenset({*_COUNTED, *(f"{name}{TOLD_AGAIN}" for name in _COUNTED)})


def _scale_of_zero(metric: str) -> float:
    """A zero does not tell its unit: the largest that is usual."""
    if metric.endswith("bytes_per_s"):
        return 2.0**20
    return 0.01 if metric.endswith("_share") else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedCell:
    """One cell: the figures of one run, by metric, in base units, and where they stand.

    `table` names a published table, and is empty for a log; `source` and `line` say where to look it up. `levels` are
    those of the factors, `load` how much was outstanding, `sample` tells points of a series apart. In a `closed` loop
    never more than `load` is outstanding; where clients `think` it may be less. `queries_each` are those of a
    transaction where it is known.
    """

    figures: Mapping[str, StatedFigure]
    table: str = ""
    source: str = ""
    line: int = 0
    workload: str = ""
    levels: Mapping[str, str] = field(default_factory=dict)
    load: float | None = None
    sample: int | None = None
    closed: bool = False
    think: bool = False
    block_bytes: float | None = None
    queries_each: float | None = None

    def value(self, metric: str) -> float | None:
        """A figure, None where it is not stated."""
        figure = self.figures.get(metric)
        return None if figure is None else figure.value

    def range(self, metric: str) -> Range | None:
        """What a figure can be, None where it is not stated."""
        figure = self.figures.get(metric)
        return None if figure is None else figure.range(metric)

    @property
    def setting(self) -> tuple[tuple[str, str], ...]:
        """The levels, to tell cells by."""
        return tuple(sorted(self.levels.items()))

    @property
    def where(self) -> str:
        """For a person: `000-T15, over-provisioning 15%, 64 threads`."""
        parts = [self.table or self.source]
        if not self.table and self.line:
            parts.append(gettext("line {n}", n=self.line))
        parts += [heading(self.levels)]
        if self.load is not None:
            parts.append(str(LoadLevel(round(self.load))))
        if self.sample is not None:
            parts.append(gettext("sample {n}", n=self.sample))
        return gettext(", ").join(part for part in parts if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A magnitude that prose gives: going from level `start` to `end` of `factor` changes the rate by `percent`.

    `percent` is written as in the text (`+37.1`); a ratio of 2.723 is +172.3 with the same digits: `StatedFigure(172.3,
    "172.3")`. `extent` is `each` load level, `some` level, the `mean`, the `most` or the `least` over them, at `load`
    where one is named. The factor `threads` has load levels for its levels.
    """

    where: str
    factor: str
    start: str
    end: str
    percent: StatedFigure
    extent: str = "mean"
    load: float | None = None
    about: bool = False


def heading(levels: Mapping[str, str]) -> str:
    """Factors with their levels: `NUMA off, IO scheduler noop`."""
    return gettext(", ").join(f"{factor} {level}".strip() for factor, level in levels.items())
