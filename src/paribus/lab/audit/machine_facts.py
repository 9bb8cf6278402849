"""Facts of a machine, its disk and its knobs for an audit; read without privilege as far as that goes."""

import re
from collections.abc import Iterable

from paribus.audit import Lack, Scalar, SettingInForce
from paribus.audit.facts import BYTES
from paribus.hosts.facts import swap_bytes, text_of
from paribus.hosts.transport import Host
from paribus.knobs.catalog import Catalogue
from paribus.knobs.discovery import offer
from paribus.knobs.kinds import knob_kinds
from paribus.model import Location, Offer

_DEVICE_KINDS = (
    ("nvme", "nvme"),
    ("vd", "virtio"),
    ("xvd", "xen"),
    ("fio", "fusion-io"),
    ("md", "md"),
    ("dm-", "dm"),
    ("loop", "loop"),
)
_HYPERVISORS = {
    "QEMU": "kvm",
    "VMware": "vmware",
    "Microsoft": "hyperv",
    "Xen": "xen",
    "Amazon": "kvm",
    "Google": "kvm",
}
_SIZE_TYPES = ("size", "share_or_size")
_RAID_CLASS = "0x0104"
_PCI = "/sys/bus/pci/devices"
_OF_TRIALS = ("group", "platform", "process", "trial", "layout", "guest")  # holders without a value outside of a trial
_RAID_ROWS = (
    "raid",
    "megacli",
    "adaptec",
    "smartarray",
    "drive",
    "nvme",
    "sata",
    "sas",
    "fusion",
    "network",
    "processor",
)
Lacks = dict[str, Lack]


def machine_facts(host: Host, filesystem: str, location: Location) -> tuple[dict[str, Scalar], Lacks]:
    """The facts of a machine, and why others are unknown."""
    release = dict(line.split("=", 1) for line in text_of(host, "/etc/os-release").splitlines() if "=" in line)
    meminfo = text_of(host, "/proc/meminfo")
    flags = next((line for line in text_of(host, "/proc/cpuinfo").splitlines() if line.startswith("flags")), "")
    total = re.search(r"^MemTotal: +(\d+) kB$", meminfo, re.MULTILINE)
    readings: dict[str, Scalar | None] = {
        "kernel": text_of(host, "/proc/sys/kernel/osrelease"),
        "distribution": release.get("ID", "").strip('"') or None,
        "processors": _listed(text_of(host, "/sys/devices/system/cpu/online")),
        "numa_nodes": _listed(text_of(host, "/sys/devices/system/node/online")) or 1,
        "memory": int(total[1]) * 1024 if total else None,
        "swap": swap_bytes(host),
        "filesystem": filesystem,
        "virtual": "hypervisor" in flags.split(),
        "hypervisor": _hypervisor(host) if "hypervisor" in flags.split() else "",
        "container": bool(text_of(host, "/run/systemd/container")) or ".dockerenv" in host.names("/"),
        "raid_controller": any(
            text_of(host, f"{_PCI}/{name}/class").startswith(_RAID_CLASS) for name in host.names(_PCI)
        ),
        **(_disk_facts(host, location.device) if location.device else {}),
    }
    facts = {name: value for name, value in readings.items() if value is not None}
    lacks = {name: Lack(why="the machine does not say") for name in readings.keys() - facts.keys()}
    return facts, lacks


def _disk_facts(host: Host, device: str) -> dict[str, Scalar | None]:
    name = device.removeprefix("/dev/")
    folder = f"/sys/block/{name}"
    rotational = text_of(host, f"{folder}/queue/rotational")
    kind = next((kind for prefix, kind in _DEVICE_KINDS if name.startswith(prefix)), "")
    return {
        "device_kind": kind or {"1": "hdd", "0": "ssd"}.get(rotational),
        "rotational": int(rotational) if rotational.isdecimal() else None,
        "hardware_queues": len(host.names(f"{folder}/mq")) or None,
        "write_cache": text_of(host, f"{folder}/queue/write_cache") or None,
    }


def _hypervisor(host: Host) -> str | None:
    vendor = text_of(host, "/sys/class/dmi/id/sys_vendor")
    return text_of(host, "/sys/hypervisor/type") or next(
        (name for word, name in _HYPERVISORS.items() if vendor.startswith(word)), None
    )


def _listed(text: str) -> int | None:
    """The number of entries in a list of the kernel: five for `0-3,8`."""
    ends = [part.split("-") for part in text.split(",") if part]
    return sum(int(end[-1]) - int(end[0]) + 1 for end in ends) or None


def machine_settings(
    host: Host, catalogue: Catalogue, names: Iterable[str], location: Location
) -> tuple[dict[str, Offer], Lacks]:
    """The offers of the machine for these knobs, and why others have no value. Names of other things are left out."""
    offers: dict[str, Offer] = {}
    lacks: Lacks = {}
    for name in names:
        knob = catalogue.find(name)
        if knob is None:
            if name.partition(".")[0] in _RAID_ROWS:
                lacks[name] = Lack(why="no program is named that reads it; see paribus knobs check, and examples/knobs")
            continue
        if knob_kinds.get(knob.kind).holder in _OF_TRIALS:
            lacks[name] = Lack(why="it has a value in a trial only")
            continue
        offered = offer(host, catalogue, knob.name, location, root=True)
        if offered.current is None:
            lacks[name] = Lack(why=offered.refused, is_absent=offered.is_missing)
        else:
            offers[name] = offered
    return offers, lacks


def in_force(offered: Offer) -> SettingInForce:
    """A knob's value now."""
    assert offered.current is not None
    unit = BYTES if offered.knob.type in _SIZE_TYPES else offered.knob.unit
    return SettingInForce(value=offered.current, unit=unit)
