"""Start failures of a server: its log, unknown settings, and known facts about them."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from paribus.databases.server.kind import DatabaseKind, Program
from paribus.databases.server.removed_variables import explain
from paribus.databases.server.state import Ask
from paribus.errors import QueryRefused, ServerWouldNotStart

_LAST = 3
_DENIED = ("Permission denied", "Errcode: 13", "OS error: 13")


def log_excerpt(kind: DatabaseKind, log: Sequence[str]) -> list[str]:
    """The lines of a log that explain a failure, else its last ones."""
    return kind.complaints(log) or [line.strip() for line in log[-_LAST:]]


def would_not_start(
    kind: DatabaseKind, program: Program, settings: Mapping[str, str], failure: str, log: Sequence[str]
) -> ServerWouldNotStart:
    """The error for a server that ended or was not ready, started with `settings`; `log`: the end of its log."""
    settings_text = ", ".join(f"{name} = {value}" for name, value in settings.items()) or "its defaults"
    reason = "; ".join(filter(None, [failure, *log_excerpt(kind, log)])) or "it said nothing"
    todo = "; ".join(filter(None, (explain(kind.name, program.version, name) for name in settings)))
    if not todo and any(sign in line for line in log for sign in _DENIED):
        todo = "see whether AppArmor or SELinux keeps the server to its usual folders"
    message = f"{kind.name} {program.version} would not start with {settings_text}: {reason}"
    return ServerWouldNotStart(message, todo or "correct the setting, or remove it", log)


def effective_values(
    kind: DatabaseKind, program: Program, query: Ask, names: Iterable[str], tested: Collection[str]
) -> dict[str, str]:
    """The values of the `tested` variables in a started server, which may ignore a name that it accepts.

    Raises ServerWouldNotStart for a tested or removed variable among `names` that the server does not know.
    """
    values = {}
    for name in names:
        try:
            values[name] = kind.read(query, name)
        except QueryRefused as error:
            explanation = explain(kind.name, program.version, name)
            if name in tested or explanation:
                message = f"{kind.name} {program.version} has no variable {name}: {error.words}"
                raise ServerWouldNotStart(
                    message, explanation or "remove it from the plan: its value in force cannot be verified"
                ) from error
    return {name: values[name] for name in tested}
