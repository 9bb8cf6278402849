"""A crash of a private server at the end of a trial: how long it takes to start again, and what it has lost.

In: the running server, and how to start it with the trial's settings. Out: measurements. Called by the private servers.
"""

import time
from collections.abc import Callable
from typing import Protocol

from paribus.databases import Instance
from paribus.errors import DatabaseError, EngineError, QueryRefused, ServerWouldNotStart
from paribus.model import Measurement

COMMITTING_S = 1.0  # the usual interval of a server that writes its log once a second
_PHASE, _SOURCE = "measure", "crash"


class Mount(Protocol):
    """A file system of ours that the server's data lies on."""

    def sync(self) -> None:
        """Have it write what it was given so far."""

    def cut_off(self) -> None:
        """Have it lose what it has not written, as at a power cut."""

    def mount_again(self) -> None:
        """Mount it again, which repairs it from its log."""


def crash(
    instance: Instance, database: str, start: Callable[[], None], mount: Mount | None = None
) -> tuple[Measurement, ...]:
    """Kill the server right after a second of commits, start it, and count the commits that it still has.

    Each commit was acknowledged before the next began. With a `mount`, what was not written in that second is lost
    too. A server that a power cut has spoilt, so that it does not start or finds its tables damaged, has lost all
    commits; `power_cut_spoilt` is 1 then, and its data must not be used any more. Raises DatabaseError where it does
    not start again after it alone was killed, HostError and EngineError.
    """
    if mount is not None:
        mount.sync()
    acknowledged = _commit(instance, database, mount)
    began = time.monotonic()
    values = []
    if mount is not None:
        mount.mount_again()
        values.append(("remount_s", "s", time.monotonic() - began))
    try:
        start()
        values.append(("recovery_s", "s", time.monotonic() - began))
        is_spoilt, commits = False, _counted(instance, database, is_cut=mount is not None)
    except ServerWouldNotStart:
        if mount is None:
            raise
        is_spoilt, commits = True, 0
    if mount is not None:
        is_spoilt = is_spoilt or _is_damaged(instance, database)
        values.append(("power_cut_spoilt", "", float(is_spoilt)))
    values += [
        ("acknowledged_commits", "", float(acknowledged)),
        ("lost_commits", "", float(acknowledged if is_spoilt else acknowledged - commits)),
    ]
    return tuple(Measurement.of_value(name, unit, value, _PHASE, _SOURCE) for name, unit, value in values)


def _counted(instance: Instance, database: str, *, is_cut: bool) -> int:
    """The commits that the server still has; none where a power cut has taken their table."""
    with instance.inside(database) as ask:
        try:
            [[count]] = ask("SELECT COUNT(*) FROM paribus_ledger").rows
        except QueryRefused:
            if not is_cut:
                raise
            count = None
        ask("DROP TABLE IF EXISTS paribus_ledger")
    return int(count or 0)


def _is_damaged(instance: Instance, database: str) -> bool:
    """Whether the server finds its tables damaged, or ends when it looks at them."""
    try:
        with instance.inside(database) as ask:
            return bool(instance.state.damage(ask))
    except (DatabaseError, EngineError):
        return True


def _commit(instance: Instance, database: str, mount: Mount | None) -> int:
    """Commit rows one by one, then cut off the file system and kill the server; the number that it acknowledged."""
    acknowledged = 0
    with instance.inside(database) as ask:
        ask("DROP TABLE IF EXISTS paribus_ledger")  # of a trial that failed
        ask("CREATE TABLE paribus_ledger (id BIGINT PRIMARY KEY)")
        deadline = time.monotonic() + COMMITTING_S
        while time.monotonic() < deadline:
            ask(f"INSERT INTO paribus_ledger VALUES ({acknowledged})")  # noqa: S608  a number
            acknowledged += 1
        if mount is not None:
            mount.cut_off()
        instance.kill()
    return acknowledged
