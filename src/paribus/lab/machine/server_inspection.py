"""Inspection of a plan's database server.

A private server is started, queried and removed; a server that others use is only queried.
"""

import contextlib
import dataclasses
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from paribus.databases import Instance, LiveServer, offer, state_of
from paribus.databases.server import removed_variables
from paribus.databases.server.live import MARK
from paribus.databases.server.variable import ServerVariable, TakesEffect
from paribus.errors import DatabaseError, EngineError, QueryRefused
from paribus.hosts import environment
from paribus.hosts.transport import Host
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.model import FAMILIES, TPCC_TABLES, DatabaseFacts, Offer, Refusal, RunningServer
from paribus.plan import dsn
from paribus.plan.database import DatabaseTable
from paribus.plan.needs import Needs
from paribus.trial.target_session import Site

_AT_RESTART = (TakesEffect.RESTART, TakesEffect.REBUILD)
ServerFacts = tuple[DatabaseFacts, dict[str, Offer]]


def inspect_server(
    site: Site, needs: Needs, path: str, path_refusal: Refusal | None
) -> tuple[DatabaseFacts | None, dict[str, Offer]]:
    """Facts about the database server, and its offer for each knob key; None without a server.

    `path` is the folder for data, `path_refusal` the reason why it cannot hold any. The facts state a refusal.
    """
    database = needs.database
    if database is None:
        return None, {}
    if needs.dsn_is_invalid:
        return DatabaseFacts(refusal=Refusal("the server was not asked: its address is wrong")), {}
    try:
        if database.dsn is not None:
            return _inspect_running(site, database, database.dsn, needs)
        if path_refusal is not None:
            no_folder = Refusal("the server was not asked: target.path has no place for its data")
            return DatabaseFacts(refusal=no_folder), {}
        return _inspect_private(site, database, path, needs.knob_keys)
    except DatabaseError as error:
        return DatabaseFacts(refusal=Refusal(error.message, error.todo)), {}


def _inspect_private(site: Site, database: DatabaseTable, path: str, keys: Iterable[str]) -> ServerFacts:
    folder = f"{path.rstrip('/')}/paribus-asking-{secrets.token_hex(4)}"
    instance = Instance(site.host, site.engine, folder, database.kind, program=database.program or "")
    with temporary_server(instance, database.ready):
        variables = instance.variables()
        instance.stop()
        empty_bytes, copy = instance.size_bytes(), instance.try_copy()
    facts, offers = _described(database.kind, instance.program.version, variables, keys)
    rate = copy.size_bytes / max(copy.duration_s, 1e-3)
    return dataclasses.replace(facts, empty_bytes=empty_bytes, copy_bytes_per_s=rate, reflink=copy.reflink), offers


@contextlib.contextmanager
def temporary_server(instance: Instance, within_s: float) -> Iterator[None]:
    """Create and start a private server, and remove it when the context ends. Raises DatabaseError."""
    try:
        instance.create()
        instance.start(within_s=within_s)
        yield
    finally:
        instance.remove()


def _described(kind: str, version: str, variables: Mapping[str, ServerVariable], keys: Iterable[str]) -> ServerFacts:
    """Facts with all variables as knobs, and an offer for each key that is a variable."""
    family, name = FAMILIES[kind], f"{kind} {version}"
    all_offers = (offer(family, name, variable) for variable in variables.values())
    offers = {each.knob.name: each for each in all_offers}
    family_keys = {key for key in keys if key.startswith(f"{family}.")}
    unknown = [key.partition(".")[2] for key in family_keys - offers.keys()]
    facts = DatabaseFacts(
        name=name,
        rows=tuple(each.knob for each in offers.values()),
        in_force={name.partition(".")[2]: each.current for name, each in offers.items() if each.current is not None},
        built_in=tuple(
            variable.name for variable in variables.values() if variable.takes_effect is TakesEffect.REBUILD
        ),
        explained={
            variable: text for variable in unknown if (text := removed_variables.explain(kind, version, variable))
        },
    )
    return facts, {key: offers[key] for key in family_keys & offers.keys()}


