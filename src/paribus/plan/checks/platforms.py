"""Comparison of a guest with its hypervisor: what forbids it, and how the hypervisor is made as small as the guest.

The check of a plan calls this.
"""

import re
from collections.abc import Iterator

from paribus.i18n import N_, StoredMessage, stored_message
from paribus.knobs.catalog import LOAD, SERVER
from paribus.model import PLATFORM, Facts, HostPlatform, Plan, Target
from paribus.plan.checks.load_host import Complaint, separate_load
from paribus.plan.form.file import PlanTable
from paribus.plan.form.key_paths import KeyPath
from paribus.plan.workloads import data_in
from paribus.units import show_size

_BOUND: KeyPath = ("target", "bound")
_CACHED = N_(
    "unless the guest's disk has the cache mode none or directsync, the hypervisor's page cache serves it beyond the "
    "memory of the guest"
)
_OF_BOTH = "a plan that compares platforms has settings of the workload and its server only"


def host_platform(table: PlanTable, facts: Facts) -> HostPlatform | None:
    """Returns the hypervisor as a platform, as large as the guest without other limits; None where none is compared.

    The load may use the same processors as the server, as in the guest.
    """
    bound, there, guest = table.target.bound, facts.bound, facts.guest
    if bound is None or there is None or guest is None:
        return None
    target = Target(
        address=guest.guest.machine,
        path=there.path,
        device=there.device,
        more_disks=there.more_disks,
        top=there.top,
        arrays=there.arrays,
        mount=there.mount,
    )
    has_server = table.database is not None and table.database.kind != "sqlite"
    cores = bound.cores or facts.cores
    return HostPlatform(
        target=target,
        groups=(LOAD, SERVER) if has_server else (LOAD,),
        cpus=bound.cpus or ("0" if cores == 1 else f"0-{cores - 1}"),
        memory_bytes=bound.memory or facts.memory_bytes,
    )


def notes(plan: Plan) -> Iterator[StoredMessage]:
    """Yields what makes the platforms unequal beside virtualisation: disks, and a page cache for the guest alone."""
    guest, host = plan.target.guest, plan.bound
    if guest is None or host is None:
        return
    below = guest.location.device
    if below is not None and below != host.target.device:
        text = N_("the guest's disk is on {below}, and the host's data on {device}: the comparison is one of disks too")
        yield stored_message(text, below=below, device=host.target.device or stored_message("not a disk"))
    yield stored_message(_CACHED)


def complaints(
    table: PlanTable, facts: Facts, keys: list[tuple[KeyPath, str]], machine_keys: set[str]
) -> Iterator[Complaint]:
    """Yields the place, the problem and its correction for all that is wrong about platforms.

    `keys`: every setting of the plan with its place; `machine_keys`: those that one machine has.
    """
    if PLATFORM not in {key for _, key in keys}:
        if table.target.bound is not None:
            yield _BOUND, "the plan has no platform", 'write under [factors]: platform = ["host", "guest"]'
        return
    yield from _of_form(table, keys, machine_keys)
    if table.target.guest is None:
        yield ("factors", PLATFORM), "the target is no guest", 'name it under [target]: guest = "NAME"'
    elif table.target.bound is None:
        yield ("factors", PLATFORM), "the folder on the hypervisor is unknown", "add [target.bound] with its path"
    if facts.bound is not None and (host := host_platform(table, facts)) is not None:
        yield from _of_hypervisor(table, facts, facts.bound, host)


def _of_form(table: PlanTable, keys: list[tuple[KeyPath, str]], machine_keys: set[str]) -> Iterator[Complaint]:
    for key_path, key in keys:
        if key in machine_keys:
            yield key_path, f"{key} would be set on one of two machines: {_OF_BOTH}", "try it in a plan of its own"
    if table.target.devices:
        yield ("target", "devices"), "layouts are made on one machine", "compare them in a plan of their own"
    if table.health:
        name = next(iter(table.health))
        yield ("health", name), "states of one machine would be watched", "compare without [health]"
    if table.event:
        yield ("event", 0), "events happen on one machine", "try them in a plan of their own"
    if separate_load(table) is not None:
        yield ("load",), "each platform makes its own load", "remove [load]"
    if table.database is not None and table.database.dsn is not None:
        hint = "have Paribus start a server on each platform: remove database.dsn"
        yield ("database", "dsn"), "a server that others use is on one machine", hint
    if table.protocol.design == "screen":
        yield ("protocol", "design"), "a screen does not compare platforms", "remove design"
    for number, workload in enumerate(table.workload):
        if any(data.device for data in data_in(workload)):
            yield ("workload", number), "a device is of one machine", "use files"
        if workload.precondition is not None:
            yield ("workload", number, "precondition"), "only one of two machines would be preconditioned", "remove it"


def _of_hypervisor(table: PlanTable, facts: Facts, there: Facts, host: HostPlatform) -> Iterator[Complaint]:
    """Yields the reasons why the workload cannot run on the hypervisor."""
    if (refusal := there.path_refusal) is not None:
        yield (*_BOUND, "path"), f"on the hypervisor, {refusal.message}", refusal.remedy
    for name, offer in there.offers.items():
        if offer.refused and name in host.settings:
            yield _BOUND, f"on the hypervisor, {name}: {offer.refused}", offer.todo
    bound = table.target.bound
    cores = (bound.cores if bound else None) or facts.cores
    if bound is not None and bound.cpus is None and cores > there.cores:
        yield (*_BOUND, "cores"), f"the hypervisor has {there.cores} processors, and not {cores}", "name fewer"
    if bound is not None and bound.cpus is not None:
        last = max(int(number) for number in re.findall(r"[0-9]+", bound.cpus))
        if last >= there.cores:
            yield (*_BOUND, "cpus"), f"the hypervisor has no processor {last}", f"it has {there.cores}, from 0 on"
    if host.memory_bytes + facts.memory_bytes > there.memory_bytes:
        memory = f"the hypervisor has {show_size(there.memory_bytes)} of memory"
        message = f"{memory}: {show_size(host.memory_bytes)} do not fit beside the guest, which stays on"
        yield (*_BOUND, "memory"), message, "name less, or give the guest less"
    for program in sorted(there.missing_programs):
        yield _BOUND, f"the hypervisor has no {program}", "install it there"
    of_host, of_guest = there.database, facts.database
    if of_host is None or of_guest is None or of_guest.refusal is not None:
        return
    if of_host.refusal is not None:
        yield _BOUND, f"on the hypervisor, {of_host.refusal.message}", of_host.refusal.remedy
    elif of_host.name != of_guest.name:
        message = f"the hypervisor has {of_host.name}, and the guest {of_guest.name}"
        yield _BOUND, message, "install the same version on both, or the comparison is one of versions too"
