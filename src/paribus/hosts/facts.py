"""Facts about a host: its fingerprint, and the whole disk behind a path."""

import re
from collections.abc import Mapping

from paribus.errors import HostError, Unreachable
from paribus.hosts.storage.devices import SECTOR_BYTES
from paribus.hosts.transport import Host
from paribus.units import show_size

BOOT_ID_FILE = "/proc/sys/kernel/random/boot_id"
LOAD_HOST, HYPERVISOR = "load_host", "hypervisor"  # begin the names of their facts


def text_of(host: Host, path: str) -> str:
    """Return the text of a file, or "" if the machine lacks it."""
    try:
        return host.read(path).strip()
    except HostError:
        return ""


def fingerprint(host: Host) -> dict[str, str]:
    """The identity of the machine and its software, as far as it can be read without privilege."""
    cpu = next((line for line in text_of(host, "/proc/cpuinfo").splitlines() if "model name" in line), "")
    release = dict(line.split("=", 1) for line in text_of(host, "/etc/os-release").splitlines() if "=" in line)
    facts = {
        "host": text_of(host, "/proc/sys/kernel/hostname"),
        "system": release.get("PRETTY_NAME", "").strip('"'),
        "kernel": text_of(host, "/proc/sys/kernel/osrelease"),
        "kernel_arguments": text_of(host, "/proc/cmdline"),
        "cpu": cpu.partition(":")[2].strip(),
        "processors": _count(text_of(host, "/sys/devices/system/cpu/present")),
        "numa_nodes": _count(text_of(host, "/sys/devices/system/node/possible")),
        "memory": _memory(text_of(host, "/proc/meminfo")),
        "machine": " ".join(
            filter(None, (text_of(host, f"/sys/class/dmi/id/{name}") for name in ("sys_vendor", "product_name")))
        ),
        "clock_source": text_of(host, "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "governor": text_of(host, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    }
    return {name: value for name, value in facts.items() if value}


def load_host_role(number: int) -> str:
    """The beginning of the names of a load host's facts, counted from 1."""
    return LOAD_HOST if number == 1 else f"{LOAD_HOST}_{number}"


def of_role(role: str, facts: Mapping[str, str]) -> dict[str, str]:
    """A fingerprint under the names that it has next to that of the target."""
    return {role if name == "host" else f"{role}_{name}": value for name, value in facts.items()}


def _count(listed: str) -> str:
    """Return the number of entries in a list of the kernel: five for `0-3,8`."""
    ends = [part.split("-") for part in listed.split(",") if part]
    return str(sum(int(end[-1]) - int(end[0]) + 1 for end in ends)) if ends else ""


def _memory(meminfo: str) -> str:
    total = re.search(r"^MemTotal: +(\d+) kB$", meminfo, re.MULTILINE)
    return show_size(int(total[1]) * 1024) if total else ""


def swap_bytes(host: Host) -> int | None:
    """The swap space of the machine; None where it cannot be read."""
    total = re.search(r"^SwapTotal: +(\d+) kB$", text_of(host, "/proc/meminfo"), re.MULTILINE)
    return int(total[1]) * 1024 if total else None


def device_fingerprint(host: Host, device: str) -> dict[str, str]:
    """The identity of a disk, as far as sysfs shows it."""
    folder = f"/sys/block/{device.removeprefix('/dev/')}"
    facts = {"device": device}
    for title, path in (
        ("device_model", "device/model"),
        ("device_serial", "serial"),
        ("device_backing_file", "loop/backing_file"),
        ("device_logical_block_bytes", "queue/logical_block_size"),
    ):
        if value := text_of(host, f"{folder}/{path}"):
            facts[title] = value
    if (sectors := text_of(host, f"{folder}/size")).isdigit():
        facts["device_size"] = show_size(int(sectors) * SECTOR_BYTES)
    return facts


def has_program(host: Host, name: str) -> bool:
    """Whether a program of that name or full path can be started."""
    command = ["test", "-x", name] if "/" in name else ["which", name]
    return host.run(command).exit_code == 0


def has_module(host: Host, name: str) -> bool:
    """Whether the running kernel has a module, also built in; true where its modules are not listed."""
    listed = f"/lib/modules/{text_of(host, '/proc/sys/kernel/osrelease')}"
    if host.names(f"/sys/module/{name}") or "modules.dep" not in host.names(listed):
        return True
    return can_load_module(host, name)


def can_load_module(host: Host, name: str) -> bool:
    """Whether the running kernel has the file of a module."""
    try:
        return host.run(["modinfo", "--field", "name", name]).exit_code == 0
    except Unreachable:
        raise
    except HostError:  # it has no kmod
        return False
