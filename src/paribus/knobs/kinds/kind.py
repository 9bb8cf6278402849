"""The contract of a knob kind, what all kinds share, and their registry."""

import shlex
from abc import ABC, abstractmethod
from typing import Literal, Protocol

from paribus.hosts.transport import Host
from paribus.knobs.kinds import placement, shell
from paribus.model import Action, Knob, Location, ProcessState, Reading, Refusal, Value
from paribus.registry import Registry

Holder = Literal["machine", "group", "guest", "layout", "platform", "process", "server", "trial"]
NOT_APPLIED: tuple[Holder, ...] = ("guest", "layout", "platform", "process", "trial")
"""Kinds of knobs not written one by one: processes and guests start with them, disks are built, a trial has events."""


class KnobKind(Protocol):
    """Protocol of one kind of knobs: how they are located, read and written.

    All methods but `place` and `conflict` are pure: they take values and texts, and return actions and values. All
    methods but `place` take a placed knob, whose addresses are those of one machine.

    Attributes:
        holder: What has the value: the machine itself, its disks (a layout), a control group of the experiment, a
            process or a virtual machine from its start, a database server. Or the trial, in which events happen, or the
            machine that it runs on (a platform).
        is_condition: Whether every trial records the values of such knobs, as conditions that should stay constant.
        renumbers_devices: Whether a write can give a block device another number, as reloading its driver does.
        absent_text: The text that stands for a file that does not exist yet; None where a missing file is an error.
    """

    holder: Holder
    is_condition: bool
    renumbers_devices: bool
    absent_text: str | None

    def place(self, host: Host, knob: Knob, location: Location) -> Knob:
        """Locate a knob on a host.

        Args:
            host: The machine.
            knob: The catalogue's row, whose addresses may have placeholders.
            location: The device and the mount point under test.

        Returns:
            The knob with the addresses of that machine.

        Raises:
            UsageError: The knob needs a device, and `location` has none.
            Missing: The machine does not have the knob.
        """
        ...

    def reads(self, knob: Knob) -> tuple[str, ...]:
        """The paths of the files to read, in the order in which `parse` takes their texts."""
        ...

    def runs(self, knob: Knob) -> tuple[tuple[str, ...], ...]:
        """The argument lists of the programs that print the value, where it is in no file."""
        ...

    def parse(self, knob: Knob, texts: tuple[str, ...]) -> Reading:
        """Extract the value from the files' texts.

        Args:
            knob: The placed knob.
            texts: The texts of the files of `reads`, then the outputs of the programs of `runs`, in that order.

        Returns:
            The value in force, the allowed values where a file lists them, and the undo actions where they are not
            `writes` of that value.

        Raises:
            ValueError: A text is no value of the knob.
            IndexError: A text has too few words.
            Missing: What the knob belongs to is gone.
        """
        ...

    def writes(self, knob: Knob, value: Value) -> tuple[Action, ...]:
        """The actions that set the value, in order; the journal's keeper carries them out."""
        ...

    def same(self, requested: Value, observed: Value) -> bool:
        """Whether the value read back (`observed`) is the one that was written (`requested`)."""
        ...

    def engine_options(self, knob: Knob, value: Value) -> tuple[str, ...]:
        """The engine's options that start a process under this setting; empty where it needs none."""
        ...

    def of_process(self, knob: Knob, value: Value, process: ProcessState) -> Value:
        """The value that a running process has: `value` itself where that is in force."""
        ...

    def conflict(self, host: Host, knob: Knob) -> Refusal | None:
        """Return the reason why a readable knob must not be set on this host; None if it may be."""
        ...

    def set_by_hand(self, knob: Knob, value: Value) -> str:
        """The shell line, statement or line of configuration that sets the value."""
        ...

    def check_by_hand(self, knob: Knob) -> str:
        """The shell line or statement that shows the value in force."""
        ...

    def persist_by_hand(self, knob: Knob, value: Value) -> str:
        """The command or line of configuration that keeps the value in force after the next start."""
        ...


class FileKind(ABC):
    """A kind whose values are in files of the machine; its methods are the usual ones of all kinds."""

    holder: Holder = "machine"
    is_condition: bool = False
    renumbers_devices: bool = False
    absent_text: str | None = None

    def place(self, host: Host, knob: Knob, location: Location) -> Knob:
        """Locate a knob on a host. Raises UsageError without a device, and Missing where nothing matches."""
        return placement.place(host, knob, location)

    def reads(self, knob: Knob) -> tuple[str, ...]:
        """All addresses."""
        return knob.addresses

    def runs(self, knob: Knob) -> tuple[tuple[str, ...], ...]:  # noqa: ARG002
        """None: the value is in files."""
        return ()

    @abstractmethod
    def parse(self, knob: Knob, texts: tuple[str, ...]) -> Reading:
        """Extract the value from the files' texts."""

    @abstractmethod
    def writes(self, knob: Knob, value: Value) -> tuple[Action, ...]:
        """The actions that set the value."""

    def same(self, requested: Value, observed: Value) -> bool:
        """Equal as text: the kernel prints values as they are written."""
        return str(requested) == str(observed)

    def engine_options(self, knob: Knob, value: Value) -> tuple[str, ...]:  # noqa: ARG002
        """None: every process of the machine has the value."""
        return ()

    def of_process(self, knob: Knob, value: Value, process: ProcessState) -> Value:  # noqa: ARG002
        """The value: every process of the machine has it."""
        return value

    def conflict(self, host: Host, knob: Knob) -> Refusal | None:  # noqa: ARG002
        """Return no conflict: such a knob may always be set."""
        return None

    def set_by_hand(self, knob: Knob, value: Value) -> str:
        """The shell line that does what `writes` does."""
        return shell.commands(self.writes(knob, value))

    def check_by_hand(self, knob: Knob) -> str:
        """The shell line that prints the files."""
        return shlex.join(["cat", *self.reads(knob)])

    @abstractmethod
    def persist_by_hand(self, knob: Knob, value: Value) -> str:
        """The command or line of configuration that keeps the value in force after the next start."""


knob_kinds: Registry[KnobKind] = Registry("knob kind")
