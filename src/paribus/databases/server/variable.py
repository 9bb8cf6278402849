"""A server's variable, and the comparison of two texts as its values."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

ValueType = Literal["bool", "int", "float", "size", "time", "enum", "set", "string"]

_NUMBER = re.compile(r"([-+]?[0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)")
_SIZES = {"": 1.0, "b": 1.0} | {
    letter + end: 1024.0**power
    for power, letter in enumerate("kmgtpe", start=1)
    for end in ("", "b", "ib")
}  # fmt: skip
_TIMES = {"": 1.0, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_COMMA = re.compile(r"\s*,\s*")
_WORDS = re.compile(r"\w+(?:\s*,\s*\w+)+")  # such as DateStyle, which PostgreSQL shows in its own spelling
_ON = ("on", "true", "yes", "1")
_OFF = ("off", "false", "no", "0")


class TakesEffect(StrEnum):
    """Moment from which a new value is in force; each is costlier than the one before."""

    LIVE = "live"
    RELOAD = "reload"  # when the configuration is read again: as good as live
    SESSION = "session"  # in connections made afterwards
    RESTART = "restart"
    REBUILD = "rebuild"  # only when the data is recreated
    NEVER = "never"  # it cannot be set


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerVariable:
    """One variable as the server itself describes it.

    `unit`: the unit of a number without one, as the default may be: `8kB`. `minimum` and `maximum` of sizes and times
    are in bytes and seconds. None: the server does not say. `synonyms`: levels that the server shows as another one.
    """

    name: str
    value: str
    default: str | None
    kind: ValueType
    takes_effect: TakesEffect
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    allowed: tuple[str, ...] = ()
    synonyms: Mapping[str, str] = field(default_factory=dict)

    def is_same(self, requested: str, observed: str) -> bool:
        """Whether both are the same value, however written; of flags, whether all requested ones hold."""
        first, second = self._canonical(requested), self._canonical(observed)
        if isinstance(first, frozenset) and isinstance(second, frozenset) and any("=" in flag for flag in second):
            return first <= second
        return first == second

    def _canonical(self, text: str) -> float | str | frozenset[str]:
        plain = text.strip().casefold()
        match self.kind:
            case "string":
                return _COMMA.sub(",", plain) if _WORDS.fullmatch(plain) else text
            case "bool":
                return _switch(plain)
            case "enum":
                level = self._level(plain)
                return self.synonyms.get(level, level)
            case "set":
                return frozenset(item.strip() for item in plain.split(",") if item.strip())
            case _:
                number = number_of(text, self.unit, time=self.kind == "time")
                return plain if number is None else number

    def _level(self, plain: str) -> str:
        levels = [level.casefold() for level in self.allowed]
        if plain in levels:
            return plain
        if "on" in levels and "off" in levels and _switch(plain) in ("on", "off"):
            return _switch(plain)
        if plain.isdecimal() and int(plain) < len(levels):
            return levels[int(plain)]  # MySQL counts them
        return plain


def _switch(plain: str) -> str:
    return "on" if plain in _ON else "off" if plain in _OFF else plain


def number_of(text: str, unit: str = "", *, time: bool = False) -> float | None:
    """A number with its unit, or else in `unit`, as bytes, seconds or plain; None where the text is no number.

    A negative number has no unit: it means off, or a choice of the server.
    """
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        return None
    factors = _TIMES if time else _SIZES
    if match[2]:
        factor = factors.get(match[2].casefold())
        return None if factor is None else float(match[1]) * factor
    scale = re.fullmatch(r"([0-9]*)([A-Za-z]*)", unit)
    if match[1].startswith("-") or scale is None or scale[2].casefold() not in factors:
        return float(match[1])
    return float(match[1]) * float(scale[1] or 1) * factors[scale[2].casefold()]
