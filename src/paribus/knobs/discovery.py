"""Reading knobs without changing them: the value in force of a knob, and what a host offers for a plan's knobs."""

import dataclasses
import shlex
from collections.abc import Iterable

from paribus.errors import Denied, HostError, Missing, ParibusError, TimedOut, UsageError
from paribus.hosts.facts import can_load_module
from paribus.hosts.transport import Host
from paribus.knobs.catalog import Catalogue, is_above_disks
from paribus.knobs.kinds import NOT_APPLIED, knob_kinds
from paribus.knobs.kinds.by_command import program_in
from paribus.model import Knob, Location, Offer, Reading, Refusal, Value

_MOST_PRINTED = 300  # characters of an output in a message
OUT_OF_PLAN = "take it out of the plan"
"""Advice on a knob of which nothing else is known."""


def place(host: Host, knob: Knob, location: Location) -> Knob:
    """The knob with its addresses on a host. Raises UsageError without a device, and Missing where it is not there."""
    return knob_kinds.get(knob.kind).place(host, knob, location)


def kernels_of(knob: Knob) -> str:
    """The kernels that have the knob, in words; empty for all."""
    bounds = [f"from {knob.since} on" if knob.since else "", f"up to {knob.until}" if knob.until else ""]
    return f"kernels {' '.join(filter(None, bounds))}" if any(bounds) else ""


def read(host: Host, knob: Knob) -> Reading:
    """The value in force of a placed knob.

    Raises HostError when a file cannot be read, a program fails, or neither has a value of the knob.
    """
    kind = knob_kinds.get(knob.kind)
    texts = tuple(_text(host, knob, path) for path in kind.reads(knob))
    texts += tuple(_output(host, argv) for argv in kind.runs(knob))
    try:
        reading = kind.parse(knob, texts)
    except (ValueError, IndexError) as error:
        if knob.command is not None:
            message = f"`{knob.addresses[0]}` printed {_beginning(texts[0])!r}, and {error}"
            raise HostError(
                message, f"adapt its json or pattern, in the row of {knob.name}, to this version"
            ) from error
        raise HostError(
            f"{knob.addresses[0]} contains {texts[0].strip()!r}, which is not a value of {knob.name}"
        ) from error
    return dataclasses.replace(reading, allowed=reading.allowed or knob.allowed)


def _beginning(text: str) -> str:
    """The beginning of an output, as far as a message has room for it."""
    return text.strip() if len(text.strip()) <= _MOST_PRINTED else f"{text.strip()[:_MOST_PRINTED]}…"


def _end(text: str) -> str:
    """The end of an output, where programs print the reason of a failure, or a question."""
    return text if len(text) <= _MOST_PRINTED else f"…{text[-_MOST_PRINTED:]}"


def _text(host: Host, knob: Knob, path: str) -> str:
    """The text of a file, or the kind's text for an absent one. Raises Missing where the kind has none."""
    try:
        return host.read(path)
    except Missing:
        absent_text = knob_kinds.get(knob.kind).absent_text
        if absent_text is None:
            raise
        return absent_text


def _output(host: Host, argv: tuple[str, ...]) -> str:
    """Return the output of a program. Raises HostError where it is missing or fails."""
    try:
        done = host.run(list(argv))
    except TimedOut as error:
        words = f"`{shlex.join(argv)}`: {error.message}"
        raise TimedOut(words, "run it by hand: it may ask a question, or wait for a device") from error
    if done.exit_code != 0:
        words = " ".join(f"{done.stdout} {done.stderr}".split())
        raise HostError(f"`{shlex.join(argv)}` failed (exit code {done.exit_code}): {_end(words)}")
    return done.stdout


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
    knobs = [row for row in rows if knob_kinds.get(row.kind).holder not in NOT_APPLIED]
    if location.is_layout:  # whose own devices no other experiment has
        knobs = [row for row in knobs if not is_above_disks(row)]
    moved = [member for knob in knobs for p in knob.resets for member in members(host, catalogue, p, location)]
    return {address for knob in [*knobs, *moved] for address in place(host, knob, location).addresses}


def offer(host: Host, catalogue: Catalogue, key: str, location: Location, *, root: bool) -> Offer:
    """Return the host's offer for one knob; the reason why it cannot be used is part of the answer."""
    knob = catalogue.get(key)
    if location.is_layout and is_above_disks(knob):  # its device will be there
        return Offer(knob=knob, current=None, allowed=())
    try:
        placed = place(host, knob, location)
        reading = read(host, placed)
    except ParibusError as error:
        todo = error.todo or _advice(knob, error)
        is_missing, is_stuck = isinstance(error, Missing), isinstance(error, TimedOut)
        refused = error.message
        return Offer(
            knob=knob, current=None, allowed=(), refused=refused, todo=todo, is_missing=is_missing, is_stuck=is_stuck
        )
    refusal = _refusal(host, placed, root=root) or Refusal("")
    return Offer(
        knob=placed,
        current=reading.value,
        allowed=(*reading.allowed, *(_loadable(host, placed, reading) if reading.allowed else ())),
        undo=reading.undo or knob_kinds.get(knob.kind).writes(placed, reading.value),
        refused=refusal.message,
        todo=refusal.remedy,
    )


def _loadable(host: Host, knob: Knob, reading: Reading) -> tuple[Value, ...]:
    """Return the values of modules that the kernel has and has not loaded yet."""
    absent = {value: module for value, module in knob.modules.items() if value not in reading.allowed}
    return tuple(value for value, module in absent.items() if can_load_module(host, module))


def _refusal(host: Host, knob: Knob, *, root: bool) -> Refusal | None:
    """Return the reason why a readable knob must not be set; None if it may be."""
    kind = knob_kinds.get(knob.kind)
    if (conflict := kind.conflict(host, knob)) is not None:
        return conflict
    if not root and kind.holder not in ("platform", "process", "trial"):
        return Refusal("only root may set it", "run as root, or take it out of the plan")
    return None


def offers(
    host: Host, catalogue: Catalogue, keys: Iterable[str], location: Location, *, root: bool
) -> dict[str, Offer]:
    """Return the host's offer for each key that is a knob; other keys are left to the plan's check."""
    offers_by_name: dict[str, Offer] = {}
    for key in keys:
        knob = catalogue.find(key)
        if knob is not None and knob.name not in offers_by_name:
            stuck = same_program_stuck(knob, offers_by_name.values())
            offers_by_name[knob.name] = stuck or offer(host, catalogue, key, location, root=root)
    return offers_by_name


def same_program_stuck(knob: Knob, offers: Iterable[Offer]) -> Offer | None:
    """Return the refusal of an earlier knob whose program did not end, for a knob of the same program."""
    if knob.command is None:
        return None
    program = program_in(knob.command.get)
    for earlier in offers:
        if earlier.is_stuck and earlier.knob.command is not None and program_in(earlier.knob.command.get) == program:
            return dataclasses.replace(earlier, knob=knob)
    return None


def _advice(knob: Knob, error: ParibusError) -> str:
    """Return advice on a knob that cannot be read."""
    if isinstance(error, Missing) and knob.command is not None:
        return "install that program, or the interpreter that its first line names; else take it out of the plan"
    if isinstance(error, Missing):
        kernels = f" (it is in {kernels_of(knob)})" if knob.since or knob.until else ""
        return f"this kernel or device does not have it{kernels}; take it out of the plan"
    if isinstance(error, Denied):
        return "run as root, or take it out of the plan"
    return "" if isinstance(error, UsageError) else OUT_OF_PLAN
