"""The catalogue: every knob is one row of data in a TOML file of this folder.

Help, checking, documentation and undo follow from the row.
"""

import dataclasses
import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from typing import Any, BinaryIO

from paribus.errors import UsageError
from paribus.knobs.catalog import values
from paribus.model import HYPERVISOR, Knob, Location, Value
from paribus.registry import nearest

LOAD, SERVER = "load", "server"
LISTED = "knobs are listed by: paribus knobs list; a server's variable is written mysql.NAME or postgres.NAME"
_SUBJECT = "{subject}"
_PATHS = {  # of files that have no row, by the kind of their tree
    "sysctl": re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_+-]+)+"),
    "sysfs": re.compile(r"/sys(/[A-Za-z0-9_:.,@-]+)+"),
}
_DISK, _TOP = "block.", "block.top."
_OF_ANY_MACHINE = ("sysctl", "sysfs", "every", "ratio_or_bytes")  # kinds that a hypervisor has too


class Catalogue:
    """Every knob by name; a family row such as `block.iosched.*` or `sysctl.**` answers for each of its members.

    A short name such as `process.numa` is the knob of the catalogue's `subject`: here `process.load.numa`.
    """

    def __init__(self, knobs: tuple[Knob, ...], subject: str = LOAD) -> None:
        self._knobs = {knob.name: knob for knob in knobs}
        self._subject = subject
        self._aliases = {alias: knob.name for knob in knobs for alias in knob.aliases}
        self._aliases |= {
            knob.name.replace(f".{subject}.", ".", 1): knob.name for knob in knobs if knob.subject == subject
        }

    def with_rows(self, rows: Iterable[Knob]) -> "Catalogue":
        """This catalogue and more rows."""
        return Catalogue((*self._knobs.values(), *rows), self._subject)

    def with_subject(self, subject: str) -> "Catalogue":
        """This catalogue, with the short names of conditions for the processes of another subject."""
        return Catalogue(tuple(self._knobs.values()), subject)

    def __iter__(self) -> Iterator[Knob]:
        return iter(self._knobs.values())

    def subsystems(self) -> set[str]:
        """The parts of knob names before the first dot: `block`, `vm`, …."""
        return {*(name.split(".")[0] for name in self._knobs), HYPERVISOR.removesuffix(".")}

    def find(self, key: str) -> Knob | None:
        """The knob of a key, by its own name or the kernel's; a member of a family gets a row of its own."""
        name = self._aliases.get(key, key)
        if name in self._knobs:
            return self._knobs[name]
        if name.startswith(HYPERVISOR):
            return self._on_hypervisor(name.removeprefix(HYPERVISOR))
        if name.startswith(_TOP):
            return self._on_top(name)
        if (tree := self._knobs.get(f"{name.partition('.')[0]}.**")) is not None:
            return self._below(tree, name)
        family, _, member = name.rpartition(".")
        subsystem, _, group = family.rpartition(".")
        row = self._knobs.get(f"{family}.*") or self._knobs.get(f"{subsystem}.*.*")
        if row is None or not all(part.replace("_", "").isalnum() for part in (group, member)):
            return None
        filled = (address.replace("{member}", member).replace("{group}", group) for address in row.addresses)
        return dataclasses.replace(row, name=name, addresses=tuple(filled))

    def _below(self, tree: Knob, name: str) -> Knob | None:
        """`sysctl.net.core.somaxconn`, `sysfs./sys/kernel/mm/ksm/run`: a file by its own name."""
        path = name.partition(".")[2]
        if not _PATHS[tree.kind].fullmatch(path) or ".." in path:
            return None
        path = path.replace(".", "/") if tree.kind == "sysctl" else path
        addresses = tuple(address.replace("{path}", path) for address in tree.addresses)
        listed = next((knob for knob in self._knobs.values() if knob.addresses == addresses), None)
        return listed or dataclasses.replace(tree, name=name, addresses=addresses)

    def _on_top(self, name: str) -> Knob | None:
        """`block.top.scheduler`: a knob of disks for the device that files lie on, which may consist of disks."""
        knob = self.find(_DISK + name.removeprefix(_TOP))
        if knob is None or not all("{device}" in address for address in knob.addresses):
            return None
        return dataclasses.replace(
            knob,
            name=name,
            addresses=tuple(address.replace("{device}", "{top}") for address in knob.addresses),
            resets=tuple(each.replace(_DISK, _TOP, 1) for each in knob.resets),
            exists_under=knob.exists_under.replace(_DISK, _TOP, 1),
            aliases=(),
        )

    def _on_hypervisor(self, name: str) -> Knob | None:
        """`host.vm.swappiness`: the knob of a target's kernel or devices for the machine that the target runs on.

        The mechanisms by which it acts on the target's load are not known.
        """
        knob = None if name.startswith(HYPERVISOR) else self.find(name)
        if knob is None or knob.kind not in _OF_ANY_MACHINE:
            return None
        return dataclasses.replace(
            knob,
            name=f"{HYPERVISOR}{knob.name}",
            resets=tuple(f"{HYPERVISOR}{each}" for each in knob.resets),
            exists_under=knob.exists_under and f"{HYPERVISOR}{knob.exists_under}",
            aliases=(),
            needs=(),
        )

    def get(self, key: str) -> Knob:
        """The knob of a key. Raises UsageError with the nearest name."""
        knob = self.find(key)
        if knob is None:
            raise UsageError(f"unknown knob {key!r}", self.suggest(key) or LISTED)
        return knob

    def suggest(self, key: str) -> str:
        """`did you mean …?`, or nothing; of the last part of a name, all names that end with it."""
        names = [*self._knobs, *self._aliases]
        if "." not in key and (ending := [name for name in names if name.endswith(f".{key}")]):
            return f"did you mean {' or '.join(map(repr, ending))}?"
        if key.startswith("innodb_"):
            return f"did you mean 'mysql.{key}'?"
        return nearest(key, names)


