"""Sizes, durations and shares, as people write them and as they are shown.

Inside the program everything is seconds, bytes and plain ratios; text is made and read here only.
"""

import math
import re

_BINARY = {"": 1, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_SHORT = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_TIME = {"": 1.0, "ms": 0.001, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_NUMBER = re.compile(r"\s*([0-9][0-9_]*(?:\.[0-9]+)?)\s*([A-Za-z%]*)\s*")


def _split(text: str) -> tuple[float, str]:
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a number with a unit")
    return float(match[1].replace("_", "")), match[2]


def parse_size(value: str | int) -> int:
    """Read a size such as `16KiB`, `20G` or `4096` into bytes. K, M and G are binary, as in sysbench and fio.

    Raises ValueError, with the units that would be right.
    """
    if isinstance(value, bool):
        raise ValueError("a size is a number of bytes or text such as '16KiB'")
    if isinstance(value, int):
        if value < 0:
            raise ValueError("a size cannot be negative")
        return value
    number, unit = _split(value)
    scale = {**_BINARY, **_SHORT}.get(unit)
    if scale is None:
        raise ValueError(f"unknown unit {unit!r}; use B, KiB, MiB, GiB or TiB")
    size = number * scale
    if size != int(size):
        raise ValueError(f"{value!r} is not a whole number of bytes")
    return int(size)


def parse_duration(value: str | float) -> float:
    """Read a duration such as `60s`, `1.5h` or `90` into seconds. Raises ValueError."""
    if isinstance(value, bool):
        raise ValueError("a duration is a number of seconds or text such as '60s'")
    if isinstance(value, int | float):
        seconds, known = float(value), True
    else:
        number, unit = _split(value)
        known = unit in _TIME
        seconds = number * _TIME.get(unit, 0.0)
    if not known:
        raise ValueError(f"unknown unit in {value!r}; use ms, s, min, h or d")
    if not (math.isfinite(seconds) and seconds > 0):
        raise ValueError(f"{value!r} is not longer than nothing")
    return seconds


def parse_share(value: str | float) -> float:
    """Read a share such as `2%` or `0.02` into a ratio. Raises ValueError."""
    if isinstance(value, str):
        number, unit = _split(value)
        if unit not in ("%", ""):
            raise ValueError(f"unknown unit in {value!r}; write a percentage such as '2%'")
        value = number / 100 if unit == "%" else number
    if isinstance(value, bool) or not math.isfinite(value):
        raise ValueError("a share is a percentage such as '2%'")
    return float(value)


def show_size(size_bytes: float) -> str:
    """`16 KiB`, `1.5 GiB`: the largest binary unit that keeps the number at or above one."""
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        if size_bytes >= _BINARY[unit]:
            return f"{size_bytes / _BINARY[unit]:.3g} {unit}"
    return f"{size_bytes:.0f} B"


def show_duration(seconds: float) -> str:
    """`850 ms`, `42 s`, `3 min 20 s`, `2 h 05 min`."""
    if seconds < 1:
        return f"{seconds * 1000:.3g} ms"
    if seconds < 10:
        return f"{seconds:.3g} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s" if rest else f"{minutes} min"
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
        return "beyond measure"
    digits = 1 if abs(percent) < 100 else 0
    text = f"{abs(percent):.{digits}f}"
    sign = "" if float(text) == 0 else "+" if percent > 0 else "−"
    return f"{sign}{text} %"
