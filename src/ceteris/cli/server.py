"""What a plan's database server says of itself: a private one is started for that, asked, and removed again."""

import secrets
from collections.abc import Iterable

from ceteris.databases import Instance, gone, offer
from ceteris.databases.variable import TakesEffect
from ceteris.errors import DatabaseError
from ceteris.model import FAMILIES, DatabaseFacts, Offer
from ceteris.plan.file import PlanTable
from ceteris.trial.bench import Site


def ask_server(
    site: Site, table: PlanTable, path: str, keys: Iterable[str]
) -> tuple[DatabaseFacts | None, dict[str, Offer]]:
    """The server's own description, and what it offers for each of the keys; nothing where no server is asked for.

    Why there is no server is part of the answer.
    """
    database = table.database
    if database is None or database.kind == "sqlite":
        return None, {}
    family = FAMILIES[database.kind]
    folder = f"{path.rstrip('/')}/ceteris-asking-{secrets.token_hex(4)}"
    try:
        instance = Instance(site.host, site.engine, folder, database.kind, program=database.program or "")
        try:
            instance.create()
            instance.start(within_s=database.ready)
            variables = instance.variables()
        finally:
            instance.remove()
    except DatabaseError as error:
        return DatabaseFacts(refused=str(error)), {}
    name = f"{database.kind} {instance.program.version}"
    offers = {one.knob.name: one for one in (offer(family, name, variable) for variable in variables.values())}
    wanted = {key for key in keys if key.startswith(f"{family}.")}
    unknown = [key.partition(".")[2] for key in wanted - offers.keys()]
    facts = DatabaseFacts(
        name=name,
        rows=tuple(one.knob for one in offers.values()),
        built_in=tuple(one.name for one in variables.values() if one.takes_effect is TakesEffect.REBUILD),
        explained={
            one: words for one in unknown if (words := gone.explain(database.kind, instance.program.version, one))
        },
    )
    return facts, {key: offers[key] for key in wanted & offers.keys()}
