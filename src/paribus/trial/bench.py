"""The bench: a target on which trials can be made, and which is restored when the bench is left."""

import contextlib
from collections.abc import Callable, Collection, Mapping, Sequence
from types import TracebackType
from typing import Self

from paribus.engine import folder
from paribus.engine.run import Sampler
from paribus.errors import EngineError, HostError, JournalError, JournalLost, NotRestored, Unreachable
from paribus.hosts.drives import error_counters
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.knobs import journal
from paribus.knobs.apply import Applier
from paribus.knobs.conditions import Conditions
from paribus.knobs.discovery import touched
from paribus.model import Plan, Purpose, Settings, Trial, Workload
from paribus.registry import data_of
from paribus.trial.confinement import Confinement
from paribus.trial.databases.database_session import DatabaseSession
from paribus.trial.databases.running_server import RunningServerSession
from paribus.trial.databases.servers import PrivateServers
from paribus.trial.devices import Devices, PinnedDevices
from paribus.trial.load_host import LoadHostSession
from paribus.trial.precondition import PreconditionListener
from paribus.trial.runner import Record, Runner
from paribus.trial.target_session import Site, data_folder, restore
from paribus.trial.tools.tool_session import Tools
from paribus.workloads import jobs
from paribus.workloads.tools import tool_of

_JOURNAL_DELETED = N_("the journal file was deleted meanwhile; all settings are restored")

Progress = Callable[[int, int], None]


def _data_key(workload: Workload, trial: Trial) -> object:
    """What the data is made for: all trials, a round, or an application."""
    return {"keep": "kept", "round": trial.round, "application": (trial.block, trial.attempt)}[workload.data]


