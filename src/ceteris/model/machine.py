"""The machine as found, its knobs, and what was changed."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ceteris.model.words import ChangeState, Fitness, NotTaken, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Knob:
    """One row of the catalogue.

    `addresses` may hold `{device}`, `{irq}`, `*` for every entry of a folder and, in a family (a name ending in `.*`),
    `{member}`; `elsewhere` is where it lies on other kernels. `resets` names knobs that a write moves. `exists_under`
    names the knob whose value a family belongs to. `aliases` are the kernel's own names where several are one knob,
    `renamed` what old values became. `since` and `until` are kernels.
    """

    name: str
    kind: str
    addresses: tuple[str, ...]
    type: str
    summary: str
    documentation: str
    unit: str = ""
    allowed: tuple[Value, ...] = ()
    minimum: int | None = None
    maximum: int | None = None
    takes_effect: str = "live"
    resets: tuple[str, ...] = ()
    readback: str = "exact"
    aliases: tuple[str, ...] = ()
    exists_under: str = ""
    renamed: Mapping[str, str] = field(default_factory=dict)
    elsewhere: tuple[str, ...] = ()
    since: str = ""
    until: str = ""


@dataclass(frozen=True, slots=True)
class WriteFile:
    """Put `text` into the file at `path`; `readback` says how to find the value in what it then says."""

    path: str
    text: str
    readback: str = "plain"


Action = WriteFile


@dataclass(frozen=True, slots=True)
class Reading:
    """A value in force, and the values the kernel offers where it lists them."""

    value: Value
    allowed: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What a host says of one knob: its value now and what it allows, or why it cannot be used."""

    knob: str
    addresses: tuple[str, ...]
    current: Value | None
    allowed: tuple[Value, ...]
    refused: str = ""
    todo: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockDevice:
    """A block device as found, for deciding whether a load may read it or destroy what is on it.

    `ids` name it for good: serial, wwn, names under /dev/disk/by-id, a loop device's backing file. `claims` say
    who has it (a mount, swap, a holder, partitions), `signatures` what is on it (ext4, LVM2_member, gpt).
    `refused` says why it could not be looked at.
    """

    path: str
    size_bytes: int = 0
    ids: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()
    read_only: bool = False
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Condition:
    """One thing that was looked at before measuring: what was found, and what mends it."""

    name: str
    fitness: Fitness
    found: str
    fix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a plan is checked against: the machine as found. Empty `*_refused` means: possible."""

    hostname: str
    kernel: str
    boot_id: str
    root: bool
    cores: int
    memory_bytes: int
    path: str
    path_refused: str
    free_bytes: int
    filesystem: str
    path_device: str | None
    device: str | None
    device_refused: str
    io_uring_refused: str
    direct_refused: str
    fingerprint: Mapping[str, str]
    offers: Mapping[str, Offer] = field(default_factory=dict)
    block_devices: Mapping[str, BlockDevice] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One setting as applied for one application: what was there, what was wanted, what was found.

    `not_taken` says what became of a value that is not in force, `refused` what the kernel said where it did not take
    the write.
    """

    knob: str
    address: str
    before: Value
    wanted: Value
    observed: Value | None
    state: ChangeState
    refused: str = ""
    not_taken: NotTaken | None = None
