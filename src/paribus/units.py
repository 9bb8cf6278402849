"""Sizes, durations, shares and load levels: parsing and formatting.

All values inside the program are seconds, bytes and plain ratios; only this module converts them from and to text.
"""

import math
import re
from dataclasses import dataclass
from enum import StrEnum

from paribus.i18n import gettext, ngettext

MIB = 2**20
_BINARY = {"": 1, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_SHORT = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_TIME = {"": 1.0, "us": 1e-6, "ms": 0.001, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_LARGEST_SIZE = 2.0**50
_LONGEST_S = 366 * 86400.0
_NUMBER = re.compile(r"\s*([0-9][0-9_]*(?:\.[0-9]+)?)\s*([A-Za-z%]*)\s*")


def _split(value: object, expected: str) -> tuple[float, str]:
    """The number and the unit of a text. Raises ValueError otherwise; `expected` completes its message."""
    match = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError(f"{value!r} is not {expected}")
    return float(match[1].replace("_", "")), match[2]


def parse_size(value: object) -> int:
    """Read a size such as `16KiB`, `20G` or `4096` into bytes. K, M and G are binary, as in sysbench and fio.

    Raises ValueError that names the valid units.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        size = float(value)
    else:
        number, unit = _split(value, "a number of bytes, or text such as '16KiB'")
        scale = {**_BINARY, **_SHORT}.get(unit)
        if scale is None:
            raise ValueError(f"unknown unit {unit!r}; use B, KiB, MiB, GiB or TiB")
        size = number * scale
    if not 0 <= size <= _LARGEST_SIZE:
        raise ValueError(f"{str(value)[:40]!r} is not between 0 and 1024 TiB")
    if size != int(size):
        raise ValueError(f"{value!r} is not a whole number of bytes")
    return int(size)


def parse_duration(value: object) -> float:
    """Read a duration such as `60s`, `1.5h` or `90` into seconds. Raises ValueError."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        seconds = float(value)
    else:
        number, unit = _split(value, "a number of seconds, or text such as '60s'")
        if unit not in _TIME:
            raise ValueError(f"unknown unit in {value!r}; use us, ms, s, min, h or d")
        seconds = number * _TIME[unit]
    if not 0 < seconds <= _LONGEST_S:
        raise ValueError(f"{str(value)[:40]!r} is not between nothing and a year")
    return seconds


def parse_share(value: object) -> float:
    """Read a share such as `2%` or `0.02` into a ratio. Raises ValueError."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        share = float(value)
    else:
        number, unit = _split(value, "a percentage such as '2%'")
        if unit not in ("%", ""):
            raise ValueError(f"unknown unit in {value!r}; write a percentage such as '2%'")
        share = number / 100 if unit == "%" else number
    if not math.isfinite(share):
        raise ValueError("a share is a percentage such as '2%'")
    return share


def show_size(size_bytes: float) -> str:
    """`16 KiB`, `1.5 GiB`: the largest binary unit that keeps the number at or above one."""
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        if size_bytes >= _BINARY[unit]:
            scaled = size_bytes / _BINARY[unit]
            return f"{scaled:.0f} {unit}" if scaled >= 1000 else f"{scaled:.3g} {unit}"
    return f"{size_bytes:.0f} B"


def show_duration(seconds: float) -> str:
    """`850 ms`, `42 s`, `3 min 20 s`, `2 h 05 min`."""
    if seconds < 1:
        return f"{seconds * 1000:.3g} ms"
    if seconds < 10:
        return f"{seconds:.3g} s"
    whole_s = round(seconds)
    if whole_s < 60:
        return f"{whole_s} s"
    minutes, remaining_s = divmod(whole_s, 60)
    if minutes < 60:
        return f"{minutes} min {remaining_s:02d} s" if remaining_s else f"{minutes} min"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes:02d} min"


def show_time(seconds: float) -> str:
    """A response time with three digits: `85.2 µs`, `1.24 ms`, `2.3 s`."""
    if seconds < 0.001:
        return f"{seconds * 1e6:.3g} µs"
    if seconds < 1:
        return f"{seconds * 1e3:.3g} ms"
    return f"{seconds:.3g} s"


def show_percent(log_ratio: float) -> str:
    """A natural-log ratio as a signed percentage: `+6.1 %`, with a true minus sign."""
    percent = math.expm1(log_ratio) * 100
    if not math.isfinite(percent):
        return gettext("not measurable")
    digits = 1 if abs(percent) < 100 else 0
    text = f"{abs(percent):.{digits}f}"
    sign = "" if float(text) == 0 else "+" if percent > 0 else "−"
    return f"{sign}{text} %"


class LoadUnit(StrEnum):
    """Unit of a load level: operations outstanding at once, or started each second whatever becomes of them.

    Of what others measured it may be that nobody tells.
    """

    OUTSTANDING = "outstanding"
    RATE_PER_S = "rate_per_s"
    NOT_STATED = "not_stated"


@dataclass(frozen=True, slots=True, order=True)
class LoadLevel:
    """Amount of load; as text `8 threads`, or `2,000/s` in an open loop."""

    n: int
    unit: LoadUnit = LoadUnit.OUTSTANDING

    def __str__(self) -> str:
        if self.unit is LoadUnit.RATE_PER_S:
            return self.figure
        if self.unit is LoadUnit.NOT_STATED:
            return gettext("a load that is not stated")
        return ngettext("{n} thread", "{n} threads", self.n)

    @property
    def figure(self) -> str:
        """The number as shown in a column of load levels."""
        if self.unit is LoadUnit.NOT_STATED:
            return gettext("not stated")
        return f"{self.n:,}/s" if self.unit is LoadUnit.RATE_PER_S else str(self.n)
