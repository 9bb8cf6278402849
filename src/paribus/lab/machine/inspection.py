"""The machine under test of a plan: its connections, and the facts that the plan is checked against."""

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from typing import NoReturn

from paribus import workloads as _workloads  # noqa: F401  registers the kinds that a plan may name
from paribus.engine.protocol import Directory
from paribus.engine.run import probe
from paribus.errors import HostError, PlanError, Problem, Unreachable
from paribus.hosts import environment
from paribus.hosts import facts as hosts_facts
from paribus.hosts.storage.devices import block_device
from paribus.hosts.storage.mounts import mount_of
from paribus.hosts.storage.stack import stack_of
from paribus.hosts.transport import Host, described
from paribus.knobs import catalog, discovery
from paribus.lab.machine.connection import Report, discard, site
from paribus.lab.machine.guest_inspection import hypervisor_of, inspect_guest, with_hypervisor
from paribus.lab.machine.health import watching
from paribus.lab.machine.load_host_inspection import inspect_load_hosts
from paribus.lab.machine.members import with_members
from paribus.lab.machine.own_knobs import with_own_rows
from paribus.lab.machine.server_inspection import inspect_server
from paribus.model import Facts, Location, Plan, Refusal, Stack, is_of_hypervisor
from paribus.plan.check import check
from paribus.plan.checks.load_host import separate_load
from paribus.plan.form.key_paths import KeyPath
from paribus.plan.form.parse import Parsed
from paribus.plan.needs import Needs, condition_subject
from paribus.plan.needs import needs as needs_of
from paribus.plan.schedule.screened_alone import all_settings
from paribus.plan.workloads import name_of
from paribus.trial.target_session import Site
from paribus.trial.tools.tool_check import refusals


@contextlib.contextmanager
def site_of(parsed: Parsed, report: Report = discard) -> Iterator[Site]:
    """Connect to every machine of a parsed plan.

    Raises as `site`, with every machine that is not reached; PlanError where the plan has problems of form too.
    """
    table, database, load = parsed.table.target, parsed.table.database, separate_load(parsed.table)
    variables = filter(None, [database.password_env if database else None])
    above = hypervisor_of(parsed.table)
    unreached: list[tuple[HostError, Problem]] = []
    with environment.withheld(*variables), contextlib.ExitStack() as connections:

        def connect(
            key_path: KeyPath, address: str, *, become: bool = False, subject: str = catalog.LOAD
        ) -> list[Site]:
            try:
                return [connections.enter_context(site(address, become=become, report=report, subject=subject))]
            except HostError as error:
                unreached.append((error, parsed.problem(key_path, error.message, error.todo)))
                return []

        targets = connect(("target", "host"), table.host, become=table.become, subject=condition_subject(parsed))
        load_hosts: list[Site] = []
        for number, address in enumerate(load.addresses if load else ()):
            key_path: KeyPath = ("load", "host") if load and load.host else ("load", "hosts", number)
            load_hosts += connect(key_path, address, become=bool(load and load.become))
        hypervisors = connect(("target", "hypervisor"), above) if above is not None else []
        if unreached:
            _raise_unreached(parsed, unreached)
        [target] = targets
        rows = with_own_rows(target.catalogue, parsed)
        hypervisor = dataclasses.replace(hypervisors[0], catalogue=rows) if hypervisors else None
        yield dataclasses.replace(target, catalogue=rows, load_hosts=tuple(load_hosts), hypervisor=hypervisor)


def _raise_unreached(parsed: Parsed, unreached: Sequence[tuple[HostError, Problem]]) -> NoReturn:
    """Raise one error for all machines, or PlanError where the plan has problems of form besides."""
    errors, problems = zip(*unreached, strict=True)
    if parsed.problems:
        raise PlanError(parsed.name, [*parsed.problems, *problems]) from errors[0]
    if len(errors) == 1:
        raise errors[0]
    raise Unreachable("\n".join(str(error) for error in errors)) from errors[0]


@contextlib.contextmanager
def site_of_plan(plan: Plan, report: Report = discard, *, loads: bool = False) -> Iterator[Site]:
    """Connect to the machine under test of a checked plan; `loads`: to its load hosts too. Raises as `site`."""
    running = plan.database.running if plan.database else None
    target, load_hosts = plan.target, plan.load_hosts if loads else ()
    variables = filter(None, [running.variable if running else None, *(each.variable for each in load_hosts)])
    become = any(each.become for each in load_hosts)
    with (
        environment.withheld(*variables),
        site(target.address, become=target.become, report=report) as connected,
        _with_load_hosts(connected, [each.address for each in load_hosts], report, become=become) as with_load_hosts,
        with_hypervisor(with_load_hosts, target.guest.machine if target.guest else None, report) as all_machines,
    ):
        rows = [knob for knob in plan.knobs if knob.command is not None]
        yield dataclasses.replace(all_machines, catalogue=all_machines.catalogue.with_rows(rows))


@contextlib.contextmanager
def _with_load_hosts(connected: Site, addresses: Sequence[str], report: Report, *, become: bool) -> Iterator[Site]:
    """The machine under test, with a connection to the load host of each address, if there are any."""
    with contextlib.ExitStack() as stack:
        sites = [stack.enter_context(site(address, become=become, report=report)) for address in addresses]
        yield dataclasses.replace(connected, load_hosts=tuple(sites))


