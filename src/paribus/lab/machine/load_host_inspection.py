"""Inspection of the machines that make the load on a running server: do they reach that server?"""

import contextlib
import dataclasses
from collections.abc import Sequence

from paribus.databases import LiveServer
from paribus.errors import DatabaseError, Unreachable
from paribus.hosts import addresses
from paribus.hosts.address import machine_of
from paribus.hosts.facts import BOOT_ID_FILE
from paribus.hosts.transport import Host
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.lab.machine.connection import LOCAL
from paribus.lab.machine.server_inspection import with_credential
from paribus.model import DatabaseFacts, LoadHostFacts, RunningServer
from paribus.plan.database import DatabaseTable
from paribus.plan.needs import Needs
from paribus.trial.target_session import Site

_NETWORK_ADDRESS = "write the name or address under which both hosts reach it in the network"


def inspect_load_hosts(site: Site, needs: Needs, server: DatabaseFacts | None) -> tuple[LoadHostFacts, ...]:
    """Return the reasons why the load hosts of a site cannot load the target's server.

    Without an answer of that server the facts are empty. Raises Unreachable and HostError.
    """
    earlier: list[Host] = [site.host]
    facts = []
    for load_host in site.load_hosts:
        facts.append(_inspect(site, load_host, needs, server, tuple(_notes(earlier, load_host.host))))
        earlier.append(load_host.host)
    return tuple(facts)


def _inspect(
    site: Site, load_host: Site, needs: Needs, server: DatabaseFacts | None, notes: tuple[StoredMessage, ...]
) -> LoadHostFacts:
    database, running = needs.database, server.running if server else None
    if running is None or database is None or database.dsn is None:
        return LoadHostFacts(notes=notes)
    is_target = machine_of(load_host.host.name) == machine_of(site.host.name)
    if problem := None if is_target else _unreachable(load_host.host, running):
        return LoadHostFacts(wrong=(problem,), notes=notes)
    return dataclasses.replace(_connected(site, load_host, database, database.dsn, running), notes=notes)


def _unreachable(host: Host, server: RunningServer) -> tuple[str, str] | None:
    """Return the reason why an address names no other machine from this host, and the correction."""
    if server.socket is not None:
        return f"{host.name} cannot reach {server.address}, which is a socket of the target", _NETWORK_ADDRESS
    if addresses.is_own(host, server.host or ""):
        remedy = f"{_NETWORK_ADDRESS}; where it is the target, name it as target.host does"
        return f"{server.address} is the load host itself when {host.name} connects to it", remedy
    return None


def _connected(site: Site, load_host: Site, database: DatabaseTable, dsn: str, running: RunningServer) -> LoadHostFacts:
    """The credential on the load host, with which it reaches the same server as the target."""
    name = load_host.host.name
    try:
        server = with_credential(load_host.host, database, dsn, local=name == LOCAL)
        from_load_host = LiveServer(load_host.host, load_host.engine, database.kind, server)
        from_target = LiveServer(site.host, site.engine, database.kind, running)
        with contextlib.closing(from_load_host), contextlib.closing(from_target):
            is_same = from_load_host.instance() == from_target.instance()
    except Unreachable:
        raise
    except DatabaseError as error:
        remedy = error.todo or "let this user in from that host too, and keep its password there"
        return LoadHostFacts(wrong=((f"{name} cannot work on the server: {error.message}", remedy),))
    if not is_same:
        message = f"{running.address} is another server when {name} connects to it than from the target"
        return LoadHostFacts(wrong=((message, _NETWORK_ADDRESS),))
    return LoadHostFacts(credential=server.credential)


def _notes(others: Sequence[Host], load_host: Host) -> list[StoredMessage]:
    """A note for the report where a load host is the target, whose host comes first, or the machine of another."""
    boot = load_host.read(BOOT_ID_FILE)
    other = next((number for number, each in enumerate(others) if each.read(BOOT_ID_FILE) == boot), None)
    if other is None:
        return []
    if other:
        text = N_("the load hosts {load_host} and {other} run on one machine, and share its processors")
        return [stored_message(text, load_host=load_host.name, other=others[other].name)]
    text = N_("the load host {load_host} and the target {target} run on one machine, and share its processors")
    return [stored_message(text, load_host=load_host.name, target=others[0].name)]
