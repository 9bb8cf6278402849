"""Any tool's text, by regular expressions that have one group, `value`."""

import re

from paribus.parsers.report import NotUnderstood


def refusal(pattern: str) -> str:
    """Why it is no such expression; empty where it is."""
    try:
        groups = re.compile(pattern).groupindex
    except re.error as error:
        return f"is no regular expression: {error}"
    return "" if "value" in groups else "has no group (?P<value>…)"


def value(pattern: str, text: str) -> float:
    """The number of the last match, since a tool may tell of its progress first. Raises NotUnderstood."""
    found = list(re.finditer(pattern, text, re.MULTILINE))
    if not found:
        raise NotUnderstood(f"has nothing that matches {pattern}")
    words = found[-1]["value"] or ""
    try:
        return float(words.replace(",", ""))
    except ValueError:
        raise NotUnderstood(f"has {words!r} where {pattern} looks for a number") from None
