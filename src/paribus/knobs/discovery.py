"""Reading knobs without changing them: the value in force of a knob, and what a host offers for a plan's knobs."""

import dataclasses
from collections.abc import Iterable

from paribus.errors import Denied, HostError, Missing, ParibusError, UsageError
from paribus.hosts.transport import Host
from paribus.knobs.catalog import Catalogue
from paribus.knobs.kinds import knob_kinds
from paribus.model import Knob, Location, Offer, Reading


def place(host: Host, knob: Knob, location: Location) -> Knob:
    """The knob with its addresses on a host. Raises UsageError without a device, and Missing where it is not there."""
    return knob_kinds.get(knob.kind).place(host, knob, location)


def kernels_of(knob: Knob) -> str:
    """The kernels that have the knob, in words; empty for all."""
    bounds = [f"from {knob.since} on" if knob.since else "", f"up to {knob.until}" if knob.until else ""]
    return f"kernels {' '.join(filter(None, bounds))}" if any(bounds) else ""


def read(host: Host, knob: Knob) -> Reading:
    """The value in force of a placed knob. Raises HostError when a file cannot be read or has no value of the knob."""
    kind = knob_kinds.get(knob.kind)
    texts = tuple(_text(host, knob, path) for path in kind.reads(knob))
    try:
        reading = kind.parse(knob, texts)
    except (ValueError, IndexError) as error:
        raise HostError(
            f"{knob.addresses[0]} contains {texts[0].strip()!r}, which is not a value of {knob.name}"
        ) from error
    return dataclasses.replace(reading, allowed=reading.allowed or knob.allowed)


def _text(host: Host, knob: Knob, path: str) -> str:
    """The text of a file, or the kind's text for an absent one. Raises Missing where the kind has none."""
    try:
        return host.read(path)
    except Missing:
        absent_text = knob_kinds.get(knob.kind).absent_text
        if absent_text is None:
            raise
        return absent_text


def members(host: Host, catalogue: Catalogue, pattern: str, location: Location) -> list[Knob]:
    """The knobs a `resets` entry stands for on this host: the knob itself, or every member of a family."""
    knob = catalogue.get(pattern)
    if not pattern.endswith(".*"):
        return [knob]
    folder = place(host, knob, location).addresses[0].rpartition("/")[0]
    family = pattern.removesuffix("*")
    return [catalogue.get(family + name) for name in host.names(folder)]


def touched(host: Host, catalogue: Catalogue, keys: Iterable[str], location: Location) -> set[str]:
    """Every address that setting these knobs may write to, the knobs they move included; other keys are skipped.

    Raises UsageError and HostError where a knob is not on the host.
    """
    rows = [row for key in keys if (row := catalogue.find(key)) is not None]
    knobs = [row for row in rows if knob_kinds.get(row.kind).holder != "process"]
    moved = [member for knob in knobs for p in knob.resets for member in members(host, catalogue, p, location)]
    return {address for knob in [*knobs, *moved] for address in place(host, knob, location).addresses}


def offer(host: Host, catalogue: Catalogue, key: str, location: Location, *, root: bool) -> Offer:
    """What the host offers for one knob; the reason why it cannot be used is part of the answer."""
    knob = catalogue.get(key)
    try:
        placed = place(host, knob, location)
        reading = read(host, placed)
    except ParibusError as error:
        todo = error.todo or _advice(knob, error)
        return Offer(knob=knob, current=None, allowed=(), refused=error.message, todo=todo)
    refused, todo = _refusal(host, placed, root=root)
    return Offer(
        knob=placed,
        current=reading.value,
        allowed=reading.allowed,
        undo=reading.undo or knob_kinds.get(knob.kind).writes(placed, reading.value),
        refused=refused,
        todo=todo,
    )


def _refusal(host: Host, knob: Knob, *, root: bool) -> tuple[str, str]:
    """Why a readable knob must not be set, and what to do; both empty where it may be."""
    kind = knob_kinds.get(knob.kind)
    if (conflict := kind.conflict(host, knob))[0]:
        return conflict
    if not root and kind.holder != "process":
        return "only root may set it", "run as root, or take it out of the plan"
    return "", ""


def offers(
    host: Host, catalogue: Catalogue, keys: Iterable[str], location: Location, *, root: bool
) -> dict[str, Offer]:
    """What the host offers for each key that is a knob; other keys are left to the plan's check."""
    offers_by_name: dict[str, Offer] = {}
    for key in keys:
        knob = catalogue.find(key)
        if knob is not None and knob.name not in offers_by_name:
            offers_by_name[knob.name] = offer(host, catalogue, key, location, root=root)
    return offers_by_name


def _advice(knob: Knob, error: ParibusError) -> str:
    """What to do about a knob that cannot be read."""
    if isinstance(error, Missing):
        kernels = f" (it is in {kernels_of(knob)})" if knob.since or knob.until else ""
        return f"this kernel or device does not have it{kernels}; take it out of the plan"
    if isinstance(error, Denied):
        return "run as root, or take it out of the plan"
    return "" if isinstance(error, UsageError) else "take it out of the plan"
