"""Another machine than the measured one, on which recommended settings are made."""

import dataclasses
from dataclasses import dataclass

from paribus.engine.run import probe
from paribus.errors import UsageError
from paribus.hosts.storage.stack import stack_of
from paribus.lab.machine.inspection import location_below
from paribus.model import Location, Plan, Target
from paribus.trial.target_session import Site

_OWN = frozenset({"host", "device", "device_serial", "device_backing_file"})
_OWN_ARGUMENTS = ("root=", "resume=", "BOOT_IMAGE=", "initrd=")
_ARGUMENTS = "kernel_arguments"


@dataclass(frozen=True, slots=True)
class OtherMachine:
    """A machine with an address as in a plan.

    `path` is the folder with its data, empty for that of the plan; `device` its disk, empty for that below the folder.
    """

    address: str
    path: str = ""
    device: str = ""
    become: bool = False


def moved(plan: Plan, machine: OtherMachine) -> Plan:
    """The plan with another machine as its target, whose disks are not known yet.

    Raises UsageError for settings of a running server, which is another one there.
    """
    if plan.database is not None and plan.database.running is not None:
        raise UsageError(
            "the experiment was made on a running server, and another machine has another server",
            "set it by a playbook: paribus ticket EXPERIMENT -o FOLDER",
        )
    path = machine.path or plan.target.path
    empty = dataclasses.replace(plan.target, address=machine.address, path=path, become=machine.become, guest=None)
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
    """Whether a difference of two fingerprints only says that they are two machines, not two kinds of machine."""
    if name == _ARGUMENTS:
        return _without_disks(measured) == _without_disks(here)
    return name in _OWN


def _without_disks(arguments: str) -> list[str]:
    """The arguments of a kernel but those that name its files and disks."""
    return [word for word in arguments.split() if not word.startswith(_OWN_ARGUMENTS)]
