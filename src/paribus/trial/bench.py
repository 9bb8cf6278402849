"""The bench: a target on which trials can be made, and which is restored when the bench is left."""

import contextlib
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from paribus.engine import folder
from paribus.engine.run import Sampler, probe
from paribus.errors import EngineError, HostError, Unreachable
from paribus.hosts.storage.devices import size_bytes
from paribus.hosts.storage.drives import error_counters
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.knobs import journal, members
from paribus.knobs.apply import Applier
from paribus.knobs.conditions import Conditions
from paribus.knobs.discovery import touched
from paribus.knobs.layouts.faults import scsi_state_of
from paribus.knobs.layouts.volume import Names, disk_named
from paribus.model import OFFLINE, Plan, Purpose, Settings, Trial, is_of_hypervisor
from paribus.registry import data_of
from paribus.trial.databases.database_session import DatabaseSession
from paribus.trial.databases.running_server import RunningServerSession
from paribus.trial.databases.servers import PrivateServers
from paribus.trial.devices import Devices, PinnedDevices
from paribus.trial.events.volume_members import VolumeMembers
from paribus.trial.experiment_session import ComparisonModes, ExperimentSession
from paribus.trial.guests.domain_session import GuestRestart
from paribus.trial.guests.flush_probe import FlushProbe
from paribus.trial.guests.hypervisor_session import HypervisorSession, refuse_other
from paribus.trial.guests.hypervisor_watch import HypervisorWatch
from paribus.trial.layouts.session import LayoutSession
from paribus.trial.load.load_host import LoadHostSession, load_host_sessions
from paribus.trial.load.precondition import TrialListener
from paribus.trial.open_target import OpenTarget
from paribus.trial.restoring import restore_settings
from paribus.trial.runner import Runner
from paribus.trial.tools.confinement import Confinement
from paribus.trial.tools.tool_session import Tools
from paribus.trial.trial_data import Progress, TrialData
from paribus.workloads.tools import tool_of

_NO_COPY = N_("the journal has no second copy: {reason}")


