"""The hypervisor of the guest under test while trials run: its samples, other guests, and changes of the guest.

In: the windows of trials. Out: measurements of the hypervisor and of the guest's process, and reasons not to use a
trial. Called by the bench and the runner.
"""

import contextlib
import dataclasses
import os
from collections.abc import Iterator, Sequence
from typing import Self

from paribus.engine.protocol import ProcessUse
from paribus.engine.run import Sampler
from paribus.errors import HostError, Unreachable
from paribus.hosts.facts import BOOT_ID_FILE
from paribus.hosts.guests import definition
from paribus.hosts.guests import domain as domains
from paribus.hosts.guests.process import ThreadTimes, guest_of, process_of, runs, thread_times
from paribus.hosts.local import LocalHost
from paribus.hosts.transport import Host
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.model import Guest, Measurement
from paribus.trial.load.load_host import LoadHostSession, renamed
from paribus.trial.load.monitor import LoadMonitor, Observations
from paribus.trial.target_session import Site
from paribus.trial.validity import LoadWork, OtherLoad

_PREFIX = "hypervisor_"
_SOURCE = "hypervisor"
_OF_THREADS = ("vcpu_cores", "vcpu_wait_share", "qemu_cores")
_QEMU = ("qemu", "kvm")  # begin the names of its programs


class HypervisorWatch:
    """Sampler of a hypervisor during one experiment, and the guest under test as it was when a trial began."""

    def __init__(self, site: Site, guest: Guest, interval_s: float, load_hosts: Sequence[LoadHostSession]) -> None:
        """Start sampling; one of the load hosts may be this machine too. Raises HostError."""
        self._host = site.host
        self._guest = guest
        self._uuid = domains.read(site.host, guest.uri, guest.name).uuid
        self._pid: int | None = None  # 0 where it cannot be seen
        self._definition = ""
        self._other_load = _OtherGuests(site.host)
        self._own = [os.getpid()] if site.host.name == LocalHost.name else []
        boot = site.host.read(BOOT_ID_FILE) if load_hosts else ""
        here = (each for each in load_hosts if each.site.host.read(BOOT_ID_FILE) == boot)
        self._on_load_host = each.sampler if (each := next(here, None)) else None
        self._sampler = Sampler(site.host, site.engine, [], interval_s)  # last: where it runs, it has to be closed

    @classmethod
    def of(
        cls, site: Site | None, guest: Guest | None, interval_s: float, load_hosts: Sequence[LoadHostSession]
    ) -> Self | None:
        """The watch of the machine that the target is a guest of; None where the plan names none. Raises HostError."""
        return cls(site, guest, interval_s, load_hosts) if site and guest else None

    def begin_trial(self) -> None:
        """Look at the guest before a load, and start the sampler again where it has ended. Raises HostError."""
        self._sampler.revive()
        if not (self._pid and runs(self._host, self._pid, self._uuid)):
            process = process_of(self._host, self._uuid)
            self._pid = int(process[0]) if process else 0
            self._sampler.set_own_processes([*self._own, *self._pids])
            if self._on_load_host is not None:
                self._on_load_host.set_own_processes(self._pids)
        self._definition = ""
        with _unless_unreachable():
            self._definition = self._read_definition()

    def monitor(self, target: LoadMonitor) -> "HypervisorMonitor | None":
        """The monitor of a trial's window on the hypervisor, given that of the target.

        None where the guest's process cannot be seen: its use would be taken for another's, and depend on the arm.
        """
        return HypervisorMonitor(self, target.elsewhere(self._sampler, self._other_load)) if self._pid else None

    def add_load_process(self, pid: int, sampler: Sampler) -> None:
        """Count a process of the load host of this sampler as the experiment's, where that is this machine."""
        if sampler is self._on_load_host:
            self._sampler.add_own_processes([*self._own, *self._pids, pid])

    def thread_times(self) -> ThreadTimes | None:
        """The times of the guest's threads until now; None where the kernel does not count them. Raises Unreachable."""
        return thread_times(self._host, self._pid) if self._pid else None

    def interference(self) -> list[StoredMessage]:
        """Reasons not to use the trial: a job on the guest, or a part of its definition that changed meanwhile."""
        name = self._guest.name
        try:
            now = self._read_definition()
            job = domains.job(self._host, self._guest.uri, name, now)
            changed = definition.differing(self._definition, now) if self._definition else []
        except Unreachable:
            raise
        except HostError as error:
            text = N_("what happened to the guest {guest} meanwhile is unknown: {why}")
            return [stored_message(text, guest=name, why=error.message)]
        if job:
            return [stored_message(N_("the guest {guest} had a job in progress: {job}"), guest=name, job=job)]
        if changed:
            text = N_("the definition of the guest {guest} changed meanwhile: {parts}")
            return [stored_message(text, guest=name, parts=changed)]
        return []

    def warning(self) -> StoredMessage | None:
        """A message, once, as soon as other load disturbs too many trials to discard them."""
        warning = self._other_load.warning()
        return _located(warning) if warning else None

    def usual(self) -> StoredMessage | None:
        """A note on other load that was always present, or could not be told from the guest's; None for neither."""
        if self._pid == 0:
            text = N_("the guest's process cannot be seen, so load of other guests was not looked for; connect as root")
            return _located(stored_message(text))
        usual = self._other_load.usual()
        return _located(usual) if usual else None

    def close(self) -> None:
        """End the sampler."""
        self._sampler.close()

    @property
    def _pids(self) -> list[int]:
        return [self._pid] if self._pid else []

    def _read_definition(self) -> str:
        return domains.definition(self._host, self._guest.uri, self._guest.name)


