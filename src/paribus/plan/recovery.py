"""Crashes of the private server in a plan: what forbids them. The check of a plan calls this."""

from collections.abc import Iterator

from paribus.model import KILL_SERVER
from paribus.plan.form.key_paths import KeyPath
from paribus.plan.form.parse import Parsed
from paribus.plan.workloads import works_on_database


def complaints(parsed: Parsed) -> Iterator[tuple[KeyPath, str, str]]:
    """Yields every reason against crashes."""
    table, database = parsed.table, parsed.table.database
    if not table.protocol.recovery:
        return
    place = ("protocol", "recovery")
    if any(event.do == KILL_SERVER for event in table.event):
        yield place, "the server is also killed by an event", "keep one of both"
    if database is None or database.kind == "sqlite" or not any(map(works_on_database, table.workload)):
        yield place, "no workload is on a server that could be killed", "add [database] and a workload on it"
    elif database.dsn is not None:
        yield place, "a server that others use is not killed", "let Paribus start a private server: remove dsn"
