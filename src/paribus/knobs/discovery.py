"""Reading knobs without touching them: one knob's value now, and what a host offers for a plan's knobs."""

import dataclasses
from collections.abc import Iterable
from pathlib import PurePosixPath

from paribus.errors import Denied, HostError, Missing, ParibusError, UsageError
from paribus.hosts.mounts import MOUNTINFO, mounted_at
from paribus.hosts.transport import Host
from paribus.knobs import kinds as _kinds  # noqa: F401  registers every kind
from paribus.knobs.catalog import Catalogue, addresses_at
from paribus.knobs.kinds import OF_THE_LOAD, group_limit
from paribus.model import Knob, Location, Offer, Reading
from paribus.registry import knob_kinds


def place(host: Host, knob: Knob, location: Location) -> Knob:
    """The knob as it is on a host: every entry where the row says `*`, the first of several places that is there, the
    file system that is mounted there.

    Raises UsageError without a device, and Missing where nothing matches.
    """
    addresses = addresses_at(knob, location)
    if knob.filesystems:
        return _on_filesystem(host, dataclasses.replace(knob, addresses=addresses))
    if knob.kind == group_limit.KIND:
        return _in_group(host, knob, location)
    found = [one for address in addresses for one in _matching(host, address, location.device)]
    if not found or (knob.elsewhere and not _is_there(host, found[0])):
        there = [address for address in knob.elsewhere if _is_there(host, address)]
        if not there and not found:
            raise Missing(f"{knob.name} is not on this machine: there is no {addresses[0]}")
        found = there[:1] or found
    return dataclasses.replace(knob, addresses=tuple(found))


def _on_filesystem(host: Host, knob: Knob) -> Knob:
    """The knob narrowed to the file system that is mounted at its address."""
    mounted = mounted_at(host.read(MOUNTINFO), knob.addresses[0])
    name = mounted.filesystem
    hidden = knob.filesystems.get(name) or knob.filesystems.get("*")
    if hidden is None:
        where = f"{mounted.point} is {name}, which does not have {knob.name}"
        raise Missing(
            where, knob.gone.get(name) or f"only {', '.join(knob.filesystems)} has it: take it out of the plan"
        )
    allowed = tuple(level for level in knob.allowed if knob.only_on.get(str(level), name) == name)
    return dataclasses.replace(knob, filesystems={name: hidden}, allowed=allowed)


def _in_group(host: Host, knob: Knob, location: Location) -> Knob:
    """The knob in the version of control groups that this machine has."""
    second, first = PurePosixPath(knob.addresses[0]), PurePosixPath(knob.elsewhere[0])
    controller = second.name.partition(".")[0]
    top = second.parent.parent
    if "cgroup.controllers" in host.names(str(top)):
        if controller not in host.read(f"{top}/cgroup.subtree_control").split():
            wrong = f"the controller {controller} of control groups is not enabled"
            raise Missing(wrong, f"enable it: echo +{controller} > {top}/cgroup.subtree_control")
        path, above = second, top / "cpuset.cpus.effective"
    else:
        path, above = first, first.parent.parent / first.name
        if not _is_there(host, str(path.parent.parent)):
            raise Missing(f"there is no {path.parent.parent}: this machine has no such control groups")
    if path.name == group_limit.CPUS:
        return dataclasses.replace(knob, addresses=(str(path), str(above)))
    if not location.device:
        raise UsageError(f"{knob.name} needs a device", "set target.device, for example /dev/nvme0n1")
    name = location.device.removeprefix("/dev/").replace("/", "!")
    return dataclasses.replace(knob, addresses=(str(path), host.read(f"/sys/block/{name}/dev").strip()))


def kernels_of(knob: Knob) -> str:
    """Which kernels have it, in words; empty: all."""
    bounds = [f"from {knob.since} on" if knob.since else "", f"up to {knob.until}" if knob.until else ""]
    return f"kernels {' '.join(filter(None, bounds))}" if any(bounds) else ""


def _is_there(host: Host, path: str) -> bool:
    folder, _, name = path.rpartition("/")
    return name in host.names(folder)


def _matching(host: Host, address: str, device: str | None) -> list[str]:
    """The paths that an address with `{irq}` or `*` stands for."""
    if "{irq}" in address:
        return [address.replace("{irq}", number) for number in _interrupts(host, device)]
    before, star, after = address.partition("*")
    if not star:
        return [address]
    folder, _, start = before.rpartition("/")
    rest, slash, below = after.partition("/")
    names = [name for name in host.names(folder) if name.startswith(start) and name.endswith(rest)]
    found = [f"{folder}/{name}{slash}{below}" for name in sorted(names, key=_natural)]
    return [path for path in found if _is_there(host, path)]


