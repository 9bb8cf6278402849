"""Store of this command line in the commands that messages name, so that they work as they are printed."""

import re
import shlex

_NAMED: list[str] = []
_NAMES = r"(?:last|\d{8}-\d{6}-[0-9a-f]{4,})"
_WITHOUT_STORE = re.compile(
    rf"paribus (?:(?:resume|report|again|verify|apply|ticket|export) {_NAMES}|resume$)(?! --store)", re.MULTILINE
)


def keep_store(url: str | None) -> str | None:
    """Keep the store that the command line names, and return it."""
    _NAMED[:] = [url] if url else []
    return url


def with_store(text: str) -> str:
    """Return a text in which each command on an experiment names the store of this command line."""
    return _WITHOUT_STORE.sub(lambda match: f"{match[0]} --store {shlex.quote(_NAMED[0])}", text) if _NAMED else text
