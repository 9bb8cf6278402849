"""Passwords in echoed command lines and settings, taken out before anything is kept."""

import re

HIDDEN = "***"


def redact(text: str) -> str:
    """The text with every password in it replaced; its lines stay where they are."""
    return re.sub(r"(?i)(password\s*[=:]\s*)\S+", rf"\g<1>{HIDDEN}", text)
