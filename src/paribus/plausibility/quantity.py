"""Stated figures of one run with their notation, and the range that their rounding allows."""

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
_SURE = 10.0  # minimum error in units of the rounding range for a single-digit error to explain it
_SURE_DIGITS = 2  # significant digits of a round integer: 50,000 may mean 49,500 to 50,500


class Range(NamedTuple):
    """Range of the non-negative values that a figure can have."""

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
        """Return the range scaled by a factor."""
        return Range(self.low * factor, self.high * factor)

    def widened(self, share: float) -> "Range":
        """Return the range widened on both sides by a share."""
        return Range(self.low * (1 - share), self.high * (1 + share))

    @property
    def middle(self) -> float:
        """The representative value of the range."""
        return (self.low + self.high) / 2 if self.high < math.inf else self.low

    def meets(self, other: "Range") -> bool:
        """Return whether the ranges overlap."""
        return self.low <= other.high and other.low <= self.high


class WrittenNumber(NamedTuple):
    """A number as written, and the base units per written unit (0 if the number is zero)."""

    number: float
    whole: str
    decimals: str
    exponent: int
    scale: float

    @property
    def zeros(self) -> int:
        """Number of trailing digits of an integer that may result from rounding."""
        whole = self.whole
        return 0 if self.decimals else max(min(len(whole) - len(whole.rstrip("0")), len(whole) - _SURE_DIGITS), 0)


@dataclass(frozen=True, slots=True)
class StatedFigure:
    """A number in its base unit with its text: `StatedFigure(397_000_000.0, "378.6")`; "" means exact.

    `cut_off` is the sum of the fractions that its tool may have cut off.
    """

    value: float
    stated: str = ""
    cut_off: float = 0.0

    @property
    def written(self) -> WrittenNumber | None:
        """The parsed text; None without one."""
        if not self.stated:
            return None
        if match := _GROUPED.match(self.stated):
            return self._parsed(match)
        match = _NUMBER.search(self.stated)
        if match is None:
            return None
        plain, comma = self._parsed(match), _DECIMAL_COMMA.match(self.stated)
        if comma and plain.scale and not _is_unit(plain.scale) and _is_unit((with_comma := self._parsed(comma)).scale):
            return with_comma
        return plain

    def _parsed(self, match: re.Match[str]) -> WrittenNumber:
        whole, decimals, exponent = re.sub(r"\D", "", match[1]), match[2] or "", int(match[3] or 0)
        number = float(f"{whole or 0}.{decimals or 0}e{exponent}")
        return WrittenNumber(
            number, whole, decimals, exponent, abs(self.value) / number if number and self.value else 0.0
        )

    def half(self, metric: str) -> float:
        """Return the rounding error: half of the last written digit, in the base unit.

        Trailing zeros of an integer count as rounding from the third digit on; whole counts are exact.
        """
        written = self.written
        if written is None or (metric in COUNTS and not written.decimals and written.number == self.value):
            return 0.0
        return (
            0.5
            * 10.0 ** (written.zeros - len(written.decimals) + written.exponent)
            * (written.scale or _scale_of_zero(metric))
        )

    def range(self, metric: str) -> Range:
        """Return the range of values that round to the text."""
        if not self.stated:
            exact = max(self.value, 0.0)
            return Range(exact, exact)
        half = self.half(metric)
        return Range(max(self.value - half, 0.0), max(self.value + max(half, self.cut_off), 0.0))

    def digits(self) -> int:
        """Return the number of significant digits; 15 for an exact figure."""
        written = self.written
        return 15 if written is None else len((written.whole + written.decimals).lstrip("0"))

    def mistyped(self, correct: Range) -> float | None:
        """Return a value within `correct` that differs by one digit or a swap of adjacent digits; else None."""
        written = self.written
        if written is None or not written.scale:
            return None
        digits = written.whole + written.decimals
        one_off = (digits[:n] + new + digits[n + 1 :] for n in range(len(digits)) for new in "0123456789")
        swapped = (digits[:n] + digits[n + 1] + digits[n] + digits[n + 2 :] for n in range(len(digits) - 1))
        step = 10.0 ** (written.exponent - len(written.decimals)) * written.scale
        fitting = (int(variant) * step for variant in (*one_off, *swapped) if variant != digits)
        candidate = next((value for value in fitting if correct.widened(_FLOAT).meets(Range(value, value))), None)
        sure = abs(self.value - correct.middle) >= _SURE * (correct.high - correct.low)
        return candidate if sure else None


def _is_unit(scale: float) -> bool:
    """Return whether a scale is that of a unit: 1, 60, powers of 1000 and 1024, or hundredths."""
    powers = (math.log(scale) / math.log(base) for base in (1000.0, 1024.0))
    return (
        any(abs(power - round(power)) < _FLOAT for power in powers)
        or min(abs(scale * n - 1) for n in (100, 60, 1 / 60)) < _FLOAT
    )


SECOND_COUNT = ":again"
"""Suffix for a count that the report states under a second name."""

_COUNTED = ("operations", "queries", "queries_read", "queries_write", "queries_other", "errors", "reconnects")
COUNTS = frozenset({*_COUNTED, *(f"{name}{SECOND_COUNT}" for name in _COUNTED)})


def _scale_of_zero(metric: str) -> float:
    """Return the largest usual unit of a metric, since a zero does not show its unit."""
    if metric.endswith("bytes_per_s"):
        return 2.0**20
    return 0.01 if metric.endswith("_share") else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedCell:
    """One cell: the figures of one run by metric, in base units, and their location.

    `table` names a published table and is empty for a log; `source` and `line` locate it. `levels` are factor levels,
    `load` the number outstanding, `sample` the index in a series. In a `closed` loop at most `load` operations are
    outstanding; with `think` times it may be fewer. `queries_each` is the number of queries per transaction, if known.
    `was_reset`: counters were reset under load, as after a warm-up.
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
    was_reset: bool = False

    def value(self, metric: str) -> float | None:
        """Return a figure; None if it is not stated."""
        figure = self.figures.get(metric)
        return None if figure is None else figure.value

    def range(self, metric: str) -> Range | None:
        """Return the range of a figure; None if it is not stated."""
        figure = self.figures.get(metric)
        return None if figure is None else figure.range(metric)

    @property
    def setting(self) -> tuple[tuple[str, str], ...]:
        """Sorted levels, as a key."""
        return tuple(sorted(self.levels.items()))

    @property
    def where(self) -> str:
        """Location for a reader: `000-T15, over-provisioning 15%, 64 threads`."""
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
    """A stated change: from level `start` to `end` of `factor` the rate changes by `percent`.

    `percent` is as written (`+37.1`); a ratio of 2.723 is +172.3 with the same digits: `StatedFigure(172.3, "172.3")`.
    `extent` is `each` load level, `some` level, or the `mean`, `most` or `least` over them; `load` restricts it to one.
    The levels of the factor `threads` are load levels.
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
    """Return factors with their levels: `NUMA off, IO scheduler noop`."""
    return gettext(", ").join(f"{factor} {level}".strip() for factor, level in levels.items())
