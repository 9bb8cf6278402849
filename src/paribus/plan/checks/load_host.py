"""Check of the table [load]: other machines than the target make the load on a running server."""

import itertools
from collections.abc import Iterator, Mapping

from paribus.knobs.catalog import LOAD, Catalogue
from paribus.model import Facts, LoadHost, LoadHostFacts, shared_out
from paribus.plan.form.file import LoadTable, PlanTable
from paribus.plan.form.key_paths import KeyPath
from paribus.plan.form.parse import Parsed
from paribus.plan.workloads import fewest_connections, kind_of, name_of

Complaint = tuple[KeyPath, str, str]
_HOST: KeyPath = ("load", "host")
_HOSTS: KeyPath = ("load", "hosts")
_GROUP = "cgroup."


def separate_load(table: PlanTable) -> LoadTable | None:
    """Returns the table [load] if it names another machine than the target."""
    load, target = table.load, table.target
    if load is None:
        return None
    addresses = [address.rstrip("/") for address in load.addresses]
    return None if (addresses, load.become) == ([target.host.rstrip("/")], target.become) else load


def load_hosts_of(table: PlanTable, facts: Facts) -> tuple[LoadHost, ...]:
    """Returns the machines that make the load; none if that is the target."""
    load = separate_load(table)
    if load is None:
        return ()
    of_hosts = facts.load_hosts or (LoadHostFacts(),) * len(load.addresses)
    return tuple(
        LoadHost(address=address, become=load.become, weight=weight, credential=each.credential)
        for address, weight, each in zip(load.addresses, _weights(load), of_hosts, strict=True)
    )


def _weights(load: LoadTable) -> list[int]:
    return load.weights or [1] * len(load.addresses)


def complaints(
    parsed: Parsed, catalogue: Catalogue, facts: Facts, keys: list[tuple[KeyPath, str]]
) -> Iterator[Complaint]:
    """Yields the place, the problem and its correction for all that a separate load host does not allow.

    `keys`: every setting of the plan with its place.
    """
    table = parsed.table
    load = separate_load(table)
    if load is None:
        return
    weights = _weights(load)
    name, place = ", ".join(load.addresses), _HOST if load.host else _HOSTS
    database = parsed.document.get("database")
    if not isinstance(database, Mapping) or "dsn" not in database:
        message = "a load host makes the load on a running server, and the plan names none"
        yield place, message, 'name it, as [database] dsn = "mysql://user@host/", or remove [load]'
    for number, workload in enumerate(table.workload):
        if not kind_of(workload).on_database:
            message = f"{name_of(workload)} is made on the target, where its files are, and not by {name}"
            yield ("workload", number, "kind"), message, "remove this workload, or remove [load]"
        elif 0 in shared_out(fewest := fewest_connections(workload), weights):
            least = next(n for n in itertools.count(fewest) if 0 not in shared_out(n, weights))
            message = f"threads = {fewest} leaves one of {len(weights)} load hosts without a connection"
            yield ("workload", number, "threads"), message, f"write at least {least}"
    server = facts.database
    if server is not None and server.running is not None and server.is_remote:
        message = f"the server {server.running.address} does not run on {facts.hostname}, which is the target"
        yield ("target", "host"), message, "with [load], set target.host to the server's host"
    for key_path, key in keys:
        knob = catalogue.find(key)
        if knob is not None and knob.subject == LOAD and knob.name.startswith(_GROUP):
            message = f"{knob.name} needs a control group on {name}, and nothing is changed on a load host"
            yield key_path, message, "remove it; process.load.cpus limits the processors of the load"
    for message, hint in (wrong for each in facts.load_hosts for wrong in each.wrong):
        yield place, message, hint