class Bench:
    """Journal, sampler, servers and tools of one experiment, from entering to leaving."""

    def __init__(self, session: ExperimentSession, modes: ComparisonModes, pinned: PinnedDevices) -> None:
        """`pinned`: the identities of devices recorded before the experiment was resumed."""
        self._session = session
        self._modes = modes
        self._site = session.site
        self._plan = session.plan
        self._left: tuple[str, Settings] | None = None  # workload and settings of the last load
        self._ran_s = 0.0  # for how long they were washed out and measured without another load between
        self._devices = Devices(session.site, session.plan.target.may_destroy, pinned, session.trials)
        self._application: object = None
        self.closing_notes: list[StoredMessage] = []  # about the restoring of the machine

    def __enter__(self) -> Self:
        """Make the target ready. Raises JournalOpen, JournalError and HostError, with nothing changed."""
        site = self._site
        site.refuse_open_journals()
        device = self._plan.target.device
        disks = self._plan.target.devices if self._session.has_layouts else [device] if device else []
        interval_s = min(1.0, max(0.05, self._plan.protocol.trial_s / 4))
        names = [site.host.resolve(disk).removeprefix("/dev/") for disk in disks]
        data_folder, path = self._session.data_folder, self._plan.target.path
        confinement = Confinement(site.host, site.engine, data_folder, path, self._devices)
        self._sampler = Sampler(site.host, site.engine, names, interval_s, connects=self._needs_password)
        with contextlib.ExitStack() as failing:
            failing.callback(self._sampler.close)
            self._load_hosts: tuple[LoadHostSession, ...] = ()
            for load_host in load_host_sessions(site, interval_s):
                self._load_hosts += (load_host,)
                failing.callback(load_host.close)
            self._watch = HypervisorWatch.of(site.hypervisor, self._plan.target.guest, interval_s, self._load_hosts)
            if self._watch is not None:
                failing.callback(self._watch.close)
            self._hypervisor = HypervisorSession.of(self._session, GuestRestart(self._leave, self._come_back))
            if self._hypervisor is not None:
                failing.callback(self._hypervisor.applier.restore)
                self._note_copy(self._hypervisor.without_copy)
            written_files = self._written_files()
            self._applier = Applier(
                site.host, site.catalogue, self._plan.target.location, self._open_journal(written_files)
            )
            failing.callback(self._applier.restore)
            folder.make(site.host, site.engine, self._plan.target.path, self._session.experiment, self._plan.name)
            layouts = self._layout_session()
            self._flushes = FlushProbe.of(site, self._plan.target, data_folder)
            facts = {"load engine": site.engine_version(), **self._confinement_facts(confinement)}
            conditions = Conditions.of(site.host, site.catalogue, self._plan.target.location, written_files, facts)
            failing.pop_all()
        self._servers = self._database_session()
        server_of = self._servers.server if self._servers is not None else None
        server_kind = self._plan.database.kind if self._plan.database else ""
        folder_of_files, stopped = self._session.files_folder, self._session.stopped
        self._tools = Tools(site.host, site.engine, folder_of_files, confinement, stopped, server_of, server_kind)
        self._members = VolumeMembers(site.host, self._journal, self._plan.health, stopped)
        target = OpenTarget(
            applier=self._applier,
            conditions=conditions,
            sampler=self._sampler,
            devices=self._devices,
            tools=self._tools,
            servers=self._servers,
            load_hosts=self._load_hosts,
            layouts=layouts,
            members=self._members,
            hypervisor=self._hypervisor,
            watch=self._watch,
            flushes=self._flushes,
        )
        self._runner = Runner(self._session, target, self._make_data_on_layout)
        self._data = TrialData(self._session, target, self._runner.data_jobs, self._runner.workload_data)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Restore everything, whatever happened: settings first, then remove the data.

        A target that was lost is reached again first. Raises NotRestored, JournalError and Unreachable.
        """
        with contextlib.ExitStack() as closing:  # the last first, and each also where another fails
            if self._servers is not None:
                closing.callback(self._servers.release)
            closing.callback(self._restore, error)
            if error is None:  # an interrupt does not wait for a rebuild
                closing.callback(self._members.bring_back, lambda _reason: None)
            closing.callback(self._close_servers)
            for beside in (self._watch, *self._load_hosts):
                if beside is not None:
                    closing.callback(beside.close)
            closing.callback(self._sampler.close)
            closing.callback(self._runner.stop)

    def _confinement_facts(self, confinement: Confinement) -> dict[str, str]:
        """The fact that the plan's tools can write anywhere, and why; empty where they cannot."""
        has_tools = any(tool_of(workload) for workload in self._plan.workloads)
        return {"tools unconfined": confinement.refused} if has_tools and confinement.refused else {}

    def _close_servers(self) -> None:
        """Close servers before settings are restored: a server keeps a file system from being remounted."""
        if self._servers is not None:
            with contextlib.suppress(Unreachable):  # the server ends by itself when its supervisor loses the connection
                self._servers.close()

    def _restore(self, error: BaseException | None) -> None:
        experiment, stopped = self._session.experiment, self._session.stopped
        machines = [(self._site, self._applier)]
        if self._hypervisor is not None:
            machines.insert(0, (self._hypervisor.site, self._hypervisor.applier))
        try:
            self.closing_notes += restore_settings(machines, experiment, stopped, error)
        finally:
            if self._hypervisor is not None and self._hypervisor.restarts_guest:
                with contextlib.suppress(HostError):
                    self._site.host.reconnect(stopped)
            self._remove_data()

    def _leave(self) -> None:
        """End and restore everything in the target, which is a guest that will be restarted. Raises as `__exit__`."""
        self._runner.stop()
        self._close_servers()
        self._applier.restore()
        self._sampler.close()

    def _come_back(self, ended: Callable[[], bool]) -> None:
        """Begin anew in the restarted guest, whose data is as it was. Raises HostError and JournalError."""
        host = self._site.host
        host.reconnect(lambda: self._session.stopped() or ended())
        if (guest := self._plan.target.guest) is not None:
            refuse_other(self._site, guest)
        data_folder = self._session.data_folder
        if not probe(host, self._site.engine, data_folder).directory.exists:
            raise HostError(
                f"{data_folder} is not there after the restart of the guest",
                f"have the guest mount {self._plan.target.path} at its start, in /etc/fstab",
            )
        self._applier.begin_anew(self._open_journal(self._written_files()))
        self._sampler.revive()

    def _database_session(self) -> DatabaseSession | None:
        """The servers that workloads use, private or in use by others; None where there are none."""
        site, database, folder = self._site, self._plan.database, self._session.files_folder
        above = [self._session.data_folder] if self._session.has_layouts else []
        on_server_processes, on_counting = self._sampler.set_own_processes, self._sampler.count
        if database is None or not database.is_server:
            return None
        if database.running is None:
            return PrivateServers(
                site.host, site.engine, database, folder, on_server_processes, on_counting, self._session.stopped, above
            )
        return RunningServerSession(
            site.host,
            site.engine,
            database,
            self._session.experiment,
            self._journal,
            on_server_processes,
            on_counting,
            self._plan.load_hosts,
        )

    def _layout_session(self) -> LayoutSession | None:
        """The layouts of the plan's disks; None where no trial has one."""
        if not self._session.has_layouts:
            return None
        host, disks = self._site.host, self._plan.target.devices
        sizes = {disk: size_bytes(host, disk) for disk in disks}
        names = Names(self._session.experiment[-4:])
        faulty = {event.disk for event in self._plan.events if event.over_disk}
        for event in self._plan.events:
            if event.action == OFFLINE:
                scsi_state_of(host, disk_named(event.disk, disks))
        point, stopped = self._session.files_folder, self._session.stopped
        return LayoutSession(
            host, self._site.engine, self._journal, self._devices, sizes, names, point, stopped, faulty
        )

    def _written_files(self) -> set[str]:
        """Every file of the target that the settings of trials may write to."""
        keys = dict.fromkeys(key for trial in self._session.trials for key in trial.settings)
        of_target = [key for key in keys if not is_of_hypervisor(key)]
        return touched(self._site.host, self._site.catalogue, of_target, self._plan.target.location)

    @property
    def _needs_password(self) -> bool:
        """Whether the password of the running server is in this program's environment."""
        database = self._plan.database
        return bool(database and database.running and database.running.variable)

    def _open_journal(self, addresses: set[str]) -> journal.Journal:
        """Open the journal, which also keeps a second run away from this experiment's data."""
        site = self._site
        database = self._plan.database
        other = {database.running.address} if database and database.running else set()
        for event in self._plan.events:
            if event.member is not None:
                other |= members.claimed(event.member, self._plan.health)
        self._journal = journal.Journal(
            site.host,
            site.engine,
            self._session.experiment,
            sorted({*addresses, self._session.data_folder, *self._device_nodes(), *other}),
            volatile=not addresses and not other,
            connects=self._needs_password,
        )
        self._note_copy(self._journal.without_copy)
        return self._journal

    def _note_copy(self, reason: str) -> None:
        """Note why a journal has no second copy, if it has none."""
        if reason:
            self.closing_notes.append(stored_message(_NO_COPY, reason=reason))

    def _device_nodes(self) -> set[str]:
        """The block devices that trials and layouts use; like a setting, each belongs to one experiment at a time."""
        workloads = self._session.workloads
        devices = {data_of(workloads[trial.workload], trial.settings).device for trial in self._session.trials}
        disks = self._plan.target.devices if self._session.has_layouts else ()
        return {self._site.host.resolve(device) for device in (*devices, *disks) if device}

    def make_data(self, block: Sequence[Trial], progress: Progress, *, cached: bool = True) -> None:
        """Make the data that a block needs, as its workload says; unless `cached`, new data is in no page cache.

        Never inside a block, so that both arms use the same data. Raises EngineError, HostError and Interrupted.
        """
        self._sampler.revive()
        if self._servers is not None:
            self._servers.begin_block(block, self._session.workloads[block[0].workload])
        if not self._session.has_layouts:
            self._data.make(block, progress, cached=cached)

    def _make_data_on_layout(self, trial: Trial) -> None:
        self._data.make_on_layout(trial)

    def run(self, trial: Trial, listener: TrialListener) -> Trial:
        """Carry out one trial. Raises JournalError and StoreError."""
        comparison = (trial.factor, trial.workload)
        application = (trial.block, trial.attempt, trial.application)
        tested = () if application == self._application else self._modes.tested.get(comparison, ())
        self._application = application
        in_flight = comparison in self._modes.in_flight and trial.purpose is not Purpose.CALIBRATE
        loaded = (trial.workload, trial.settings)
        ran_s = self._ran_s if self._left == loaded else 0.0
        self._left = None
        protocol = self._plan.protocol
        if in_flight and comparison in self._modes.toggled:
            protocol = protocol.in_segments()
        elif comparison in self._modes.washed and trial.position == 1:
            protocol = protocol.with_wash_out(ran_s)
        done = self._runner.run(trial, tested, listener, protocol, in_flight=in_flight)
        if done.ended is not None and done.failure is None:
            self._left = loaded
            self._ran_s = ran_s + protocol.settle_s - self._plan.protocol.settle_s + protocol.trial_s
        return done

    def follow(self, plan: Plan) -> None:
        """Use the plan with its learned settle times from now on."""
        self._plan = plan

    def warning(self) -> StoredMessage | None:
        """Return advice to the user for better trials; each message comes once."""
        return self._runner.warning()

    def forget_load(self) -> None:
        """End a load, after which the next trial washes out what another platform's load left behind."""
        self._left = None
        self._runner.stop()

    def stop_load(self) -> None:
        """End a load that continued from trial to trial; called after each block."""
        self._runner.stop()

    def drive_counters(self) -> dict[str, int]:
        """The error counters of the drives under the target's device; empty where none can be read."""
        device = self._plan.target.device
        return error_counters(self._site.host, device) if device else {}

    def notes(self) -> list[StoredMessage]:
        """Return notes on the machine for readers of the report."""
        server_notes = self._servers.notes() if self._servers is not None else []
        unknown = self._flushes.note() if self._flushes is not None else None
        return [*self._runner.usual_load(), *server_notes, *([unknown] if unknown else [])]

    def _remove_data(self) -> None:
        """Remove the data of every trial and of an earlier run of this experiment; all else stays."""
        for trial in self._session.trials:
            workload = self._session.workloads[trial.workload]
            if tool := tool_of(workload):
                with contextlib.suppress(EngineError, HostError):
                    self._tools.remove(tool, workload, trial.settings)
        with contextlib.suppress(EngineError, HostError):  # paribus clean lists the remaining data, and removes it
            folder.remove(self._site.host, self._site.engine, self._plan.target.path, self._session.experiment)
