"""The machine as found, its knobs, and what was changed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from paribus.i18n import StoredMessage
from paribus.model.places import GuestFacts
from paribus.model.servers import PutStatements, RunningServer
from paribus.model.words import ChangeState, Fitness, NotTaken, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLines:
    """Programs that read and set a knob, as argument lists; `{value}` and `{device}` are filled in.

    The value is in the output of `get`: where the JSON pointer `json` leads (RFC 6901), or in the first group of the
    regular expression `pattern`. `written`: how `set` takes a value, where `get` prints it in another way. `keep` says
    how a person makes a value last. `also`: lines that show the value with programs of other generations, for people.
    """

    get: tuple[str, ...]
    set: tuple[str, ...]
    json: str = ""
    pattern: str = ""
    written: Mapping[str, str] = field(default_factory=dict)
    keep: str = ""
    survives_reboot: bool = True
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Knob:
    """One row of the catalogue; placed on a machine, its addresses are real ones.

    Attributes:
        name: Its key in a plan, `subsystem.name`; a family ends in `.*`.
        kind: The registered knob kind that reads and writes it.
        addresses: Its files. They may hold `{device}`, `{mount}`, `{irq}` and `*` (every entry of a folder), and in a
            family `{member}` and `{group}`.
        type: How a level in a plan is parsed.
        summary: What it is, as a phrase without a full stop.
        documentation: What its values do, in whole sentences.
        unit: Unit of its values.
        allowed: The values it takes, where the machine does not list them.
        minimum: Its lowest value.
        maximum: Its highest value.
        takes_effect: When a value takes effect: `live`, `reload`, `restart`, `remount`, `reboot`, `rebuild`
            or `trial`, where nothing is written.
        resets: Other knobs that the kernel changes when this one is written.
        readback: How the value read back is compared with the one written.
        aliases: The kernel's own names, where several are one knob.
        exists_under: The knob whose value decides which members a family has.
        renamed: Former values, with their present names.
        modules: Values that the kernel has only with a module, which it loads when the value is set.
        elsewhere: Its files on other kernels.
        since: The first kernel that has it.
        until: The last kernel that has it.
        filesystems: The file systems that have it, each with the value that is in force when none is shown.
        unmounts: The file systems that take it only when they are mounted.
        gone: The file systems that no longer have it, each with the reason.
        only_on: Values that only one file system has.
        danger: What trying it may cost: nothing, `data_loss`, or `durability` for later use.
        proved: On what a row of the user was tried: a `device`, or only a `transcript` of its manual.
        pattern: Regular expression for levels in words.
        subject: The process that a condition is for, `load` or `server`; empty for all other knobs.
        needs: The mechanisms that it acts through, all of them, by name; without one of them it cannot act.
        command: The programs that read and set it, for knobs of the user.
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
    modules: Mapping[str, str] = field(default_factory=dict)
    elsewhere: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    filesystems: Mapping[str, str] = field(default_factory=dict)
    unmounts: tuple[str, ...] = ()
    gone: Mapping[str, str] = field(default_factory=dict)
    only_on: Mapping[str, str] = field(default_factory=dict)
    danger: str = ""
    proved: str = ""
    pattern: str = ""
    subject: str = ""
    needs: tuple[str, ...] = ()
    command: CommandLines | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessState:
    """The conditions of a running process, as the kernel shows them.

    `cpus` are the lists of processors of its threads, one where all have the same. `groups` are the lines of
    /proc/PID/cgroup. `nofile` and `memlock` are its soft limits. `numa` is its policy; None where it cannot be read.
    """

    pid: int
    name: str
    cpus: tuple[str, ...]
    groups: tuple[str, ...]
    nofile: str | None
    memlock: str | None
    numa: str | None


@dataclass(frozen=True, slots=True)
class WriteFile:
    """Put `text` into the file at `path`; `readback` says how to find the value in what it then says."""

    path: str
    text: str
    readback: str = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mounted:
    """A file system at a mount point; `flags` are of the point (`rw,noatime`), `options` of the file system."""

    point: str
    source: str
    filesystem: str
    flags: str
    options: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MountOption:
    """Give the file system at `path` an option instead of those that it replaces; empty: give none of them.

    `hidden` is in force where none is shown. `anew`: it must be unmounted for that.
    """

    path: str
    option: str
    instead_of: tuple[str, ...]
    hidden: str
    anew: bool
    mounted: Mounted | None = None


@dataclass(frozen=True, slots=True)
class LoadModule:
    """Unload a kernel module, and load it with one parameter changed; `path` shows the parameter."""

    path: str
    module: str
    parameter: str
    value: str


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """Make the control group at `path`, or remove it with all that is set in it."""

    path: str
    present: bool


