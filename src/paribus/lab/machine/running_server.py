"""Variables of a server that others use: queries and permanent changes for `paribus apply`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from paribus.databases import LiveServer
from paribus.errors import ParibusError
from paribus.knobs.persistent_apply import AppliedForGood, apply_for_good
from paribus.model import Plan, Settings, Value
from paribus.trial.databases.database_session import server_text
from paribus.trial.databases.running_server_variables import set_for_good
from paribus.trial.target_session import Site

ServerQuery = Callable[[str, Value], tuple[Value | None, str]]
"""Of a variable and a value: the value now (that one, where it is the same), and why it cannot be set."""


@contextmanager
def server_variables(plan: Plan, site: Site) -> Iterator[ServerQuery | None]:
    """A query function for the running server of a plan; None if it has none."""
    database = plan.database
    if database is None or database.running is None:
        yield None
        return
    live = LiveServer(site.host, site.engine, database.kind, database.running)

    def query(name: str, value: Value) -> tuple[Value | None, str]:
        try:
            variable = live.variables()[name]
            now, refused = live.read(name), live.may_not_set(variable)
        except KeyError:
            return None, f"{live.server.address} has no variable {name} any more"
        except ParibusError as error:
            return None, "; ".join(filter(None, (error.message, error.todo)))
        return (value if variable.is_same(server_text(value), now) else now), refused

    try:
        yield query
    finally:
        live.close()


def apply_all_for_good(
    plan: Plan, site: Site, experiment: str, settings: Settings, stopped: Callable[[], bool]
) -> AppliedForGood:
    """Set machine knobs and server variables under one journal, permanently. Raises as `apply_for_good`."""
    database, location = plan.database, (site.host, site.engine, site.catalogue, plan.target.location, experiment)
    if database is None or database.running is None:
        return apply_for_good(*location, settings, stopped)
    server_settings = {
        name: value
        for (owner, _, name), value in ((key.partition("."), value) for key, value in settings.items())
        if owner == database.family
    }
    machine_settings = {key: value for key, value in settings.items() if key.partition(".")[0] != database.family}
    if not server_settings:
        return apply_for_good(*location, machine_settings, stopped)
    live = LiveServer(site.host, site.engine, database.kind, database.running)
    try:
        live.claim.take()
        return apply_for_good(
            *location,
            machine_settings,
            stopped,
            [live.server.address],
            lambda journal: set_for_good(live, journal, database.family, server_settings),
        )
    finally:
        live.claim.release()
        live.close()
