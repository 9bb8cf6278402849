"""A domain of libvirt as its hypervisor describes it; read by virsh, and changed by nothing here."""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from xml.etree import ElementTree

from paribus.errors import BadReply, HostError, Missing
from paribus.hosts.address import machine_name
from paribus.hosts.guests.definition import images, parse
from paribus.hosts.programs import full_path
from paribus.hosts.transport import Host

_NO_PROGRAM = 127  # the exit code of env
_UUID = "/sys/class/dmi/id/product_uuid"
_FIRST_BUS = "/pci0000:00/"
_PCI_FOLDER = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:([0-9a-f]{2}\.[0-7])")
_SCSI_FOLDER = re.compile(r"[0-9]+:([0-9]+):([0-9]+):([0-9]+)")
_MOST_BRIDGES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainDisk:
    """A disk of a domain: its name in the definition, and the file or block device behind it with its format.

    `source` is empty where it is of the network. `pci_path` are slot and function of each bridge from the first bus to
    the disk or its controller; empty where its bus gives no unique place. `scsi_address` is channel, target and unit.
    """

    name: str
    source: str
    format: str
    pci_path: tuple[str, ...]
    scsi_address: tuple[int, int, int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """A domain: its identity, its state in libvirt's words, and its disks.

    One that is not persistent is gone when it is shut down.
    """

    name: str
    uuid: str
    state: str
    job: str
    is_persistent: bool
    disks: tuple[DomainDisk, ...]


def read(host: Host, uri: str, name: str) -> Domain:
    """The domain of that name. Raises Missing where there is none, and HostError where libvirt does not answer."""
    about = dict(_pair(line) for line in _virsh(host, uri, "dominfo", name).splitlines() if ":" in line)
    text = definition(host, uri, name)
    live = parse(text)
    try:
        return Domain(
            name=live.findtext("name", ""),
            uuid=live.findtext("uuid", "").lower(),
            state=about["State"],
            job=job(host, uri, name, text),
            is_persistent=about.get("Persistent") != "no",
            disks=tuple(_disks(live)),
        )
    except (KeyError, ValueError) as error:
        raise BadReply(f"virsh describes the domain {name} in a form that is not understood: {error}") from error


def definition(host: Host, uri: str, name: str, *, for_next_start: bool = False) -> str:
    """The definition of the running domain in XML; `for_next_start`: the other one, with its secrets.

    Raises as `read`.
    """
    options = ["--inactive", "--security-info"] if for_next_start else []
    return _virsh(host, uri, "dumpxml", name, *options)


def running(host: Host, uri: str) -> list[str]:
    """The names of the domains that run. Raises as `read`."""
    return [name for name in _virsh(host, uri, "list", "", "--name").splitlines() if name]


def other_users(host: Host, uri: str, name: str, image: str) -> list[str]:
    """The names of the other running domains that use an image or a block device. Raises as `read`."""
    others = [other for other in running(host, uri) if other != name]
    return [other for other in others if image in images(definition(host, uri, other))]


def snapshots(host: Host, uri: str, name: str) -> list[str]:
    """The names of the snapshots that libvirt has of a domain. Raises as `read`."""
    return [line for line in _virsh(host, uri, "snapshot-list", name, "--name").splitlines() if line]


def job(host: Host, uri: str, name: str, live: str) -> str:
    """The job in progress on a domain of this definition or on a disk, in libvirt's word; empty for none.

    Raises as `read`.
    """
    about = dict(_pair(line) for line in _virsh(host, uri, "domjobinfo", name).splitlines() if ":" in line)
    kind = about.get("Job type", "None")
    if kind not in ("None", "Completed"):
        return kind.lower()
    mirror = parse(live).find("./devices/disk/mirror")
    return f"block {mirror.get('job', 'copy')}" if mirror is not None else ""


def is_off(host: Host, uri: str, name: str) -> bool:
    """Whether the domain does not run. Raises as `read`."""
    return _virsh(host, uri, "domstate", name).strip() == "shut off"


def problems(target: Host, domain: Domain) -> Iterator[tuple[str, str]]:
    """Each reason why the domain is not the target, or must not be measured now, with the correction."""
    name, target_name = shlex.quote(domain.name), machine_name(target.name)
    if domain.state != "running":
        remedy = f"virsh {'resume' if domain.state == 'paused' else 'start'} {name}"
        yield f"the domain {domain.name} is {domain.state}, and only a running one can be measured", remedy
        return
    if domain.job:
        message = f"the domain {domain.name} has a job in progress ({domain.job}), which would be measured too"
        yield message, f"wait for its end; see: virsh domjobinfo {name}"
    try:
        uuid = target.read(_UUID).strip().lower()
    except HostError as error:
        message = f"nothing proves that {target_name} is the domain {domain.name}: {error.message}"
        yield message, "connect as root, who can read its UUID, or correct target.host"
        return
    if uuid != domain.uuid:
        message = f"{target_name} is not the domain {domain.name}: its UUID is {uuid}, not {domain.uuid}"
        yield message, "correct target.host or target.guest"


def disk_of(domain: Domain, sysfs_folder: str) -> DomainDisk | None:
    """The disk of a domain that is, in its guest, the block device of this folder below /sys/devices; None for none.

    Slots and functions are compared and not the numbers of buses, which the guest's firmware gives.
    """
    _, below, folders = sysfs_folder.partition(_FIRST_BUS)
    if not below:
        return None
    pci_path = tuple(place[1] for part in folders.split("/") if (place := _PCI_FOLDER.fullmatch(part)))
    scsi = [
        tuple(int(number) for number in place.groups())
        for part in folders.split("/")
        if (place := _SCSI_FOLDER.fullmatch(part))
    ]
    matching = [
        disk
        for disk in domain.disks
        if disk.pci_path == pci_path and (scsi == [disk.scsi_address] if disk.scsi_address is not None else not scsi)
    ]
    return matching[0] if len(matching) == 1 and pci_path else None


def capacity_bytes(host: Host, uri: str, domain: Domain, disk: DomainDisk) -> int:
    """The size of a disk as the guest sees it. Raises HostError."""
    about = dict(_pair(line) for line in _virsh(host, uri, "domblkinfo", domain.name, disk.name).splitlines())
    try:
        return int(about["Capacity"])
    except (KeyError, ValueError) as error:
        raise BadReply(f"virsh does not tell the size of {disk.name} of the domain {domain.name}") from error


def _virsh(host: Host, uri: str, command: str, name: str, *more: str) -> str:
    """The output of one command of virsh in English: about a domain, or about all where the name is empty."""
    where = machine_name(host.name)
    argv = ["env", "LC_ALL=C", full_path(host, "virsh"), "--connect", uri, command]
    argv += [*(["--domain", name] if name else []), *more]
    done = host.run(argv)
    if done.exit_code == 0:
        return done.stdout
    if done.exit_code == _NO_PROGRAM:
        raise Missing(f"the hypervisor, {where}, has no virsh", "install it there; it is in libvirt-clients")
    words = " ".join(line.removeprefix("error: ") for line in done.stderr.splitlines() if line.strip())
    listed = f"virsh --connect {shlex.quote(uri)} list --all"
    if "failed to get domain" in words:
        raise Missing(f"the hypervisor, {where}, has no domain {name!r}", f"its domains are listed by: {listed}")
    raise HostError(f"libvirt of {where} does not answer: {words}", f"see whether this works there: {listed}")


def _pair(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.strip(), value.strip()


def _disks(definition: ElementTree.Element) -> Iterator[DomainDisk]:
    controllers = {
        (controller.get("type", ""), controller.get("index", "")): controller.find("address")
        for controller in definition.iterfind("./devices/controller")
    }
    for disk in definition.iterfind("./devices/disk"):
        source, target, address = disk.find("source"), disk.find("target"), disk.find("address")
        driver = disk.find("driver")
        if target is None or address is None:
            continue
        on_scsi = target.get("bus") == "scsi" and address.get("type") == "drive"
        of_controller = controllers.get(("scsi", address.get("controller", ""))) if on_scsi else address
        yield DomainDisk(
            name=target.get("dev", ""),
            source=(source.get("file") or source.get("dev") or "") if source is not None else "",
            format=driver.get("type", "raw") if driver is not None else "raw",
            pci_path=_pci_path(of_controller, controllers),
            scsi_address=_scsi_address(address) if on_scsi else None,
        )


def _scsi_address(address: ElementTree.Element) -> tuple[int, int, int]:
    channel, target, unit = (int(address.get(part, "0")) for part in ("bus", "target", "unit"))
    return channel, target, unit


def _pci_path(
    address: ElementTree.Element | None, controllers: Mapping[tuple[str, str], ElementTree.Element | None]
) -> tuple[str, ...]:
    """Slot and function of each bridge and of the device itself; empty for another bus.

    libvirt's number of a bus is the index of the bridge above it, and the first bus has no address.
    """
    path: list[str] = []
    while address is not None:
        if address.get("type") != "pci" or len(path) == _MOST_BRIDGES:
            return ()
        path.insert(0, f"{int(address.get('slot', '0'), 16):02x}.{int(address.get('function', '0'), 16):x}")
        bus = ("pci", str(int(address.get("bus", "0"), 16)))
        if bus not in controllers:
            return ()
        address = controllers[bus]
    return tuple(path)
