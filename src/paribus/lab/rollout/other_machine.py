"""Another machine than the measured one, on which recommended settings are made."""

import dataclasses
import tomllib
from dataclasses import dataclass

from paribus.engine.run import probe
from paribus.errors import UsageError
from paribus.hosts.facts import HYPERVISOR
from paribus.hosts.storage.stack import stack_of
from paribus.lab.machine.connection import LOCAL
from paribus.lab.machine.inspection import location_below
from paribus.model import Experiment, Location, Plan, Target
from paribus.trial.target_session import Site

_OWN = frozenset({"host", "device", "device_serial", "device_backing_file"})
_OWN_ARGUMENTS = ("root=", "resume", "BOOT_IMAGE=", "initrd=", "rd.luks.", "rd.md.", "rd.lvm.", "cryptdevice=", "ip=")
_ARGUMENTS = "kernel_arguments"


@dataclass(frozen=True, slots=True)
class OtherMachine:
    """A machine with an address as in a plan.

    `path` is the folder with its data, `device` its disk. Where both are empty, they are those that the plan names, and
    the disk below the folder where it names none.
    """

    address: str
    path: str = ""
    device: str = ""
    become: bool = False


def refuse_running_server(plan: Plan, experiment: str) -> None:
    """Raise UsageError for an experiment on a running server, which is another one on another machine."""
    if plan.database is not None and plan.database.running is not None:
        raise UsageError(
            f"{experiment} was made on a running server, and another machine has another server",
            f"set it by a playbook: paribus ticket {experiment} -o FOLDER",
        )


def with_stated_device(machine: OtherMachine, recorded: Experiment) -> OtherMachine:
    """The machine with the disk that the plan of an experiment names, where nothing else is named for it."""
    target = tomllib.loads(recorded.plan_text).get("target", {})
    stated = recorded.overrides.get("target.device") or target.get("device") or ""
    return machine if machine.path or machine.device else dataclasses.replace(machine, device=stated)


def moved(plan: Plan, machine: OtherMachine) -> Plan:
    """The plan with another machine as its target, whose disks are not known yet."""
    path = machine.path or plan.target.path
    become = machine.become or (plan.target.become and machine.address != LOCAL)
    empty = dataclasses.replace(plan.target, address=machine.address, path=path, become=become, guest=None)
    return dataclasses.replace(plan, target=_placed(empty, Location()))


def located(plan: Plan, machine: OtherMachine, site: Site) -> Plan:
    """The plan with the disks and the mount of its target as found. Raises HostError where the device is none."""
    return dataclasses.replace(plan, target=_placed(plan.target, location_at(site, plan.target.path, machine.device)))


def location_at(site: Site, path: str, device: str = "") -> Location:
    """The mount of a folder, and its disks unless a device is named; empty where there is no such folder.

    Raises HostError where the device is none.
    """
    folder = probe(site.host, site.engine, path).directory
    location = location_below(site.host, folder) if folder.exists else Location()
    if not device:
        return location
    stack = stack_of(site.host, device)
    top = stack.top if stack.top not in stack.disks else None
    return Location(stack.disks[0], location.mount, stack.disks[1:], top, stack.arrays)


def _placed(target: Target, location: Location) -> Target:
    """The target with disks and a mount of its own; what the plan says of those of the measured machine is dropped."""
    return dataclasses.replace(
        target,
        device=location.device,
        mount=location.mount,
        more_disks=location.more_disks,
        top=location.top,
        arrays=location.arrays,
        may_destroy=(),
        devices=(),
        device_bytes=(),
    )


def is_own_fact(name: str, measured: str, here: str) -> bool:
    """Whether a difference of two fingerprints only says that they are two machines, not two kinds of machine.

    The hypervisor of a guest is not looked at.
    """
    if name == _ARGUMENTS:
        return _without_disks(measured) == _without_disks(here)
    return name in _OWN or name.startswith(HYPERVISOR)


def _without_disks(arguments: str) -> list[str]:
    """The arguments of a kernel but those that name its files and disks."""
    return [word for word in arguments.split() if not word.startswith(_OWN_ARGUMENTS)]


def storage_kind(location: Location) -> str:
    """The kind of storage in words: the number of disks, and what lies on them."""
    disks = 0 if location.device is None else 1 + len(location.more_disks)
    parts = [f"{disks} {'disk' if disks == 1 else 'disks'}"]
    parts += [f"{len(location.arrays)} md"] if location.arrays else []
    parts += ["a volume on it"] if location.top and location.top not in location.arrays else []
    return ", ".join(parts)
