"""Variables of a server that others use, as `paribus apply` finds them and leaves them set."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from paribus.databases import LiveServer
from paribus.errors import ParibusError
from paribus.knobs.persistent_apply import AppliedForGood, apply_for_good
from paribus.model import Plan, Settings, Value
from paribus.trial.database_session import server_text
from paribus.trial.running_server_variables import set_for_good
from paribus.trial.target_session import Site

Asked = Callable[[str, Value], tuple[Value | None, str]]
"""Of a variable and a value: the value now (that one, where it is the same), and why it cannot be set."""


@contextmanager
def variables_of(plan: Plan, site: Site) -> Iterator[Asked | None]:
    """What asks the running server of a plan; None where it has none."""
    database = plan.database
    if database is None or database.running is None:
        yield None
        return
    live = LiveServer(site.host, site.engine, database.kind, database.running)

    def asked(name: str, wanted: Value) -> tuple[Value | None, str]:
        try:
            variable = live.variables()[name]
            now, refused = live.read(name), live.may_not_set(variable)
        except KeyError:
            return None, f"{live.server.address} has no variable {name} any more"
        except ParibusError as error:
            return None, "; ".join(filter(None, (error.message, error.todo)))
        return (wanted if variable.is_same(server_text(wanted), now) else now), refused

    try:
        yield asked
    finally:
        live.close()


def leave_all(plan: Plan, site: Site, experiment: str, wanted: Settings, stopped: Callable[[], bool]) -> AppliedForGood:
    """Set what is the machine's and what is the server's under one journal, and leave all so. Raises as `leave`."""
    database, place = plan.database, (site.host, site.engine, site.catalogue, plan.target.location, experiment)
    if database is None or database.running is None:
        return apply_for_good(*place, wanted, stopped)
    theirs = {
        name: value
        for (owner, _, name), value in ((key.partition("."), value) for key, value in wanted.items())
        if owner == database.family
    }
    ours = {key: value for key, value in wanted.items() if key.partition(".")[0] != database.family}
    if not theirs:
        return apply_for_good(*place, ours, stopped)
    live = LiveServer(site.host, site.engine, database.kind, database.running)
    try:
        return apply_for_good(
            *place,
            ours,
            stopped,
            [live.server.address],
            lambda journal: set_for_good(live, journal, database.family, theirs),
        )
    finally:
        live.close()
