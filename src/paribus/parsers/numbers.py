"""Strict parsing of printed numbers; an ambiguous number is None."""

import math
import re

_PLAIN = re.compile(r"[+-]?[0-9]{1,300}(?:\.[0-9]{1,300})?(?:[eE][+-]?[0-9]{1,3})?")
_COMMA = re.compile(r"[+-]?[0-9]{1,300},[0-9]{1,300}")


def number(word: str) -> float | None:
    """Return a finite decimal number, or None; nan, inf and float overflow are None."""
    if not _PLAIN.fullmatch(word):
        return None
    value = float(word)
    return value if math.isfinite(value) else None


def printed(word: str) -> float | None:
    """Return a number printed in any locale; a comma is the decimal separator, since tools never group thousands."""
    return number(word.replace(",", ".")) if _COMMA.fullmatch(word) else number(word)


def decimals(word: str) -> int:
    """Count the digits after the decimal separator."""
    return len(word) - 1 - max(word.rfind("."), word.rfind(",")) if "." in word or "," in word else 0
