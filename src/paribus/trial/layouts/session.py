"""The layouts of one experiment: built on its disks for an application, and taken apart after it.

In: the text of a layout. Out: the layout made and mounted, as a `Change`. The journal has each disk before the first
step, and makes every step, so that an undo finds everything that was begun.
"""

import time
from collections.abc import Callable, Iterable, Mapping

from paribus.engine.durability import cut_off
from paribus.errors import HostError, Interrupted, Unreachable
from paribus.hosts.storage.devices import size_bytes
from paribus.hosts.storage.mounts import mount_of
from paribus.hosts.storage.stack import stack_of
from paribus.hosts.transport import Host
from paribus.knobs.journal import Journal
from paribus.knobs.kinds.layout import CLEAN
from paribus.knobs.layouts import faults
from paribus.knobs.layouts.build import Build, build_of
from paribus.knobs.layouts.faults import SCSI_RUNNING, scsi_state_of
from paribus.knobs.layouts.layout import parse_layout
from paribus.knobs.layouts.lvm_layers import DATA
from paribus.knobs.layouts.volume import LONG_S, SHORT_S, BuildStep, Names, disk_named
from paribus.model import (
    LAYOUT,
    OFFLINE,
    Change,
    ChangeState,
    Measurement,
    NotTaken,
    ReleaseDisk,
    RunProgram,
    Stack,
    WriteFile,
)
from paribus.trial.devices import Devices
from paribus.trial.layouts import cache_counters, layer_counters
from paribus.trial.layouts.cache_counters import CacheCounts, cache_counts
from paribus.trial.layouts.layer_counters import LayerCounts, layer_counts

_POLL_S = 0.5
_BUSY_S = 10.0
_LACKING_POLLS = 20  # after which an idle array lacks a disk for good; before, the kernel may not have begun
_SYNCED, _MOUNT, _ARRAYS = "100", "mount", "/dev/md/"
_WHOLE = {"sync_action": "idle", "degraded": "0", "resync_start": "none"}  # files of an array that is in sync
_MOST_CHARACTERS = 300


