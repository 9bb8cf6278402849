"""The RAID volume of an LVM group in a trial: disks that fail and are replaced, checks, and whether it is whole.

Sources: the manual pages lvmraid and lvchange; the status line of the kernel's documentation of dm-raid.
"""

from typing import NamedTuple

from paribus.errors import HostError
from paribus.hosts.storage.stack import lies_on
from paribus.hosts.transport import Host
from paribus.knobs.layouts import faults
from paribus.knobs.layouts.lvm_layers import lvm_command
from paribus.trial.events.raid import IDLE, no_failure
from paribus.trial.layouts.session import LayoutSession

_FIELDS = 8  # of a status: start, length, "raid", type, devices, health, progress, action
_ALIVE = "A"


class RaidStatus(NamedTuple):
    """State of a RAID volume: a letter for each device, its action, and the sectors that differ."""

    health: str
    action: str
    mismatches: int


class LogicalRaid:
    """The logical volume of the layout that is made."""

    def __init__(self, host: Host, layouts: LayoutSession) -> None:
        """Start without failed disks."""
        self._host = host
        self._layouts = layouts
        self._failed: list[str] = []  # disks
        self._added: list[str] = []  # disks that took the place of others

    def fail(self, disk: str) -> None:
        """Have every operation on a disk fail: LVM has no command that takes a working one out."""
        self.expect_failure(disk)
        self._layouts.disturb(disk, faults.failing)

    def expect_failure(self, disk: str) -> None:
        """Remember a disk that fails from now on; the kernel does without it when it notices."""
        self._physical_volume(disk)
        self._failed.append(disk)

    def replace(self, disk: str) -> None:
        """Rebuild what a failed disk had: all of it on that disk, or on another one."""
        if self._take_place(disk) == disk:
            self._let_work(disk)
            self._run("lvchange", "--rebuild", self._physical_volume(disk), self._layouts.logical_volume)
            return
        self._added.append(disk)
        group = self._layouts.logical_volume.partition("/")[0]
        self._run("vgextend", group, disk)
        self._run("lvconvert", "--repair", self._layouts.logical_volume)
        self._run("vgreduce", "--removemissing", group)  # without which no other command works on the group

    def add(self, disk: str) -> None:
        """Bring a failed disk back with its old content: what has changed since is copied."""
        self._take_place(disk)
        self._let_work(disk)
        self._run("lvchange", "--refresh", self._layouts.logical_volume)

    def scrub(self, action: str) -> None:
        """Begin a `check` or `repair` of the volume."""
        self._run("lvchange", "--syncaction", action, self._layouts.logical_volume)

    def is_whole(self) -> bool:
        """Whether every device lives and is in sync, and nothing is rebuilt or checked."""
        status = self._status()
        return set(status.health) == {_ALIVE} and status.action in IDLE

    def is_idle(self) -> bool:
        """Whether nothing is rebuilt or checked."""
        return self._status().action in IDLE

    def mismatches(self) -> int:
        """Sectors that the last check found to differ between copies, or from their parity."""
        return self._status().mismatches

    def _status(self) -> RaidStatus:
        answer = self._host.run([faults.PROGRAM, "status", f"/dev/{self._layouts.logical_volume}"])
        words = answer.stdout.split()
        if len(words) <= _FIELDS or words[2] != "raid":
            words_of_program = (answer.stdout or answer.stderr).strip()
            message = f"dmsetup reports no RAID state of {self._layouts.logical_volume}: {words_of_program}"
            raise HostError(message, "give the layout lvm of type raid1, raid5 or raid10")
        return RaidStatus(words[5], words[7], int(words[8]))

    def _take_place(self, disk: str) -> str:
        """The failed disk that a disk stands for from now on: itself, or the one that failed last."""
        if not self._failed:
            raise no_failure()
        return self._failed.pop(self._failed.index(disk) if disk in self._failed else -1)

    def _let_work(self, disk: str) -> None:
        if self._layouts.has_fault_device(disk):
            self._layouts.disturb(disk, faults.passing_on)

    def _physical_volume(self, disk: str) -> str:
        """The physical volume that is the disk, or lies on it."""
        for path in (*self._layouts.physical_volumes, *self._added):
            if lies_on(self._host, path, disk):
                return path
        todo = "name a disk of its group, or remove the event"
        raise HostError(f"{disk} is not in {self._layouts.logical_volume}", todo)

    def _run(self, program: str, *words: str) -> None:
        self._layouts.run(*lvm_command(program, (*self._layouts.physical_volumes, *self._added), *words))