def fingerprint(site: Site, path: str, device: str | None) -> dict[str, str]:
    """Identification of the machine, of the file system and the disk under test, of load hosts and hypervisor."""
    disk = hosts_facts.device_fingerprint(site.host, device) if device else {}
    try:
        filesystem = {"filesystem": mount_of(site.host, path).filesystem}
    except HostError:  # the folder no longer exists
        filesystem = {}
    facts = hosts_facts.fingerprint(site.host) | filesystem | disk
    roles = {hosts_facts.load_host_role(number): each for number, each in enumerate(site.load_hosts, 1)}
    if site.hypervisor is not None:
        roles[hosts_facts.HYPERVISOR] = site.hypervisor
    for role, machine in roles.items():
        facts |= hosts_facts.of_role(role, hosts_facts.fingerprint(machine.host))
    return facts


def _stack(host: Host, device: str) -> tuple[Stack | None, Refusal | None]:
    """The devices below `device`, or why there are none."""
    try:
        return stack_of(host, device), None
    except HostError as error:
        return None, Refusal(error.message, error.todo)


def inspect(site: Site, needs: Needs) -> Facts:
    """Read from the machine what a plan needs; a refusal is part of the facts. Changes nothing."""
    probed = probe(site.host, site.engine, needs.path)
    of_path, device_refusal = _stack(site.host, probed.directory.major_minor)
    stack = of_path
    if needs.device:
        stack, device_refusal = _stack(site.host, needs.device)
    if needs.disks:
        disks = [site.host.resolve(disk) for disk in needs.disks]
        of_path = stack = Stack(top=disks[0], disks=tuple(disks))
        device_refusal = None
    device, *more_disks = stack.disks if stack else (None,)
    top = stack.top if stack and stack.top not in stack.disks else None
    root = probed.uid == 0
    path_refusal = folder_refusal(probed.directory)
    mount = mount_of(site.host, probed.directory.path).point
    arrays = stack.arrays if stack else ()
    location = Location(device, mount, tuple(more_disks), top, arrays, is_layout=bool(needs.disks))
    of_target = [key for key in needs.knob_keys if not is_of_hypervisor(key)]
    offers = discovery.offers(site.host, site.catalogue, of_target, location, root=root)
    guest, hypervisor_offers = inspect_guest(site, needs, device) if site.hypervisor else (None, {})
    database, server_offers = inspect_server(site, needs, probed.directory.path, path_refusal)
    load_hosts = inspect_load_hosts(site, needs, database)
    missing = frozenset(name for name in needs.programs if not hosts_facts.has_program(site.host, name))
    return Facts(
        hostname=probed.hostname,
        kernel=probed.kernel,
        boot_id=probed.boot_id,
        root=root,
        cores=probed.cores,
        memory_bytes=probed.memory_bytes,
        path=probed.directory.path,
        path_refusal=path_refusal,
        free_bytes=probed.directory.free_bytes,
        filesystem=probed.directory.filesystem,
        mount=mount,
        path_device=None if of_path is None else device if device in of_path.disks else of_path.disks[0],
        more_disks=tuple(more_disks),
        top=top,
        arrays=arrays,
        device=device,
        device_refusal=device_refusal,
        io_uring_refused=probed.io_uring or "",
        direct_refused=probed.direct or "",
        fingerprint=fingerprint(site, probed.directory.path, device),
        offers=offers | hypervisor_offers | server_offers,
        database=database,
        missing_programs=missing,
        missing_modules=frozenset(name for name in needs.modules if not hosts_facts.has_module(site.host, name)),
        load_hosts=load_hosts,
        guest=guest,
        bound=inspect(site.hypervisor, needs.bound) if site.hypervisor and needs.bound else None,
        swap_bytes=hosts_facts.swap_bytes(site.host),
        block_devices={name: block_device(site.host, site.engine, name) for name in needs.named_devices},
    )


def location_below(host: Host, folder: Directory) -> Location:
    """The disks below a folder, none where it lies on no block device, and its mount point."""
    stack, _ = _stack(host, folder.major_minor)
    mount = mount_of(host, folder.path).point
    if stack is None:
        return Location(mount=mount)
    top = stack.top if stack.top not in stack.disks else None
    return Location(stack.disks[0], mount, stack.disks[1:], top, stack.arrays)


def folder_refusal(folder: Directory) -> Refusal | None:
    """Reason why a folder cannot hold data; None if it can."""
    if not folder.exists:
        return Refusal(f"{folder.path} does not exist", "make it, or correct the name")
    if folder.untrusted:
        return Refusal(folder.untrusted, "name a folder that only you and root can change")
    return Refusal(folder.writable, "name a folder that you may write to") if folder.writable else None


def checked(site: Site, parsed: Parsed) -> tuple[Plan, Facts]:
    """Check a plan against its machine; return it with the facts. Raises PlanError with every problem."""
    with described(site.host.name):
        facts = inspect(site, needs_of(parsed))
        plan = check(parsed, site.catalogue, facts)
        numbers = {name_of(table): number for number, table in enumerate(parsed.table.workload)}
        if refused := [
            parsed.problem(("workload", numbers[name]), error.message, error.todo)
            for name, error in refusals(site, plan, all_settings(plan)).items()
        ]:
            raise PlanError(parsed.name, refused)
        return with_members(site, parsed, watching(site, parsed, plan)), facts
