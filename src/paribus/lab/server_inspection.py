"""What a plan's database server says of itself.

A private one is started for that, asked, and removed again; one that others use is asked, and nothing of it changed.
"""

import contextlib
import dataclasses
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from paribus.databases import Instance, Live, offer
from paribus.databases.server import removed_variables
from paribus.databases.server.live import MARK
from paribus.databases.server.variable import TakesEffect, Variable
from paribus.errors import DatabaseError
from paribus.hosts import environment
from paribus.hosts.transport import Host
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.model import FAMILIES, DatabaseFacts, Offer, RunningServer
from paribus.plan import dsn
from paribus.plan.database import DatabaseTable
from paribus.plan.parse import Parsed
from paribus.trial.target_session import Site

_AT_A_START = (TakesEffect.RESTART, TakesEffect.REBUILD)
Answer = tuple[DatabaseFacts, dict[str, Offer]]


def ask_server(
    site: Site, parsed: Parsed, path: str, path_refused: str, keys: Iterable[str]
) -> tuple[DatabaseFacts | None, dict[str, Offer]]:
    """The server's own description, and what it offers for each of the keys; nothing where no server is asked for.

    Why there is no server is part of the answer.
    """
    database = parsed.table.database
    if database is None or database.kind == "sqlite":
        return None, {}
    given = parsed.given.get("database")
    if database.dsn is None and isinstance(given, dict) and "dsn" in given:
        return DatabaseFacts(refused="the server was not asked: its address is wrong"), {}
    try:
        if database.dsn is not None:
            return _ask_running(site, database, database.dsn, local=parsed.table.target.host == "local", keys=keys)
        if path_refused:
            return DatabaseFacts(refused="the server was not asked: target.path has no place for its data"), {}
        return _ask_private(site, database, path, keys)
    except DatabaseError as error:
        return DatabaseFacts(refused=str(error)), {}


def _ask_private(site: Site, database: DatabaseTable, path: str, keys: Iterable[str]) -> Answer:
    folder = f"{path.rstrip('/')}/paribus-asking-{secrets.token_hex(4)}"
    instance = Instance(site.host, site.engine, folder, database.kind, program=database.program or "")
    with briefly(instance, database.ready):
        variables = instance.variables()
        instance.stop()
        empty_bytes, copy = instance.size_bytes(), instance.try_copy()
    facts, offers = _described(database.kind, instance.program.version, variables, keys)
    rate = copy.size_bytes / max(copy.duration_s, 1e-3)
    found = dataclasses.replace(facts, empty_bytes=empty_bytes, copy_bytes_per_s=rate, reflink=copy.reflink)
    return found, offers


@contextlib.contextmanager
def briefly(instance: Instance, within_s: float) -> Iterator[None]:
    """A server that is made, started and removed again. Raises DatabaseError."""
    try:
        instance.create()
        instance.start(within_s=within_s)
        yield
    finally:
        instance.remove()


def _described(kind: str, version: str, variables: Mapping[str, Variable], keys: Iterable[str]) -> Answer:
    """Variables as rows, and those of the keys as offers."""
    family, name = FAMILIES[kind], f"{kind} {version}"
    offers = {one.knob.name: one for one in (offer(family, name, variable) for variable in variables.values())}
    wanted = {key for key in keys if key.startswith(f"{family}.")}
    unknown = [key.partition(".")[2] for key in wanted - offers.keys()]
    facts = DatabaseFacts(
        name=name,
        rows=tuple(one.knob for one in offers.values()),
        built_in=tuple(one.name for one in variables.values() if one.takes_effect is TakesEffect.REBUILD),
        explained={one: words for one in unknown if (words := removed_variables.explain(kind, version, one))},
    )
    return facts, {key: offers[key] for key in wanted & offers.keys()}


def _ask_running(site: Site, database: DatabaseTable, address: str, *, local: bool, keys: Iterable[str]) -> Answer:
    server = _reached(site.host, database, address, local=local)
    live = Live(site.host, site.engine, database.kind, server)
    try:
        name = live.name()
        variables = live.variables()
        facts, offers = _described(database.kind, name.partition(" ")[2], variables, keys)
        possible = {key: _possible(live, variables[key.partition(".")[2]], one) for key, one in offers.items()}
        wrong, notes = _wrong(live), _notes(live, site.host)
    finally:
        live.close()
    return dataclasses.replace(facts, running=server, wrong=tuple(wrong), notes=tuple(notes)), possible


def _reached(host: Host, database: DatabaseTable, address: str, *, local: bool) -> RunningServer:
    """The server with where its password is kept. Raises DatabaseError."""
    server = dsn.parse(address)
    credential = _credential(host, database, server, local=local)
    return dataclasses.replace(server, prefix=database.schema_, credential=credential)


def _credential(host: Host, database: DatabaseTable, server: RunningServer, *, local: bool) -> dict[str, str] | None:
    """The place that is named, else the first of the usual ones; it is looked into where the connection is made."""
    if database.password_env is not None:
        if not local:
            wrong = "the password is looked for on the target, which has not this program's environment"
            raise DatabaseError(wrong, "name a file there: password_file")
        return {"env": database.password_env}
    if database.password_file is not None:
        return {"file": database.password_file}
    variable = "MYSQL_PWD" if server.protocol == "mysql" else "PGPASSWORD"
    if local and environment.has(variable):
        return {"env": variable}
    home = host.run(["sh", "-c", 'printf %s "$HOME"']).stdout
    kind, path = ("option_file", f"{home}/.my.cnf") if server.protocol == "mysql" else ("pass_file", f"{home}/.pgpass")
    if server.protocol == "postgres" and local:
        path = str(Path(os.environ.get("PGPASSFILE", path)).absolute())
    return {kind: path} if host.run(["test", "-e", path]).exit_code == 0 else None


def _possible(live: Live, variable: Variable, one: Offer) -> Offer:
    """The offer with its way back, or with why a variable cannot be changed on a server that others use."""
    if one.refused:
        return one
    if variable.takes_effect in _AT_A_START:
        wrong = (
            f"{variable.name} takes effect only when the server is started again, which {live.server.address} is not"
        )
        return dataclasses.replace(
            one, refused=wrong, todo="leave out the dsn: a private server is started for each of its values"
        )
    if words := live.may_not_set(variable):
        todo = "give this user the right to, connect as another, or take it out"
        return dataclasses.replace(
            one, refused=f"{live.server.address} does not let {variable.name} be set: {words}", todo=todo
        )
    return dataclasses.replace(one, undo=(live.way_back(variable)[1],))


def _wrong(live: Live) -> list[tuple[str, str]]:
    """What forbids to work on it, each with what would be right."""
    prefix = live.server.prefix
    found = []
    if words := live.may_not_make():
        right = f"give this user all rights on databases whose names begin with {prefix}_, or connect as another"
        found.append((f"{live.server.address} does not let databases {prefix}_… be made: {words}", right))
    for name in live.databases():
        right = f"where it was {MARK}that was cut off, run `paribus undo` there; else set another schema"
        found.append((f"{live.server.address} has a database {name} already", right))
    return found


def _notes(live: Live, host: Host) -> list[StoredMessage]:
    """What a reader must know of it."""
    place = live.server.address
    shared = N_("{server} is in use by others: what they do there is part of the noise, and of what the server counts")
    found = [stored_message(shared, server=place)]
    if live.process() is None:
        said = N_(
            "the process of {server} was not found on {host}: if it runs there, it is taken for other load; "
            "if not, the machine that is watched is not the server's"
        )
        found.append(stored_message(said, server=place, host=host.name))
    return found + live.notes()