def _inspect_running(site: Site, database: DatabaseTable, address: str, needs: Needs) -> ServerFacts:
    server = with_credential(site.host, database, address, local=needs.is_local)
    live = LiveServer(site.host, site.engine, database.kind, server)
    try:
        name = live.name()
        variables = live.variables()
        facts, offers = _described(database.kind, name.partition(" ")[2], variables, needs.knob_keys)
        undoable = {key: _undoable(live, variables[key.partition(".")[2]], offered) for key, offered in offers.items()}
        wrong = _wrong(live) if needs.makes_databases else []
        notes, is_remote = _notes(live, site.host), not live.is_on_target
        warehouses, unusable = _existing(live, database)
    finally:
        live.close()
    facts = dataclasses.replace(
        facts,
        running=server,
        is_remote=is_remote,
        warehouses=warehouses,
        unusable=unusable,
        wrong=tuple(wrong),
        notes=tuple(notes),
    )
    return facts, undoable


def _existing(live: LiveServer, database: DatabaseTable) -> tuple[dict[str, int], dict[str, str]]:
    """Warehouses of each database that may be changed, and the reason why another has no TPC-C."""
    warehouses: dict[str, int] = {}
    unusable: dict[str, str] = {}
    for name in database.may_write:
        try:
            with live.inside(name) as ask:
                quoted = state_of(database.kind).tables(ask)
                tables = {table.rpartition(".")[2].strip('`"') for table in quoted}
                if missing := sorted({*TPCC_TABLES} - tables):
                    unusable[name] = f"it has no table {', '.join(missing)}"
                    continue
                (count,) = ask("SELECT COUNT(*) FROM warehouse").rows[0]
                warehouses[name] = int(count or 0)
        except (EngineError, QueryRefused) as error:
            unusable[name] = error.message
    return warehouses, unusable


def with_credential(host: Host, database: DatabaseTable, address: str, *, local: bool) -> RunningServer:
    """The running server with the location of its password on a host. Raises DatabaseError."""
    server = dsn.parse(address)
    credential = _credential(host, database, server, local=local)
    return dataclasses.replace(server, prefix=database.schema_, credential=credential)


def _credential(host: Host, database: DatabaseTable, server: RunningServer, *, local: bool) -> dict[str, str] | None:
    """Location of the password: as the plan names it, else the first usual one that exists; None for none."""
    if database.password_env is not None:
        if not local:
            message = f"the password is looked for on {host.name}, which does not have this program's environment"
            raise DatabaseError(message, "name a file there: password_file")
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


def _undoable(live: LiveServer, variable: ServerVariable, offered: Offer) -> Offer:
    """The offer with its undo, or with the reason why the variable cannot change on a server that others use."""
    if offered.refused:
        return offered
    if variable.takes_effect in _AT_RESTART:
        reason = (
            f"{variable.name} takes effect only when the server is started again, which {live.server.address} is not"
        )
        return dataclasses.replace(
            offered, refused=reason, todo="leave out the dsn: a private server is started for each of its values"
        )
    if refusal := live.may_not_set(variable):
        todo = "grant this user that right, connect as another user, or remove the variable from the plan"
        return dataclasses.replace(
            offered, refused=f"{live.server.address} does not let {variable.name} be set: {refusal}", todo=todo
        )
    return dataclasses.replace(offered, undo=(live.way_back(variable)[1],))


def _wrong(live: LiveServer) -> list[tuple[str, str]]:
    """Reasons that forbid work on a running server, each with its remedy."""
    prefix = live.server.prefix
    problems = []
    if refusal := live.may_not_make():
        remedy = f"give this user all rights on databases whose names begin with {prefix}_, or connect as another"
        problems.append((f"{live.server.address} does not let databases {prefix}_… be made: {refusal}", remedy))
    for name in live.databases():
        remedy = f"where it was {MARK}that was cut off, run `paribus undo` there; else set another schema"
        problems.append((f"{live.server.address} has a database {name} already", remedy))
    return problems


def _notes(live: LiveServer, host: Host) -> list[StoredMessage]:
    """Notes on a running server for the report."""
    address = live.server.address
    shared = N_("{server} is in use by others: their work adds to the noise and to the server's counters")
    notes = [stored_message(shared, server=address)]
    if not live.is_on_target:
        elsewhere = N_(
            "{server} runs on another machine than the target ({host}), which alone is monitored: the report shows"
            " no processor, disk or memory of the server's machine"
        )
        notes.append(stored_message(elsewhere, server=address, host=host.name))
    elif live.process() is None:
        message = N_(
            "no process of {server} was found on {host}: if the server runs there, it counts as other"
            " load; if not, the monitored machine is not the server's"
        )
        notes.append(stored_message(message, server=address, host=host.name))
    return notes + live.notes()
