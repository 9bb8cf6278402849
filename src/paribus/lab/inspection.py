"""The machine under test: its connection, and the facts that a plan is checked against."""

import contextlib
from collections.abc import Callable, Iterator

from paribus import workloads as _workloads  # noqa: F401  registers the kinds that a plan may name
from paribus.engine import find
from paribus.engine.protocol import Directory
from paribus.engine.run import probe
from paribus.errors import EngineError, HostError, PlanError
from paribus.hosts import environment
from paribus.hosts import facts as hosts_facts
from paribus.hosts.devices import block_device
from paribus.hosts.local import LocalHost
from paribus.hosts.mounts import mount_of
from paribus.hosts.ssh import SshHost
from paribus.hosts.transport import described
from paribus.knobs import catalog, discovery
from paribus.knobs.journals import not_inspected
from paribus.lab.server_inspection import ask_server
from paribus.model import Facts, Location, Plan
from paribus.plan.check import check, knob_keys
from paribus.plan.comparisons import every_setting
from paribus.plan.data import loaded_device, named_devices
from paribus.plan.parse import Parsed
from paribus.plan.workloads import name_of, program_of
from paribus.trial.target_session import Site
from paribus.trial.tool_check import refusals

LOCAL = "local"
Report = Callable[[str], None]
"""Receiver of a line of text for a person."""


def discard(_line: str) -> None:
    """Ignore a line of text."""


@contextlib.contextmanager
def site(address: str = LOCAL, *, become: bool = False, report: Report = discard) -> Iterator[Site]:
    """Connect to a machine: `local`, or `ssh://[user@]host[:port]`; disconnect when the context ends.

    `report` receives lines about the connection. Raises EngineError when the engine is not installed here, UsageError
    and HostError where there is no such machine.
    """
    engine = find.binary()
    if address == LOCAL:
        yield Site(LocalHost(), engine, catalog.load())
        return
    host = SshHost(address, engine, become=become, report=report)
    try:
        yield Site(host, host.engine, catalog.load())
    finally:
        host.close()


@contextlib.contextmanager
def inspected_site(address: str = LOCAL, *, become: bool = False, report: Report = discard) -> Iterator[Site]:
    """Connect as `site` does, to read journals; raises NotInspected (exit code 4) where the connection fails."""
    try:
        with site(address, become=become, report=report) as connected:
            yield connected
    except (HostError, EngineError) as error:
        raise not_inspected(address, error.message, error.todo) from error


@contextlib.contextmanager
def site_of(parsed: Parsed, report: Report = discard) -> Iterator[Site]:
    """Connect to the machine under test of a parsed plan. Raises as `site`."""
    table, database = parsed.table.target, parsed.table.database
    variables = filter(None, [database.password_env if database else None])
    with environment.withheld(*variables), site(table.host, become=table.become, report=report) as connected:
        yield connected


@contextlib.contextmanager
def site_of_plan(plan: Plan, report: Report = discard) -> Iterator[Site]:
    """Connect to the machine under test of a checked plan. Raises as `site`."""
    running = plan.database.running if plan.database else None
    variables = filter(None, [running.variable if running else None])
    target = plan.target
    with environment.withheld(*variables), site(target.address, become=target.become, report=report) as connected:
        yield connected


def fingerprint(site: Site, path: str, device: str | None) -> dict[str, str]:
    """What identifies the machine, and the file system and the disk under test."""
    disk = hosts_facts.device_fingerprint(site.host, device) if device else {}
    try:
        kind = {"filesystem": mount_of(site.host, path).filesystem}
    except HostError:  # the folder is not there any more
        kind = {}
    return hosts_facts.fingerprint(site.host) | kind | disk


def look(site: Site, parsed: Parsed) -> Facts:
    """What the machine offers for a plan; what it refuses is part of the answer. Changes nothing."""
    table = parsed.table.target
    seen = probe(site.host, site.engine, table.path)
    path_device, device, refused = None, None, ""
    try:
        path_device = device = hosts_facts.whole_disk(site.host, seen.directory.major_minor)
    except HostError as error:
        refused = str(error)
    asked = table.device or loaded_device(parsed.table)
    if asked:
        try:
            device, refused = hosts_facts.whole_disk(site.host, asked), ""
        except HostError as error:
            device, refused = None, str(error)
    root = seen.uid == 0
    path_refused = _refusal(seen.directory)
    mount = mount_of(site.host, seen.directory.path).point
    named = named_devices(parsed.table)
    tools = {program for one in parsed.table.workload if (program := program_of(one))}
    keys = knob_keys(parsed)
    offers = discovery.offers(site.host, site.catalogue, keys, Location(device, mount), root=root)
    database, of_the_server = ask_server(site, parsed, seen.directory.path, path_refused, keys)
    return Facts(
        hostname=seen.hostname,
        kernel=seen.kernel,
        boot_id=seen.boot_id,
        root=root,
        cores=seen.cores,
        memory_bytes=seen.memory_bytes,
        path=seen.directory.path,
        path_refused=path_refused,
        free_bytes=seen.directory.free_bytes,
        filesystem=seen.directory.filesystem,
        mount=mount,
        path_device=path_device,
        device=device,
        device_refused=refused,
        io_uring_refused=seen.io_uring or "",
        direct_refused=seen.direct or "",
        fingerprint=fingerprint(site, seen.directory.path, device),
        offers=offers | of_the_server,
        database=database,
        missing_programs=frozenset(name for name in tools if not hosts_facts.has_program(site.host, name)),
        block_devices={name: block_device(site.host, site.engine, name) for name in named},
    )


def _refusal(folder: Directory) -> str:
    """Why no data can be made in a folder, and on a second line what to do; empty where it can."""
    if not folder.exists:
        return f"{folder.path} does not exist\nmake it, or correct the name"
    if folder.untrusted:
        return f"{folder.untrusted}\nname a folder that only you and root can change"
    return f"{folder.writable}\nname a folder that you may write to" if folder.writable else ""


def checked(site: Site, parsed: Parsed) -> tuple[Plan, Facts]:
    """The plan as it can be carried out here. Raises PlanError with every problem."""
    with described(site.host.name):
        facts = look(site, parsed)
        plan = check(parsed, site.catalogue, facts)
        numbers = {name_of(table): number for number, table in enumerate(parsed.table.workload)}
        if refused := [
            parsed.problem(("workload", numbers[name]), error.message, error.todo)
            for name, error in refusals(site, plan, every_setting(plan)).items()
        ]:
            raise PlanError(parsed.name, refused)
    return plan, facts
