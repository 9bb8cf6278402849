"""Location of a knob's files on a host: wildcards, interrupts of a device, alternatives of other kernels."""

import dataclasses

from paribus.errors import Missing
from paribus.hosts.transport import Host
from paribus.knobs.catalog import addresses_at
from paribus.model import Knob, Location


def place(host: Host, knob: Knob, location: Location) -> Knob:
    """The knob with every entry where the row says `*`, and the first of several places that exists.

    Raises UsageError without a device, and Missing where nothing matches.
    """
    addresses = addresses_at(knob, location)
    paths = [path for address in addresses for path in _matching(host, address, location)]
    if not paths or (knob.elsewhere and not exists(host, paths[0])):
        alternatives = [address for address in knob.elsewhere if exists(host, address)]
        if not alternatives and not paths:
            raise Missing(f"{knob.name} does not exist on this machine: {addresses[0]} is missing")
        paths = alternatives[:1] or paths
    return dataclasses.replace(knob, addresses=tuple(paths))


def exists(host: Host, path: str) -> bool:
    """Whether a path exists on the host."""
    folder, _, name = path.rpartition("/")
    return name in host.names(folder)


def _matching(host: Host, address: str, location: Location) -> list[str]:
    """The paths that an address with `{irq}` or `*` stands for."""
    if "{irq}" in address:
        disks = (location.device, *location.more_disks)
        numbers = dict.fromkeys(number for disk in disks for number in _interrupts(host, disk))
        return [address.replace("{irq}", number) for number in numbers]
    before, star, after = address.partition("*")
    if not star:
        return [address]
    folder, _, start = before.rpartition("/")
    end, slash, below = after.partition("/")
    names = [name for name in host.names(folder) if name.startswith(start) and name.endswith(end)]
    paths = [f"{folder}/{name}{slash}{below}" for name in sorted(names, key=_natural)]
    return [path for path in paths if exists(host, path)]


def _natural(name: str) -> tuple[int, str]:
    """A sort key that has cpu2 before cpu10."""
    digits = "".join(character for character in name if character.isdecimal())
    return (int(digits or 0), name)


def _interrupts(host: Host, device: str | None) -> list[str]:
    """The interrupts of a disk's controller."""
    name = (device or "").removeprefix("/dev/").replace("/", "!")
    for folder in ("device/msi_irqs", "device/../msi_irqs", "device/device/msi_irqs"):
        if numbers := host.names(host.resolve(f"/sys/block/{name}/{folder}")):
            return sorted(numbers, key=_natural)
    return []
