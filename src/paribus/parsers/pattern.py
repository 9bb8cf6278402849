"""Values from any tool's text, by regular expressions with the named group `value`."""

import re

from paribus.parsers.report import NotUnderstood


def refusal(pattern: str) -> str:
    """Explain why a pattern is invalid; empty for a valid one."""
    try:
        groups = re.compile(pattern).groupindex
    except re.error as error:
        return f"is no regular expression: {error}"
    return "" if "value" in groups else "has no group (?P<value>…)"


def value(pattern: str, text: str) -> float:
    """Return the number of the last match, since a tool may print progress first. Raises NotUnderstood."""
    matches = list(re.finditer(pattern, text, re.MULTILINE))
    if not matches:
        raise NotUnderstood(f"has nothing that matches {pattern}")
    token = matches[-1]["value"] or ""
    try:
        return float(token.replace(",", ""))
    except ValueError:
        raise NotUnderstood(f"has {token!r} where {pattern} looks for a number") from None