class Bench:
    """Journal, sampler, servers and tools of one experiment, from entering to leaving."""

    def __init__(
        self,
        site: Site,
        plan: Plan,
        trials: Sequence[Trial],
        tested: Mapping[tuple[str, str], Sequence[str]],
        in_flight: Collection[tuple[str, str]],
        record: Record,
        pinned: PinnedDevices,
        stopped: Callable[[], bool],
    ) -> None:
        """`tested`: by factor and workload, the settings that a comparison varies.

        Where these are `in_flight`, the load continues while they change.
        """
        self._site = site
        self._plan = plan
        self._trials = trials
        self._tested = tested
        self._in_flight = in_flight
        self._record = record
        self._stopped = stopped
        self._devices = Devices(site, plan.target.may_destroy, pinned, trials)
        self._workloads = {workload.name: workload for workload in plan.workloads}
        self._data_folder = data_folder(plan.target.path, trials[0].experiment)
        self._made_for: dict[str, object] = {}
        self._server_data_made = False
        self._application: object = None
        self.closing_notes: list[StoredMessage] = []  # about the restoring of the machine

    def __enter__(self) -> Self:
        """Make the target ready. Raises JournalOpen, JournalError and HostError, with nothing changed."""
        site = self._site
        site.refuse_open_journals()
        device = self._plan.target.device
        interval_s = min(1.0, max(0.05, self._plan.protocol.trial_s / 4))
        names = [device.removeprefix("/dev/")] if device else []
        confinement = Confinement(site.host, site.engine, self._data_folder, self._plan.target.path, self._devices)
        self._sampler = Sampler(site.host, site.engine, names, interval_s, connects=self._needs_password)
        with contextlib.ExitStack() as failing:
            failing.callback(self._sampler.close)
            self._load_host = LoadHostSession(site.load_host, interval_s) if site.load_host else None
            if self._load_host is not None:
                failing.callback(self._load_host.close)
            written_files = self._written_files()
            self._applier = self._open_journal(written_files)
            failing.callback(self._applier.restore)
            folder.make(site.host, site.engine, self._plan.target.path, self._trials[0].experiment, self._plan.name)
            facts = {"load engine": site.engine_version(), **self._confinement_facts(confinement)}
            conditions = Conditions.of(site.host, site.catalogue, self._plan.target.location, written_files, facts)
            failing.pop_all()
        self._servers = self._database_session()
        server_of = self._servers.server if self._servers is not None else None
        server_kind = self._plan.database.kind if self._plan.database else ""
        self._tools = Tools(
            site.host, site.engine, self._data_folder, confinement, self._stopped, server_of, server_kind
        )
        self._runner = Runner(
            site.host,
            site.engine,
            self._plan,
            self._data_folder,
            self._applier,
            conditions,
            self._sampler,
            self._record,
            self._stopped,
            self._devices,
            self._tools,
            self._servers,
            self._load_host,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Restore everything, whatever happened: settings first, then remove the data.

        A target that was lost is reached again first. Raises NotRestored, JournalError and Unreachable.
        """
        self._runner.stop()
        self._sampler.close()
        if self._load_host is not None:
            self._load_host.close()
        try:
            self._close_servers()
        finally:
            self._restore(error)

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
        try:
            if not self._applier.restore():
                self.closing_notes.append(stored_message(_JOURNAL_DELETED))
        except (JournalError, Unreachable):  # its process died or cannot be reached; the journal is enough
            experiment = self._trials[0].experiment
            restore(self._site, experiment, self._stopped)
            if leftovers := self._applier.leftovers():
                raise NotRestored(
                    f"the journal process ended too early, and some settings are not restored: {'; '.join(leftovers)}"
                ) from error
            if isinstance(error, JournalError):
                message = f"{error.message}; all settings are restored, which was checked"
                raise JournalLost(message, f"continue with: paribus resume {experiment}") from error
        finally:
            self._remove_data()

    def _database_session(self) -> DatabaseSession | None:
        """The servers that workloads use, private or in use by others; None where there are none."""
        site, database, folder = self._site, self._plan.database, self._data_folder
        on_server_processes, on_counting = self._sampler.set_own_processes, self._sampler.count
        if database is None or not database.is_server:
            return None
        if database.running is None:
            return PrivateServers(
                site.host, site.engine, database, folder, on_server_processes, on_counting, self._stopped
            )
        return RunningServerSession(
            site.host,
            site.engine,
            database,
            self._trials[0].experiment,
            self._journal,
            on_server_processes,
            on_counting,
            self._plan.load_host,
        )

    def _written_files(self) -> set[str]:
        """Every file that the settings of trials may write to."""
        keys = dict.fromkeys(key for trial in self._trials for key in trial.settings)
        return touched(self._site.host, self._site.catalogue, keys, self._plan.target.location)

    @property
    def _needs_password(self) -> bool:
        """Whether the password of the running server is in this program's environment."""
        database = self._plan.database
        return bool(database and database.running and database.running.variable)

    def _open_journal(self, addresses: set[str]) -> Applier:
        """Open the journal, which also keeps a second run away from this experiment's data; its applier."""
        site, location = self._site, self._plan.target.location
        database = self._plan.database
        running = {database.running.address} if database and database.running else set()
        self._journal = journal.Journal(
            site.host,
            site.engine,
            self._trials[0].experiment,
            sorted({*addresses, self._data_folder, *self._device_nodes(), *running}),
            volatile=not addresses and not running,
            connects=self._needs_password,
        )
        return Applier(site.host, site.catalogue, location, self._journal)

    def _device_nodes(self) -> set[str]:
        """The block devices that trials use; like a setting, each belongs to one experiment at a time."""
        devices = (data_of(self._workloads[trial.workload], trial.settings).device for trial in self._trials)
        return {self._site.host.resolve(device) for device in devices if device}

    def make_data(self, block: Sequence[Trial], progress: Progress) -> None:
        """Make the data that a block needs: new at every round or block, as its workload says.

        Never inside a block, so that both arms use the same data. Raises EngineError, HostError and Interrupted.
        """
        self._sampler.revive()
        for trial in block:
            workload = self._workloads[trial.workload]
            if self._servers is not None and workload.database:
                self._make_server_data(trial, workload, self._servers, progress)
                continue
            if tool := tool_of(workload):
                location, age = self._tools.directory(workload, trial.settings), _data_key(workload, trial)
                if self._made_for.get(location) != age:
                    self._tools.make(tool, workload, trial.settings)
                    self._made_for[location] = age
                continue
            prepare = jobs.job(workload, trial.settings, self._data_folder, "prepare")
            data = prepare.workload.data
            if data.device and not self._is_overwritten(data.device, workload, trial):
                continue
            location = self._site.host.resolve(data.place())
            age = _data_key(workload, trial)
            if self._made_for.get(location) == (data, age):
                continue
            if workload.data != "keep" and not data.device:
                self._runner.work_on_data(jobs.job(workload, trial.settings, self._data_folder, "cleanup"), progress)
            self._runner.work_on_data(prepare, progress)
            self._made_for[location] = (data, age)

    def _make_server_data(self, trial: Trial, workload: Workload, servers: DatabaseSession, progress: Progress) -> None:
        """Make all data of all servers before the first trial on one; later restore it when due."""
        if not self._server_data_made:
            servers.make_data(self._trials, self._workloads, self._runner.workload_data, progress)
            self._server_data_made = True
        age = _data_key(workload, trial)
        if self._made_for.setdefault(f"{workload.name} on a server", age) != age:
            self._made_for[f"{workload.name} on a server"] = age
            for settings in {str(settings): settings for settings in self._settings_of_block(trial)}.values():
                servers.restore(workload, settings, self._runner.workload_data)

    def _settings_of_block(self, trial: Trial) -> list[Settings]:
        """The settings of all trials of the trial's block."""
        block = (trial.block, trial.workload)
        return [other.settings for other in self._trials if (other.block, other.workload) == block]

    def _is_overwritten(self, device: str, workload: Workload, trial: Trial) -> bool:
        """Whether a trial's load or its data overwrites the device. Raises HostError where that must not be.

        Checked before every block: since the plan was checked, the device or its name may have changed hands.
        """
        overwritten = data_of(workload, trial.settings).made or workload.data != "keep"
        self._devices.check(device, written=overwritten)
        return overwritten

    def run(self, trial: Trial, listener: PreconditionListener) -> Trial:
        """Carry out one trial. Raises JournalError and StoreError."""
        comparison = (trial.factor, trial.workload)
        application = (trial.block, trial.attempt, trial.application)
        tested = () if application == self._application else self._tested.get(comparison, ())
        self._application = application
        in_flight = comparison in self._in_flight and trial.purpose is not Purpose.CALIBRATE
        return self._runner.run(trial, tested, listener, in_flight=in_flight)

    def follow(self, plan: Plan) -> None:
        """Use the plan with its learned settle times from now on."""
        self._runner.follow(plan)

    def warning(self) -> StoredMessage | None:
        """What the user should do now for better trials; each message comes once."""
        return self._runner.warning()

    def stop_load(self) -> None:
        """End a load that continued from trial to trial; called after each block."""
        self._runner.stop()

    def drive_counters(self) -> dict[str, int]:
        """The error counters of the drives under the target's device; empty where none can be read."""
        device = self._plan.target.device
        return error_counters(self._site.host, device) if device else {}

    def notes(self) -> list[StoredMessage]:
        """What a reader of the report must know of the machine."""
        server_notes = self._servers.notes() if self._servers is not None else []
        return [*self._runner.usual_load(), *server_notes]

    def _remove_data(self) -> None:
        """Remove the data of every trial and of an earlier run of this experiment; all else stays."""
        for trial in self._trials:
            workload = self._workloads[trial.workload]
            if tool := tool_of(workload):
                with contextlib.suppress(EngineError, HostError):
                    self._tools.remove(tool, workload, trial.settings)
        with contextlib.suppress(EngineError, HostError):  # paribus clean lists the remaining data, and removes it
            folder.remove(self._site.host, self._site.engine, self._plan.target.path, self._trials[0].experiment)
