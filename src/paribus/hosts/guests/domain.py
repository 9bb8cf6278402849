"""A domain of libvirt as its hypervisor describes it; read by virsh, and changed by nothing here."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree

from paribus.errors import BadReply, HostError, Missing
from paribus.hosts.programs import full_path
from paribus.hosts.transport import Host

_NO_PROGRAM = 127  # the exit code of env
_BUS_ADDRESS = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_SCSI_ADDRESS = re.compile(r"[0-9]+:[0-9]+:(?P<target>[0-9]+):(?P<unit>[0-9]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainDisk:
    """A disk of a running domain: its name in the definition, and the file or block device behind it.

    `source` is empty where it is of the network. `bus_address` is the PCI address of the disk or its controller as the
    guest sees it; `scsi_address` its target and unit there, None on other buses.
    """

    name: str
    source: str
    bus_address: str
    scsi_address: tuple[int, int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """A domain: its identity, its state in libvirt's words, and its disks where it runs."""

    name: str
    uuid: str
    state: str
    job: str
    disks: tuple[DomainDisk, ...]


def read(host: Host, uri: str, name: str) -> Domain:
    """The domain of that name. Raises Missing where there is none, and HostError where libvirt does not answer."""
    about = dict(_pair(line) for line in _virsh(host, uri, "dominfo", name).splitlines() if ":" in line)
    live = _virsh(host, uri, "dumpxml", name)
    jobs = dict(_pair(line) for line in _virsh(host, uri, "domjobinfo", name).splitlines() if ":" in line)
    try:
        definition = ElementTree.fromstring(live)  # noqa: S314  bounded in size, and expat bounds entities
        return Domain(
            name=definition.findtext("name", ""),
            uuid=definition.findtext("uuid", "").lower(),
            state=about["State"],
            job=_job(definition, jobs.get("Job type", "None")),
            disks=tuple(_disks(definition)),
        )
    except (ElementTree.ParseError, KeyError, ValueError) as error:
        raise BadReply(f"virsh describes the domain {name} in a form that is not understood: {error}") from error


def disk_of(domain: Domain, sysfs_folder: str) -> DomainDisk | None:
    """The disk of a domain that is, in its guest, the block device of this folder below /sys/devices; None for none."""
    addresses = set(_BUS_ADDRESS.findall(sysfs_folder))
    scsi = [
        (int(place["target"]), int(place["unit"]))
        for part in sysfs_folder.split("/")
        if (place := _SCSI_ADDRESS.fullmatch(part))
    ]
    for disk in domain.disks:
        if disk.bus_address in addresses and (disk.scsi_address is None or disk.scsi_address in scsi):
            return disk
    return None


def capacity_bytes(host: Host, uri: str, domain: Domain, disk: DomainDisk) -> int:
    """The size of a disk as the guest sees it. Raises HostError."""
    about = dict(_pair(line) for line in _virsh(host, uri, "domblkinfo", domain.name, disk.name).splitlines())
    return int(about["Capacity"])


def _virsh(host: Host, uri: str, command: str, *names: str) -> str:
    """The output of one command of virsh about a domain, in English."""
    where = "this machine" if host.name == "local" else host.name
    argv = ["env", "LC_ALL=C", full_path(host, "virsh"), "--connect", uri, command, "--domain", *names]
    done = host.run(argv)
    if done.exit_code == 0:
        return done.stdout
    if done.exit_code == _NO_PROGRAM:
        raise Missing(f"the hypervisor, {where}, has no virsh", "install it there; it is in libvirt-clients")
    words = " ".join(line.removeprefix("error: ") for line in done.stderr.splitlines() if line.strip())
    listed = f"virsh --connect {shlex.quote(uri)} list --all"
    if "failed to get domain" in words:
        raise Missing(f"the hypervisor, {where}, has no domain {names[0]!r}", f"its domains are listed by: {listed}")
    raise HostError(f"libvirt of {where} does not answer: {words}", f"see whether this works there: {listed}")


def _pair(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.strip(), value.strip()


def _job(definition: ElementTree.Element, job: str) -> str:
    """The job in progress on the domain as a whole or on a disk, in libvirt's word; empty for none."""
    if job not in ("None", "Completed"):
        return job.lower()
    mirror = definition.find("./devices/disk/mirror")
    return f"block {mirror.get('job', 'copy')}" if mirror is not None else ""


def _disks(definition: ElementTree.Element) -> Iterator[DomainDisk]:
    controllers = {
        (controller.get("type"), controller.get("index")): _pci(controller.find("address"))
        for controller in definition.iterfind("./devices/controller")
    }
    for disk in definition.iterfind("./devices/disk"):
        source, address = disk.find("source"), disk.find("address")
        target = disk.find("target")
        if target is None or address is None:
            continue
        drive = address.get("type") == "drive"
        yield DomainDisk(
            name=target.get("dev", ""),
            source=(source.get("file") or source.get("dev") or "") if source is not None else "",
            bus_address=controllers.get((target.get("bus"), address.get("controller")), "") if drive else _pci(address),
            scsi_address=(int(address.get("target", "0")), int(address.get("unit", "0"))) if drive else None,
        )


def _pci(address: ElementTree.Element | None) -> str:
    """The PCI address as sysfs writes it; empty for another bus."""
    if address is None or address.get("type") != "pci":
        return ""
    domain, bus, slot, function = (int(address.get(part, "0"), 16) for part in ("domain", "bus", "slot", "function"))
    return f"{domain:04x}:{bus:02x}:{slot:02x}.{function:x}"
