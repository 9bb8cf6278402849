"""The events of one trial: begun when their time has come, watched until they are over.

In: the events of the plan and the layout that they happen to. Out: when they happened, and what the load did then.
"""

import contextlib
import functools
import math
import time
from collections.abc import Callable, Sequence

from paribus.engine.protocol import Interval
from paribus.hosts.storage.devices import written_bytes
from paribus.hosts.transport import Host
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.knobs.layouts import faults
from paribus.model import KILL_SERVER, LASTED, OF_DISK, OFFLINE, RETURNS, Measurement, PlannedEvent
from paribus.trial.events import phases
from paribus.trial.events.background import BackgroundJob
from paribus.trial.events.logical_raid import LogicalRaid
from paribus.trial.events.md_arrays import MdArrays
from paribus.trial.events.phases import OccurredEvent
from paribus.trial.events.volume_members import VolumeMembers
from paribus.trial.layouts.session import LayoutSession

_MISSED = N_("{event} did not happen before the trial ended: lengthen protocol.trial, or let it happen earlier")


class TrialEvents:
    """The events of one trial, in the order of the plan."""

    def __init__(
        self,
        host: Host,
        layouts: LayoutSession | None,
        members: VolumeMembers,
        events: Sequence[PlannedEvent],
        start_job: Callable[[int, Sequence[str]], BackgroundJob],
        own_processes: Callable[[Sequence[int]], None],
        kill_server: Callable[[], None],
        on_wait: Callable[[str], None],
    ) -> None:
        """Prepare the events; none happens before `pass_time`. `layouts` may be None where no event is of a layout.

        `start_job` takes a number and an argument list; `own_processes` hears the processes of all jobs. `kill_server`
        returns when the server answers again. `on_wait` hears what the end of the trial waits for.
        """
        self._members = members
        self._on_wait = on_wait
        self._own_processes = own_processes
        self._host = host
        self._of_layout = layouts
        self._start_job = start_job
        self._kill_server = kill_server
        self._jobs: list[tuple[PlannedEvent, OccurredEvent, BackgroundJob]] = []
        self._waiting = list(events)
        self._history: list[OccurredEvent] = []
        self._disturbing: list[tuple[PlannedEvent, OccurredEvent]] = []
        self._rebuilding: tuple[str, int] | None = None  # the disk, and what was written to it before
        self._rebuilt_bytes: int | None = None  # None: no rebuild has ended
        self._opened_s = math.inf

    def pass_time(self, elapsed_s: float, done_bytes: int = 0) -> None:
        """Begin the events that are due `elapsed_s` after the measured time began, and see which are over.

        `done_bytes` were read and written in that time.

        Raises HostError where one cannot be made, and DatabaseError where a killed server does not start again.
        """
        self._opened_s = min(self._opened_s, time.monotonic() - elapsed_s)  # intervals are read late, and never early
        for occurred in self._history:
            if occurred.end_s is None and self._is_over(occurred):
                occurred.end_s = self._now_s()
                if occurred.action in RETURNS:
                    self._count_rebuilt()
        for event, occurred, job in self._jobs:
            if occurred.end_s is None and event.until_s is not None and event.until_s <= elapsed_s:
                job.stop()
                occurred.end_s, occurred.is_cut = self._now_s(), True
        for event, occurred in list(self._disturbing):
            if event.until_s is not None and event.until_s <= elapsed_s:
                self._let_work(event)
                self._disturbing.remove((event, occurred))
                occurred.end_s = self._now_s()
        while self._waiting and self._waiting[0].is_due(elapsed_s, done_bytes):
            self._begin(self._waiting.pop(0))

    def _begin(self, event: PlannedEvent) -> None:
        """Let an event happen."""
        occurred = OccurredEvent(event.action, self._now_s())
        self._history.append(occurred)
        if event.action == "run":
            self._jobs.append((event, occurred, self._start_job(len(self._jobs) + 1, event.argv)))
            self._own_processes([job.pid for _, _, job in self._jobs])
            return
        if event.action == KILL_SERVER:
            self._kill_server()
            occurred.end_s = self._now_s()
            self._own_processes([job.pid for _, _, job in self._jobs])
            return
        if event.member is not None:  # programs of a controller take a second each
            done_s = self._members.fail(event.member) if event.action == "fail-member" else self._members.replace()
            occurred.start_s = done_s - self._opened_s
            return
        self._layouts.damage()
        self._actions[event.action](event)
        if event.action == "trim":
            occurred.end_s = self._now_s()
        if event.action in (*OF_DISK, OFFLINE):
            self._disturbing.append((event, occurred))

    @property
    def lasting(self) -> bool:
        """Whether an event that was begun, and ends by itself, is not over."""
        return any(each.end_s is None and each.action in LASTED for each in self._history)

    def reasons(self) -> list[StoredMessage]:
        """Return reasons against using the trial: an event whose time did not come, or a program that failed."""
        missed = [stored_message(_MISSED, event=event.name or event.action) for event in self._waiting]
        failed = (failure for _, _, job in self._jobs if (failure := job.failure()))
        return [*missed, *failed, *self._members.reasons()]

    def close(self, *, wait: bool = True) -> None:
        """End the programs that still run, and let disks be as before; then wait until a drive that failed is rebuilt.

        Raises EngineError, HostError and JournalError.
        """
        with contextlib.ExitStack() as ending:  # each, also where another cannot be ended; the last one first
            ending.callback(self._members.bring_back, self._on_wait, wait=wait)
            for _, occurred, job in self._jobs:
                ending.callback(self._end, occurred, job)
            for event, _ in self._disturbing:
                ending.callback(self._let_work, event)
        self._disturbing.clear()

    def _end(self, occurred: OccurredEvent, job: BackgroundJob) -> None:
        if job.is_over():
            occurred.end_s = occurred.end_s or self._now_s()
        job.stop()

    def measurements(self, intervals: Sequence[Interval], duration_s: float) -> tuple[Measurement, ...]:
        """Return measurements of the load in each phase of the trial."""
        measured = phases.measurements(self._history, intervals, duration_s)
        if self._rebuilt_bytes is not None:
            rebuilt = Measurement.of_value("rebuilt_bytes", "B", float(self._rebuilt_bytes), "measure", "sysfs")
            measured = (*measured, rebuilt)
        if any(each.action == "check" and each.end_s is not None for each in self._history):
            sectors = float(self._raid.mismatches())
            measured = (*measured, Measurement.of_value("mismatched_sectors", "", sectors, "measure", "sysfs"))
        return measured

    @property
    def _actions(self) -> dict[str, Callable[[PlannedEvent], None]]:
        return {
            "fail-member": self._fail,
            "offline": self._take_offline,
            "add": self._add,
            "replace": self._replace,
            "check": self._check,
            "resync": self._resync,
            "trim": self._trim,
            "delay": self._delay,
            "error": self._break,
        }

    @property
    def _layouts(self) -> LayoutSession:
        """The layouts that events of layouts need."""
        assert self._of_layout is not None
        return self._of_layout

    @functools.cached_property
    def _raid(self) -> MdArrays | LogicalRaid:
        """The arrays of the trial's layout: those of md, or the volume of LVM where md has no redundancy."""
        arrays = MdArrays(self._host, self._layouts)
        is_of_lvm = self._layouts.physical_volumes and not arrays.has_redundancy()
        return LogicalRaid(self._host, self._layouts) if is_of_lvm else arrays

    def _now_s(self) -> float:
        return time.monotonic() - self._opened_s

    def _fail(self, event: PlannedEvent) -> None:
        self._raid.fail(self._layouts.disk(event.disk))

    def _replace(self, event: PlannedEvent) -> None:
        self._rebuild_on(self._layouts.disk(event.disk), self._raid.replace)

    def _add(self, event: PlannedEvent) -> None:
        self._rebuild_on(self._layouts.disk(event.disk), self._raid.add)

    def _rebuild_on(self, disk: str, begin: Callable[[str], None]) -> None:
        self._rebuilding = disk, written_bytes(self._host, disk)
        begin(disk)

    def _count_rebuilt(self) -> None:
        """Add what was written to the disk of a rebuild that is over."""
        if self._rebuilding is not None:
            disk, before = self._rebuilding
            self._rebuilt_bytes = (self._rebuilt_bytes or 0) + written_bytes(self._host, disk) - before
            self._rebuilding = None

    def _take_offline(self, event: PlannedEvent) -> None:
        """The kernel refuses every operation on the disk, as after its cable was pulled."""
        disk = self._layouts.disk(event.disk)
        self._raid.expect_failure(disk)
        self._layouts.take_offline(disk)

    def _let_work(self, event: PlannedEvent) -> None:
        """End what an event does to a disk."""
        disk = self._layouts.disk(event.disk)
        if event.action == OFFLINE:
            self._layouts.take_online(disk)
        else:
            self._layouts.disturb(disk, faults.passing_on)

    def _delay(self, event: PlannedEvent) -> None:
        """Every operation on the disk completes later."""
        table = functools.partial(faults.delaying, delay_s=event.delay_s)
        self._layouts.disturb(self._layouts.disk(event.disk), table)

    def _break(self, event: PlannedEvent) -> None:
        """Every operation on the disk fails; the kernel throws it out of its array when it notices."""
        disk = self._layouts.disk(event.disk)
        self._raid.expect_failure(disk)
        self._layouts.disturb(disk, faults.failing)

    def _check(self, event: PlannedEvent) -> None:  # noqa: ARG002
        self._raid.scrub("check")

    def _resync(self, event: PlannedEvent) -> None:  # noqa: ARG002
        self._raid.scrub("repair")

    def _trim(self, event: PlannedEvent) -> None:  # noqa: ARG002
        self._layouts.run("fstrim", self._layouts.point)

    def _is_over(self, occurred: OccurredEvent) -> bool:
        """Whether an event has ended by itself; a failed disk stays so until another event replaces it."""
        if occurred.action not in LASTED:
            return False
        if occurred.action == "run":
            return any(job.is_over() for _, begun, job in self._jobs if begun is occurred)
        if self._of_layout is None:
            return self._members.is_whole()
        return self._raid.is_whole() if occurred.action in RETURNS else self._raid.is_idle()