def _natural(name: str) -> tuple[int, str]:
    """cpu2 before cpu10."""
    digits = "".join(character for character in name if character.isdecimal())
    return (int(digits or 0), name)


def _interrupts(host: Host, device: str | None) -> list[str]:
    """The interrupts of the device's controller."""
    name = (device or "").removeprefix("/dev/").replace("/", "!")
    for folder in ("device/msi_irqs", "device/../msi_irqs", "device/device/msi_irqs"):
        if numbers := host.names(host.resolve(f"/sys/block/{name}/{folder}")):
            return sorted(numbers, key=_natural)
    return []


def read(host: Host, knob: Knob) -> Reading:
    """The value in force of a placed knob. Raises HostError when a file cannot be read or says something unforeseen."""
    kind = knob_kinds.get(knob.kind)
    texts = tuple(_text(host, knob, path) for path in kind.reads(knob))
    try:
        reading = kind.parse(knob, texts)
    except (ValueError, IndexError) as error:
        raise HostError(f"{knob.addresses[0]} says {texts[0].strip()!r}, which is no value of {knob.name}") from error
    return dataclasses.replace(reading, allowed=reading.allowed or knob.allowed)


def _text(host: Host, knob: Knob, path: str) -> str:
    """The text of a file; nothing, where it is in a group that is yet to be made."""
    try:
        return host.read(path)
    except Missing:
        if knob.kind == group_limit.KIND:
            return ""
        raise


def members(host: Host, catalogue: Catalogue, pattern: str, location: Location) -> list[Knob]:
    """The knobs a `resets` entry stands for on this host: the knob itself, or every member of a family."""
    knob = catalogue.get(pattern)
    if not pattern.endswith(".*"):
        return [knob]
    folder = place(host, knob, location).addresses[0].rpartition("/")[0]
    family = pattern.removesuffix("*")
    return [catalogue.get(family + name) for name in host.names(folder)]


def touched(host: Host, catalogue: Catalogue, keys: Iterable[str], location: Location) -> set[str]:
    """Every address that setting these knobs may write to, with what they move; other keys are passed over.

    Raises UsageError and HostError where a knob has no place here.
    """
    rows = [row for key in keys if (row := catalogue.find(key)) is not None]
    knobs = [row for row in rows if row.kind not in OF_THE_LOAD]
    moved = [member for knob in knobs for p in knob.resets for member in members(host, catalogue, p, location)]
    return {address for knob in [*knobs, *moved] for address in place(host, knob, location).addresses}


def offer(host: Host, catalogue: Catalogue, key: str, location: Location, *, root: bool) -> Offer:
    """What the host says of one knob; why it cannot be used is part of the answer."""
    knob = catalogue.get(key)
    try:
        placed = place(host, knob, location)
        reading = read(host, placed)
    except ParibusError as error:
        todo = error.todo or _way_out(knob, error)
        return Offer(knob=knob, current=None, allowed=(), refused=error.message, todo=todo)
    refused, todo = _forbidden(host, placed, root=root)
    return Offer(
        knob=placed,
        current=reading.value,
        allowed=reading.allowed,
        undo=reading.undo or knob_kinds.get(knob.kind).writes(placed, reading.value),
        refused=refused,
        todo=todo,
    )


def _forbidden(host: Host, knob: Knob, *, root: bool) -> tuple[str, str]:
    """Why a knob that can be read must not be set, and what to do; both empty where it may."""
    if knob.kind == group_limit.KIND and _is_there(host, group := group_limit.group_of(knob)):
        return f"there is a control group {group} already", f"remove it: rmdir {group}"
    if not root and knob.kind not in OF_THE_LOAD:
        return "only root may set it", "run as root, or take it out of the plan"
    return "", ""


def offers(
    host: Host, catalogue: Catalogue, keys: Iterable[str], location: Location, *, root: bool
) -> dict[str, Offer]:
    """What the host offers for each key that is a knob; the others are left to the plan's check."""
    found: dict[str, Offer] = {}
    for key in keys:
        knob = catalogue.find(key)
        if knob is not None and knob.name not in found:
            found[knob.name] = offer(host, catalogue, key, location, root=root)
    return found


def _way_out(knob: Knob, error: ParibusError) -> str:
    """What to do about a knob that cannot be read."""
    if isinstance(error, Missing):
        kernels = f" (it is in {kernels_of(knob)})" if knob.since or knob.until else ""
        return f"this kernel or device does not have it{kernels}; take it out of the plan"
    if isinstance(error, Denied):
        return "run as root, or take it out of the plan"
    return "" if isinstance(error, UsageError) else "take it out of the plan"
