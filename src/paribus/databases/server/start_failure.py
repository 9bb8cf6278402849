"""Why a server would not start, in its own words and with what is known of the settings."""

from collections.abc import Mapping, Sequence

from paribus.databases.server.kind import Kind, Program
from paribus.databases.server.removed_variables import explain
from paribus.errors import ServerWouldNotStart

_LAST = 3
_DENIED = ("Permission denied", "Errcode: 13", "OS error: 13")


def said(kind: Kind, words: Sequence[str]) -> list[str]:
    """The lines of a log that tell what is wrong, else its last ones."""
    return kind.complaints(words) or [line.strip() for line in words[-_LAST:]]


def would_not_start(
    kind: Kind, program: Program, settings: Mapping[str, str], what: str, words: Sequence[str]
) -> ServerWouldNotStart:
    """The error for a server that ended or was not ready, started with `settings`; `words` is the end of its log."""
    given = ", ".join(f"{name} = {value}" for name, value in settings.items()) or "its defaults"
    told = "; ".join(filter(None, [what, *said(kind, words)])) or "it said nothing"
    todo = "; ".join(filter(None, (explain(kind.name, program.version, name) for name in settings)))
    if not todo and any(sign in line for line in words for sign in _DENIED):
        todo = "see whether AppArmor or SELinux keeps the server to its usual folders"
    message = f"{kind.name} {program.version} would not start with {given}: {told}"
    return ServerWouldNotStart(message, todo or "correct the setting, or take it out", words)