@dataclass(frozen=True, slots=True)
class ReleaseDisk:
    """Take apart all that lies on the disk at `path`, and wipe it; `among` are all disks of the layout."""

    path: str
    among: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunProgram:
    """Run a program of the build of a layout; it is killed after `patience_s` seconds."""

    argv: tuple[str, ...]
    patience_s: int

    @property
    def path(self) -> str:
        """The program, for messages."""
        return self.argv[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetByCommand:
    """Set a value by a program; `get` prints it, at `json` or in the first group of `pattern`.

    `passing`: values on the way to it, in which the program is not run again.
    """

    set: tuple[str, ...]
    get: tuple[str, ...]
    json: str
    pattern: str
    value: str
    passing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DefineGuest:
    """Define a guest of libvirt for its next start, and shut it down or start it; `running` None: leave that.

    `virsh` is that program with its options; `definition` is XML with its secrets.
    """

    virsh: tuple[str, ...]
    name: str
    definition: str = field(repr=False)
    running: bool | None

    @property
    def path(self) -> str:
        """The guest, for messages."""
        return f"the guest {self.name}"


Action = (
    WriteFile
    | MountOption
    | LoadModule
    | ControlGroup
    | ReleaseDisk
    | RunProgram
    | SetByCommand
    | DefineGuest
    | PutStatements
)


@dataclass(frozen=True, slots=True)
class Reading:
    """A value in force, and the values the kernel offers where it lists them.

    `undo` are the actions that restore exactly this, where setting the value is not enough.
    """

    value: Value
    allowed: tuple[Value, ...] = ()
    undo: tuple[Action, ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """Reason why a machine cannot do what a plan needs, and the remedy."""

    message: str
    remedy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Offer of a host for one knob, placed on it: the value now and those allowed, or the reason against its use.

    `undo` are the actions that restore the present value. `is_missing`: the machine does not have the knob.
    `is_stuck`: its program did not end.
    """

    knob: Knob
    current: Value | None
    allowed: tuple[Value, ...]
    undo: tuple[Action, ...] = ()
    refused: str = ""
    todo: str = ""
    is_missing: bool = False
    is_stuck: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockDevice:
    """A block device as found, for deciding whether a load may read it or destroy what is on it.

    `ids` name it for good: serial, wwn, names under /dev/disk/by-id, a loop device's backing file. `claims` say
    who has it (a mount, swap, a holder, partitions), `signatures` what is on it (ext4, LVM2_member, gpt).
    `refused` says why it could not be looked at. `identity` is the engine's, which tells it from another device under
    the same name; `difference` is how that differs from the identity of an earlier look. `has_scsi_state`: the kernel
    can take it offline.
    """

    path: str
    size_bytes: int = 0
    ids: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()
    read_only: bool = False
    refused: str = ""
    identity: Mapping[str, Any] = field(default_factory=dict)
    difference: str = ""
    has_scsi_state: bool = True


@dataclass(frozen=True, slots=True)
class Condition:
    """One thing that was looked at before measuring: what was found, and what mends it."""

    name: str
    fitness: Fitness
    found: str
    fix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseFacts:
    """Facts of a database server: its `name` and version, every variable as a row, or why it is unavailable.

    `built_in` are the variables that its data is created with. `explained` gives the present meaning of renamed or
    removed variables that a plan names. `in_force` is the value of every variable.
    `empty_bytes` is the size of a new data directory. `copy_bytes_per_s` is the speed of a copy in the data folder.
    `reflink` is true if that file system shares the blocks of a copy.
    Of a `running` server, `wrong` lists what forbids work on it, each with a correction; `notes` are for the report.
    `is_remote`: it is reached by an address that is not the target's. `warehouses` has those of each database that a
    plan names and that has the tables of TPC-C; `unusable` has the reason for each other one.
    """

    name: str = ""
    rows: tuple[Knob, ...] = ()
    built_in: tuple[str, ...] = ()
    explained: Mapping[str, str] = field(default_factory=dict)
    in_force: Mapping[str, Value] = field(default_factory=dict)
    refusal: Refusal | None = None
    empty_bytes: int = 0
    copy_bytes_per_s: float = 0.0
    reflink: bool = False
    running: RunningServer | None = None
    is_remote: bool = False
    warehouses: Mapping[str, int] = field(default_factory=dict)
    unusable: Mapping[str, str] = field(default_factory=dict)
    wrong: tuple[tuple[str, str], ...] = ()
    notes: tuple[StoredMessage, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadHostFacts:
    """The machine that makes the load: where the server's password is kept there, and what forbids its use.

    Each entry of `wrong` has its remedy; `notes` are for the report.
    """

    credential: Mapping[str, str] | None = None
    wrong: tuple[tuple[str, str], ...] = ()
    notes: tuple[StoredMessage, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Machine as inspected, to check a plan against.

    `path_refusal` and `device_refusal` are the reasons against the folder and the disk of the plan; `io_uring_refused`
    and `direct_refused` are those against ways of I/O, "" where they work.

    `missing_programs` are those of a plan's tools that are not there, `missing_modules` those of its layouts that the
    kernel lacks. `load_hosts` are none where the target makes the load itself. `guest` is None where the plan has none.
    `bound` are those of the hypervisor where trials may run there too.
    `swap_bytes` is None where it is unknown. The files lie on `device` and `more_disks`, by way of `top` where that is
    another device; `arrays` are the md arrays between. Of a plan with layouts these are its disks, and there is nothing
    between yet.
    """

    hostname: str
    kernel: str
    boot_id: str
    root: bool
    cores: int
    memory_bytes: int
    path: str
    path_refusal: Refusal | None
    free_bytes: int
    filesystem: str
    mount: str
    path_device: str | None
    device: str | None
    device_refusal: Refusal | None
    io_uring_refused: str
    direct_refused: str
    fingerprint: Mapping[str, str]
    offers: Mapping[str, Offer] = field(default_factory=dict)
    block_devices: Mapping[str, BlockDevice] = field(default_factory=dict)
    database: "DatabaseFacts | None" = None
    missing_programs: frozenset[str] = frozenset()
    missing_modules: frozenset[str] = frozenset()
    load_hosts: tuple[LoadHostFacts, ...] = ()
    guest: GuestFacts | None = None
    bound: "Facts | None" = None
    swap_bytes: int | None = None
    more_disks: tuple[str, ...] = ()
    top: str | None = None
    arrays: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One setting as applied for one application: what was there, what was wanted, what was found.

    `not_taken` says what became of a value that is not in force, `refused` what the kernel or a program said where the
    write failed.
    """

    knob: str
    address: str
    before: Value
    wanted: Value
    observed: Value | None
    state: ChangeState
    refused: str = ""
    not_taken: NotTaken | None = None