class LayoutSession:
    """Disks that a plan may use, and the layout that is on them."""

    def __init__(
        self,
        host: Host,
        engine: str,
        journal: Journal,
        devices: Devices,
        disks: Mapping[str, int],
        names: Names,
        point: str,
        stopped: Callable[[], bool],
        faulty: Iterable[str] = (),
    ) -> None:
        """`disks` are their sizes by the names in the plan; file systems are mounted at `point`.

        `faulty` disks are made slow, or made to fail, by events.
        """
        self._faulty = {disk_named(name, disks) for name in faulty}
        self._host = host
        self._engine = engine
        self._journal = journal
        self._devices = devices
        self._disks = disks
        self._names = names
        self._stopped = stopped
        self.point = point
        self._is_journalled = False
        self.stack: Stack | None = None  # the devices of the layout in force
        self._build: Build | None = None  # of the layout that was made last
        self._has_cache = False
        self._counts: CacheCounts | None = None  # at the end of the trial before
        self._has_one_top = False  # and not several devices under one file system
        self._written: LayerCounts | None = None  # at the beginning of the trial
        self._top = ""  # the device of a layout without a file system
        self.measurements: tuple[Measurement, ...] = ()
        self.in_force: str | None = None  # None: unknown, after a build that failed

    def build(self, text: str) -> Build:
        """The build of a layout here."""
        return build_of(parse_layout(text), self._disks, self._names, self.point, self._faulty)

    def apply(self, text: str) -> Change:
        """Take apart what is there, and build the layout. A step that fails is a mismatched change.

        Raises HostError where a disk must not be used, JournalError, Unreachable and Interrupted.
        """
        if not self._is_journalled:
            for disk in self._disks:
                self._devices.check(disk, written=True)
            for disk in self._disks:
                self._journal.intend(LAYOUT, disk, CLEAN, text, [self._release(disk)], persistent=True)
            self._is_journalled = True
        elif self.in_force != CLEAN:
            self.take_apart()
        self.in_force = None
        build = self.build(text)
        try:
            for step in build.steps:
                self._make(step)
        except Unreachable:
            raise
        except HostError as refusal:
            words = " ".join(refusal.message.split())[:_MOST_CHARACTERS]  # some programs print all their options
            return self._change(text, CLEAN, ChangeState.MISMATCHED, words)
        self.in_force = text
        self._build = build
        self._counts = None
        self.stack = stack_of(self._host, *build.below)
        self._has_one_top = len(build.below) == 1
        layout = parse_layout(text)
        is_raw = layout.file_system is None
        self._has_cache = any(layer.disks() for layer in layout.layers)
        self._devices.in_place_of_files = self._top = build.top.path if is_raw else ""
        self.measurements = (self._usable(),)
        return self._change(text, text, ChangeState.VERIFIED)

    def verify(self) -> tuple[Change, ...]:
        """A change for a layout whose file system is mounted no more, or whose device is gone."""
        text = self.in_force
        if text is None or (self._is_present() if self._top else mount_of(self._host, self.point).point == self.point):
            return ()
        return (self._change(text, CLEAN, ChangeState.MISMATCHED),)

    def cache_use(self) -> tuple[Measurement, ...]:
        """Hits and dirty data of the layout's cache since the last call. Raises Unreachable."""
        if not self._has_cache:
            return ()
        before, self._counts = self._counts, cache_counts(self._host, self._names)
        return cache_counters.measurements(before, self._counts)

    @property
    def physical_volumes(self) -> tuple[str, ...]:
        """Paths of the physical volumes of the LVM group of the layout that was made last; empty without one."""
        return self._build.physical_volumes if self._build is not None else ()

    @property
    def logical_volume(self) -> str:
        """The logical volume, as LVM names it: its group, and its name there."""
        return f"{self._names.group}/{DATA}"

    def begin_trial(self) -> None:
        """Note the counters of the layout's devices, when a trial's settings are in force. Raises Unreachable."""
        self._written = self._layer_counts()

    def layer_use(self) -> tuple[Measurement, ...]:
        """Bytes written to the layout and to its disks since the trial began. Raises Unreachable."""
        return layer_counters.measurements(self._written, self._layer_counts())

    def _layer_counts(self) -> LayerCounts | None:
        return layer_counts(self._host, self.stack) if self.stack is not None and self._has_one_top else None

    def disk(self, name: str) -> str:
        """The disk of this name in the plan, or with this end of it."""
        return disk_named(name, self._disks)

    def damage(self) -> None:
        """Regard the layout as damaged by what follows: the next trial builds it anew."""
        self.in_force = None

    def run(self, *argv: str) -> None:
        """Run a program on the layout. Raises HostError with its words, JournalError and Unreachable."""
        self._journal.make(LAYOUT, RunProgram(argv, SHORT_S))

    def disturb(self, disk: str, table: Callable[[str, int], str]) -> None:
        """Give the device over a disk another table, made of the disk and its size. Raises as `run`."""
        name = faults.device_over(disk, self._names)
        self.run(faults.PROGRAM, "load", name, "--table", table(disk, self._disks[disk]))
        self.run(faults.PROGRAM, "resume", "--nolockfs", name)  # which puts the new table in place of the old at once

    def take_offline(self, disk: str) -> None:
        """Have the kernel refuse every operation on a SCSI disk; an undo ends that. Raises as `run`."""
        path = scsi_state_of(self._host, disk)
        undo = [WriteFile(path, f"{SCSI_RUNNING}\n")]  # this file needs the end of the line
        self._journal.intend(LAYOUT, path, SCSI_RUNNING, OFFLINE, undo, persistent=False)
        self.write(path, f"{OFFLINE}\n")

    def take_online(self, disk: str) -> None:
        """End that. Raises as `run`."""
        self.write(scsi_state_of(self._host, disk), f"{SCSI_RUNNING}\n")

    def has_fault_device(self, disk: str) -> bool:
        """Whether a device of device-mapper lies over the disk."""
        return disk in self._faulty

    def write(self, path: str, text: str) -> None:
        """Write a file of the kernel that a device of the layout has. Raises as `run`."""
        self._journal.make(LAYOUT, WriteFile(path, text))

    def sync(self) -> None:
        """Have the file system write what it was given so far. Raises as `run`."""
        self._journal.make(LAYOUT, RunProgram(("sync", "--file-system", self.point), LONG_S))

    def cut_off(self) -> None:
        """Have the file system lose what it has not written, as at a power cut. Raises EngineError and Unreachable."""
        assert self._build is not None
        cut_off(self._host, self._engine, self.point, self._build.top.path)

    def mount_again(self) -> None:
        """Mount the file system again, which repairs it from its log. Raises as `run`."""
        assert self._build is not None
        deadline = time.monotonic() + _BUSY_S
        while True:
            try:
                self.run("umount", self.point)
                break
            except Unreachable:
                raise
            except HostError:  # programs that list mounts or free space hold it for a moment
                if time.monotonic() > deadline:
                    raise
                time.sleep(_POLL_S)
        for step in self._build.steps:
            if step.argv and step.argv[0] == _MOUNT:
                self.run(*step.argv)
        self.run("ls", self.point)  # fails where another mount namespace still holds what was cut off

    def take_apart(self) -> None:
        """Make the disks clean. Raises HostError, JournalError and Unreachable."""
        self.in_force = None
        for disk in reversed(list(self._disks)):
            self._journal.make(LAYOUT, self._release(disk))
        self.in_force = CLEAN

    def _is_present(self) -> bool:
        """Whether the device of a layout without a file system is there."""
        try:
            return size_bytes(self._host, self._top) > 0
        except Unreachable:
            raise
        except HostError:
            return False

    def _usable(self) -> Measurement:
        """Return the usable size of the file system, or of the device itself."""
        if self._top:
            usable, source = size_bytes(self._host, self._top), "sysfs"
        else:
            answer = self._host.run(["stat", "--file-system", "--format", "%a %S", self.point]).stdout.split()
            usable, source = int(answer[0]) * int(answer[1]), "statfs"
        return Measurement.of_value("layout_usable_bytes", "B", float(usable), "prepare", source)

    def _release(self, disk: str) -> ReleaseDisk:
        return ReleaseDisk(disk, tuple(self._disks))

    def _make(self, step: BuildStep) -> None:
        if self._stopped():
            raise Interrupted("stopped while a layout was built", "continue with: paribus resume")
        if step.argv and step.argv[0] == _MOUNT:
            self.run("mkdir", "-p", self.point)
        if step.argv:
            self._journal.make(LAYOUT, RunProgram(step.argv, step.patience_s))
        for device, attribute, value in step.attributes:
            name = self._host.resolve(device).removeprefix("/dev/").replace("/", "!")
            self.write(f"/sys/class/block/{name}/{attribute}", value)
        if step.waits_for:
            self._wait(step.waits_for)

    def _wait(self, volume: str) -> None:
        """Until the copies or parities of a volume are whole. Raises HostError for an array that has lost a disk."""
        idle = 0
        while not self._is_in_sync(volume):
            if self._stopped():
                raise Interrupted("stopped while an array was synchronised", "continue with: paribus resume")
            idle = idle + 1 if volume.startswith(_ARRAYS) and self._state_of(volume, "sync_action") == "idle" else 0
            if idle > _LACKING_POLLS:
                lacking = self._state_of(volume, "degraded")
                raise HostError(f"{volume} lacks {lacking} of its disks", "see: mdadm --detail and dmesg")
            time.sleep(_POLL_S)

    def _state_of(self, array: str, file: str) -> str:
        name = self._host.resolve(array).removeprefix("/dev/")
        return self._host.read(f"/sys/class/block/{name}/md/{file}").strip()

    def _is_in_sync(self, volume: str) -> bool:
        if volume.startswith(_ARRAYS):
            # A new array is idle until the kernel begins: it is whole when nothing is missing and nothing is left.
            return all(self._state_of(volume, file) == state for file, state in _WHOLE.items())
        command = ["lvs", "--noheadings", "--options", "sync_percent", volume]
        return self._host.run(command).stdout.strip().startswith(_SYNCED)

    def _change(self, text: str, observed: str, state: ChangeState, refused: str = "") -> Change:
        is_taken = state is ChangeState.VERIFIED
        return Change(
            knob=LAYOUT,
            address=", ".join(self._disks),
            before=CLEAN,
            wanted=text,
            observed=observed,
            state=state,
            refused=refused,
            not_taken=None if is_taken else NotTaken.REFUSED if refused else NotTaken.RESET,
        )