class HypervisorMonitor:
    """A hypervisor during one window: its processors, its other processes, and the threads of the guest."""

    def __init__(self, watch: HypervisorWatch, monitor: LoadMonitor) -> None:
        self._watch = watch
        self._monitor = monitor
        self._opened: ThreadTimes | None = None
        self._closed: ThreadTimes | None = None

    def add_load_process(self, pid: int, sampler: Sampler) -> None:
        """Count a process of the load host of this sampler as the experiment's, where that is this machine."""
        self._watch.add_load_process(pid, sampler)

    def open(self) -> None:
        """Mark the start of the window. Raises HostError when the sampler is gone."""
        self._monitor.open()
        self._opened = self._watch.thread_times()

    def close(self) -> None:
        """Mark the end of the window. Raises HostError when the sampler is gone."""
        self._closed = self._watch.thread_times()
        self._monitor.close()

    def conclude(self, work: LoadWork) -> Observations:
        """Return the observations of a load that did `work` in the guest. Raises HostError."""
        observed = self._monitor.conclude(dataclasses.replace(work, cores=1, user_s=0.0))
        reasons = [*observed.reasons, *self._watch.interference()]
        measured = renamed(observed.measurements, _PREFIX, _SOURCE) + self._of_threads(work.duration_s)
        return Observations(tuple(measured), [_located(reason) for reason in reasons])

    def _of_threads(self, duration_s: float) -> list[Measurement]:
        if self._opened is None or self._closed is None:
            return []
        times = self._closed.since(self._opened)
        runnable_s = times.vcpu_run_s + times.vcpu_wait_s
        waited_share = times.vcpu_wait_s / runnable_s if runnable_s else 0.0
        values = (times.vcpu_run_s / duration_s, waited_share, times.other_run_s / duration_s)
        named = zip(_OF_THREADS, values, strict=True)
        return [Measurement.of_value(metric, "", value, "measure", _SOURCE) for metric, value in named]


class _OtherGuests(OtherLoad):
    """The load of other processes of a hypervisor; those of QEMU have the names of their guests."""

    def __init__(self, host: Host) -> None:
        super().__init__(own_pids=set())
        self._host = host
        self._guests: dict[int, str] = {}

    def name_of(self, process: ProcessUse) -> str:
        """The name of a process for people: `guest db2`."""
        if not process.command.startswith(_QEMU):
            return process.command
        if process.pid not in self._guests:
            with _unless_unreachable():
                self._guests[process.pid] = guest_of(self._host, process.pid)
        guest = self._guests.get(process.pid)
        return stored_message(N_("guest {guest}"), guest=guest) if guest else process.command


@contextlib.contextmanager
def _unless_unreachable() -> Iterator[None]:
    """Go on after an error of the machine, unless the connection to it was lost."""
    try:
        yield
    except Unreachable:
        raise
    except HostError:
        pass


def _located(reason: StoredMessage) -> StoredMessage:
    return stored_message(N_("on the hypervisor: {what}"), what=reason)
