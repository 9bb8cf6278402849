"""Inspection of a target that is a virtual machine: proof of its identity, and the offers of its hypervisor."""

import contextlib
import dataclasses
from collections.abc import Iterator

from paribus.engine.run import probe
from paribus.errors import HostError, ParibusError, Unreachable
from paribus.hosts.guests import domain as domains
from paribus.hosts.guests import hypervisor
from paribus.hosts.guests.domain import Domain, DomainDisk
from paribus.hosts.storage.devices import size_bytes
from paribus.hosts.storage.mounts import mount_of
from paribus.hosts.storage.stack import stack_of
from paribus.hosts.transport import Host
from paribus.knobs import discovery
from paribus.lab.machine.connection import Report, site
from paribus.model import DOMAIN, DomainPlace, Guest, GuestFacts, Location, Offer, Refusal, is_of_hypervisor
from paribus.plan.form.file import PlanTable
from paribus.plan.needs import Needs
from paribus.trial.target_session import Site


def hypervisor_of(table: PlanTable) -> str | None:
    """The address of the machine that the target is a guest of; None where the plan names no guest."""
    return hypervisor.parse(table.target.hypervisor).machine if table.target.guest is not None else None


@contextlib.contextmanager
def with_hypervisor(connected: Site, address: str | None, report: Report) -> Iterator[Site]:
    """The machine under test, with a connection to its hypervisor, if there is one."""
    if address is None:
        yield connected
        return
    with site(address, report=report) as of_hypervisor:
        knows = dataclasses.replace(of_hypervisor, catalogue=connected.catalogue)
        yield dataclasses.replace(connected, hypervisor=knows)


def inspect_guest(site: Site, needs: Needs, device: str | None) -> tuple[GuestFacts, dict[str, Offer]]:
    """The guest that a site's target is, and the hypervisor's offers; `device`: the guest's disk under test.

    There are no offers where the target is not that guest. Raises Unreachable and HostError.
    """
    above = site.hypervisor
    assert above is not None and needs.guest is not None
    address = hypervisor.parse(needs.hypervisor)
    guest = Guest(name=needs.guest, machine=address.machine, uri=address.uri)
    try:
        domain = domains.read(above.host, address.uri, needs.guest)
    except Unreachable:
        raise
    except HostError as error:
        return GuestFacts(guest=guest, wrong=((error.message, error.todo),)), {}
    if wrong := tuple(domains.problems(site.host, domain)):
        return GuestFacts(guest=guest, wrong=wrong), {}
    try:
        disk = _disk(site.host, above.host, address.uri, domain, device)
        location = _location(above, disk.source)
        no_disk = ""
        place = DomainPlace(address.uri, domain.name, disk.name)
        guest = dataclasses.replace(guest, disk=disk.source, location=dataclasses.replace(location, domain=place))
    except HostError as error:
        no_disk = error.message
        guest = dataclasses.replace(guest, location=Location(domain=DomainPlace(address.uri, domain.name, "")))
    if guest.disk and (others := domains.other_users(above.host, address.uri, domain.name, guest.disk)):
        message = f"{guest.disk}, the disk of {domain.name}, is in use by another guest too: {', '.join(others)}"
        return GuestFacts(guest=guest, wrong=((message, "shut that one down, or name a disk of the guest alone"),)), {}
    root = above.host.run(["id", "-u"]).stdout.strip() == "0"
    keys = [key for key in needs.knob_keys if is_of_hypervisor(key)]
    offers = discovery.offers(above.host, above.catalogue, keys, guest.location, root=root)
    if no_disk:
        todo = "take it out of the plan, or name a disk of the guest as target.device"
        of_disk = {name: o for name, o in offers.items() if _is_of_disk(above.catalogue.get(name).addresses[0])}
        offers |= {name: dataclasses.replace(offer, refused=no_disk, todo=todo) for name, offer in of_disk.items()}
    of_domain = {name: offer for name, offer in offers.items() if name.startswith(DOMAIN)}
    if of_domain and (refusal := _refusal(above.host, address.uri, domain)) is not None:
        message, todo = refusal.message, refusal.remedy
        offers |= {name: dataclasses.replace(offer, refused=message, todo=todo) for name, offer in of_domain.items()}
    return GuestFacts(guest=guest), offers


def _refusal(host: Host, uri: str, domain: Domain) -> Refusal | None:
    """The reason why the definition of a domain must not be changed; None where it may. Raises HostError."""
    if not domain.is_persistent:
        return Refusal("the domain is transient: it would be gone after a restart", "define it: virsh define FILE")
    if snapshots := domains.snapshots(host, uri, domain.name):
        message = f"the domain has snapshots, which fit its present definition only: {', '.join(snapshots)}"
        return Refusal(
            message, f"remove them: virsh snapshot-delete {domain.name} NAME; or compare on a copy of the guest"
        )
    return None


def _is_of_disk(address: str) -> bool:
    """Whether an address in a row of the catalogue needs the guest's disk under test."""
    return "{" in address or address.startswith("devices/disk")


def _disk(target: Host, above: Host, uri: str, domain: Domain, device: str | None) -> DomainDisk:
    """The domain's disk that the guest's device is: by its address, proved by its size. Raises HostError."""
    if device is None:
        raise HostError("the disk under test is unknown", "set target.device")
    disk = domains.disk_of(domain, target.resolve(f"/sys/class/block/{device.removeprefix('/dev/')}"))
    if disk is None:
        raise HostError(f"no disk of the domain {domain.name} has the address of {device}")
    sizes = size_bytes(target, device), domains.capacity_bytes(above, uri, domain, disk)
    if sizes[0] != sizes[1]:
        raise HostError(
            f"{device} has {sizes[0]} bytes in the guest, and {disk.name} of {domain.name} {sizes[1]} bytes"
        )
    if not disk.source.startswith("/"):
        raise HostError(f"{disk.name} of the domain {domain.name} is not a file or a block device of the hypervisor")
    return disk


def _location(above: Site, source: str) -> Location:
    """The hypervisor's devices below an image or a block device. Raises HostError."""
    source = above.host.resolve(source)
    if source.startswith("/dev/"):
        stack, mount = stack_of(above.host, source), None
    else:
        folder = source.rpartition("/")[0] or "/"
        try:
            stack = stack_of(above.host, probe(above.host, above.engine, folder).directory.major_minor)
        except ParibusError as error:
            raise HostError(f"the hypervisor's disk below {source} is unknown: {error.message}") from error
        mount = mount_of(above.host, folder).point
    top = stack.top if stack.top not in stack.disks else None
    return Location(stack.disks[0], mount, stack.disks[1:], top, stack.arrays)
