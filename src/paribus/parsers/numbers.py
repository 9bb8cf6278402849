"""Numbers as tools print them: what is not surely a number is none."""

import math
import re

_PLAIN = re.compile(r"[+-]?[0-9]{1,300}(?:\.[0-9]{1,300})?(?:[eE][+-]?[0-9]{1,3})?")
_COMMA = re.compile(r"[+-]?[0-9]{1,300},[0-9]{1,300}")


def number(word: str) -> float | None:
    """A finite decimal number with a point, or None: also for nan, inf and what is too large for a float."""
    if not _PLAIN.fullmatch(word):
        return None
    value = float(word)
    return value if math.isfinite(value) else None


def printed(word: str) -> float | None:
    """A number as a tool prints it in whatever locale: thousands are never grouped, so a comma is the decimal's."""
    return number(word.replace(",", ".")) if _COMMA.fullmatch(word) else number(word)


def decimals(word: str) -> int:
    """How many digits stand behind the decimal sign."""
    return len(word) - 1 - max(word.rfind("."), word.rfind(",")) if "." in word or "," in word else 0