def addresses_at(knob: Knob, location: Location) -> tuple[str, ...]:
    """The knob's addresses on a machine, as far as the row says, on every disk. Raises UsageError without a device."""
    addresses = [address.replace("{mount}", location.mount or "") for address in knob.addresses]
    for placeholder, devices, todo in (
        ("{device}", (location.device, *location.more_disks), "set target.device, for example /dev/nvme0n1"),
        ("{top}", (location.top or location.device,), "set target.device, for example /dev/nvme0n1"),
        ("{array}", location.arrays, "it is for files on md arrays, as mdadm makes them"),
    ):
        names = [device.removeprefix("/dev/").replace("/", "!") for device in devices if device]
        if any(placeholder in address for address in addresses) and not names:
            what = "an md array" if placeholder == "{array}" else "a device"
            raise UsageError(f"{knob.name} needs {what}", todo)
        with_device = [address for address in addresses if placeholder in address]
        addresses = [a.replace(placeholder, name) for name in names for a in with_device] or addresses
    return tuple(addresses)


def is_above_disks(knob: Knob) -> bool:
    """Whether the knob is of a device above the disks, which a layout makes and takes away."""
    return any(placeholder in address for placeholder in ("{top}", "{array}") for address in knob.addresses)


def level_of(knob: Knob, key: str, value: Value) -> Value:
    """A level of a plan in the form in which the knob is read. Raises ValueError with the correct form.

    The kernel's own name of a coupled knob keeps its meaning: `vm.dirty_ratio = 20` is `vm.dirty = "20%"`.
    """
    if isinstance(value, dict) and knob.type != "layout":
        raise ValueError(f"{value!r} is a table, and only layout has such levels")
    if value == "current" and knob.type != "layout":
        return value
    if knob.pattern and not re.fullmatch(knob.pattern, str(value)):
        raise ValueError(f"{value!r} is not a value of {knob.name}: {knob.documentation}")
    if (parse := values.PARSERS.get(knob.type)) is not None:
        return parse(knob, key, value)
    if knob.type == "word" and isinstance(value, int) and not isinstance(value, bool):
        return value
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a word in quotes")
    if knob.kind == "every" and "|" in value:
        raise ValueError(f"{value!r} is several values: a level is one for all of {knob.name}")
    return value


def messages(file: BinaryIO, *_: object, **__: object) -> Iterator[tuple[int, None, str, list[str]]]:
    """The documentation of knobs that may lose data, as messages for `make catalogue`."""
    for row in tomllib.load(file).values():
        if row.get("danger") == "data_loss":
            yield 1, None, row["documentation"], []


@cache
def load() -> Catalogue:
    """The catalogue that comes with the program."""
    knobs = []
    for file in sorted(resources.files(__package__).iterdir(), key=lambda file: file.name):
        if file.name.endswith(".toml"):
            for name, row in tomllib.loads(file.read_text(encoding="utf-8")).items():
                fields: dict[str, Any] = {
                    key: tuple(value) if isinstance(value, list) else value for key, value in row.items()
                }
                knobs += _by_subject(Knob(name=name, **fields))
    return Catalogue(tuple(knobs))


def _by_subject(knob: Knob) -> list[Knob]:
    """The knob of each subject, where its row is for any of them."""
    if _SUBJECT not in knob.name:
        return [knob]
    return [
        dataclasses.replace(
            knob,
            name=knob.name.replace(_SUBJECT, subject),
            addresses=tuple(address.replace(_SUBJECT, subject) for address in knob.addresses),
            elsewhere=tuple(address.replace(_SUBJECT, subject) for address in knob.elsewhere),
            summary=knob.summary.replace(_SUBJECT, subject),
            subject=subject,
        )
        for subject in (LOAD, SERVER)
    ]
