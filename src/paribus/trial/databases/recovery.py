"""A crash of a private server at the end of a trial: how long it takes to start again, and what it has lost.

In: the running server, and how to start it with the trial's settings. Out: measurements. Called by the private servers.
"""

import time
from collections.abc import Callable

from paribus.databases import Instance
from paribus.model import Measurement

COMMITTING_S = 1.0  # the usual interval of a server that writes its log once a second
_PHASE, _SOURCE = "measure", "crash"


def crash(instance: Instance, database: str, start: Callable[[], None]) -> tuple[Measurement, ...]:
    """Kill the server right after a second of commits, start it, and count the commits that it still has.

    Each commit was acknowledged before the next began. Raises DatabaseError where it does not start again.
    """
    acknowledged = _commit(instance, database)
    began = time.monotonic()
    start()
    took_s = time.monotonic() - began
    with instance.inside(database) as ask:
        [[count]] = ask("SELECT COUNT(*) FROM paribus_ledger").rows
        ask("DROP TABLE paribus_ledger")
    values = [
        ("recovery_s", "s", took_s),
        ("acknowledged_commits", "", float(acknowledged)),
        ("lost_commits", "", float(acknowledged - int(count or 0))),
    ]
    return tuple(Measurement.of_value(name, unit, value, _PHASE, _SOURCE) for name, unit, value in values)


def _commit(instance: Instance, database: str) -> int:
    """Commit rows one by one, then kill the server; the number that it acknowledged."""
    acknowledged = 0
    with instance.inside(database) as ask:
        ask("DROP TABLE IF EXISTS paribus_ledger")  # of a trial that failed
        ask("CREATE TABLE paribus_ledger (id BIGINT PRIMARY KEY)")
        deadline = time.monotonic() + COMMITTING_S
        while time.monotonic() < deadline:
            ask(f"INSERT INTO paribus_ledger VALUES ({acknowledged})")  # noqa: S608  a number
            acknowledged += 1
        instance.kill()
    return acknowledged
