"""The private database servers of an experiment: one for each way its data is made, one running at a time.

In: a trial's settings. Out: a server with these settings and its data, and the change made to each setting. Called by
the bench and the runner.
"""

import dataclasses
import functools
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from paribus.databases import Instance, ServerVariable, TakesEffect
from paribus.databases.server import row_counts
from paribus.engine.protocol import Counting, DatabaseServer
from paribus.errors import DatabaseError, EngineError, ParibusError, QueryRefused, ServerWouldNotStart
from paribus.hosts.transport import Host
from paribus.model import (
    COMPARING,
    Change,
    ChangeState,
    Database,
    Measurement,
    NotTaken,
    Purpose,
    Settings,
    Trial,
    Workload,
)
from paribus.registry import database_settings
from paribus.trial.databases import readiness, recovery
from paribus.trial.databases.database_session import (
    DatabaseSession,
    Named,
    database_of,
    server_text,
    start_measurement,
    tested_variables,
)
from paribus.trial.databases.server_log import FREE_SPACE, with_server_log
from paribus.trial.databases.workload_data import Progress, WorkloadData

_PROCESS = "process.server."
_RESTARTED = (*COMPARING, Purpose.NOISE_FLOOR, Purpose.PLACEBO)
_AT_A_START = (TakesEffect.RESTART, TakesEffect.REBUILD)


@dataclasses.dataclass
class _Server:
    """One instance, its variables, and whether a load has worked on its data since it was made or restored.

    `databases`: by name, the workload and the settings whose data a database has.
    `rows_made`: the rows of each database; those of an `unchecked` database were not counted since it was restored.
    """

    instance: Instance
    variables: Mapping[str, ServerVariable]
    databases: Mapping[str, tuple[Workload, Settings]]
    used: bool = False
    refused: str = ""
    rows_made: dict[str, row_counts.RowCounts] = dataclasses.field(default_factory=dict)
    unchecked: set[str] = dataclasses.field(default_factory=set)


class PrivateServers(DatabaseSession):
    """Servers in `folder`, for trials of these workloads; `close` removes them."""

    def __init__(
        self,
        host: Host,
        engine: str,
        database: Database,
        folder: str,
        on_server_processes: Callable[[list[int]], None],
        on_counting: Callable[[Counting | None], None],
        stopped: Callable[[], bool],
        above: Sequence[str] = (),
    ) -> None:
        """Start no server yet. `on_server_processes` receives our processes, `on_counting` the counters to read.

        `above` are folders of ours over `folder`, which a server's user must pass.
        """
        super().__init__(database.family)
        self._host = host
        self._engine = engine
        self._database = database
        self._folder = folder
        self._above = above
        self._on_server_processes = on_server_processes
        self._on_counting = on_counting
        self._stopped = stopped
        self._servers: dict[tuple[tuple[str, str], ...], _Server] = {}
        self._running: _Server | None = None
        self._started_with: Named = {}
        self._conditions: tuple[str, ...] = ()
        self._ready: set[str] = set()  # databases that were readied since the start
        self._started = 0.0
        self._comparison = ("", "")  # factor and workload of the block
        self._blocks: Counter[tuple[str, str]] = Counter()  # of each comparison since the start
        self._is_due = False

    # --- data ---

    def make_data(
        self,
        trials: Iterable[Trial],
        workloads: Mapping[str, Workload],
        data: WorkloadData,
        progress: Progress,
    ) -> None:
        """Make all data that these trials use, in each server that they need, and copy it where it will change.

        Raises DatabaseError, EngineError and Interrupted.
        """
        needed: dict[tuple[tuple[str, str], ...], dict[str, tuple[Workload, Settings]]] = {}
        changes = False
        for trial in trials:
            workload = workloads[trial.workload]
            if workload.database:
                changes |= workload.data != "keep"
                databases = needed.setdefault(self._built_in(workload, trial.settings), {})
                databases.setdefault(database_of(workload, trial.settings), (workload, trial.settings))
        for number, (built_in, databases) in enumerate(needed.items(), start=1):
            if built_in in self._servers:
                continue
            self._stop()
            instance = self._instance(f"{self._folder}/server-{number}")
            for passed in (*self._above, self._folder):
                instance.let_pass(passed)
            server = self._servers[built_in] = _Server(instance, {}, databases)
            instance.remove()  # the rest of a killed run of this experiment
            try:
                instance.create(dict(built_in))
                instance.start(within_s=self._database.ready_s)
            except ServerWouldNotStart as error:  # a finding about these settings
                server.refused = str(error)
                continue
            server.variables = instance.variables()
            self._on_server_processes([instance.pid])
            for name, (workload, settings) in databases.items():
                instance.query(f"CREATE DATABASE {name}")
                try:
                    data.make(workload, settings, self._address(instance, workload, settings), progress)
                except EngineError as error:
                    raise with_server_log(error, instance.last_words) from error
                with instance.inside(name) as ask:
                    instance.state.finish(ask)
                    server.rows_made[name] = row_counts.count(instance.state, ask)
                if changes:
                    data.keep_files(workload, settings)
            instance.stop()
            if changes:
                instance.snapshot()

    def restore(self, workload: Workload, settings: Settings, data: WorkloadData) -> None:
        """Restore its data where a load has changed it; the server runs again with the next `apply`."""
        server = self._servers[self._built_in(workload, settings)]
        if server.used:
            self._stop()
            server.instance.restore()
            for of_workload, of_settings in server.databases.values():
                data.restore_files(of_workload, of_settings)
            server.used = False
            server.unchecked = set(server.rows_made)

    # --- settings ---

    def begin_block(self, block: Sequence[Trial], workload: Workload) -> None:
        """Count the block of a comparison; the next `apply` restarts the server after `restart_every` of them."""
        if block[0].purpose not in _RESTARTED:
            return
        every, self._comparison = self._database.restart_every, (block[0].factor, block[0].workload)
        self._is_due = bool(workload.database and every and self._blocks[self._comparison] >= every)
        self._blocks[self._comparison] += 1

    @property
    def pid(self) -> int | None:
        """The process of the running server; None where none runs."""
        return self._running.instance.pid if self._running and self._running.instance.is_running() else None

    def apply(
        self,
        workload: Workload,
        trial: Trial,
        tested: Collection[str],
        data: WorkloadData,
        stop_load: Callable[[], None],
        conditions: Sequence[str] = (),
    ) -> tuple[Change, ...]:
        """Run the server with the trial's settings, each read back; those `tested` are set even when equal.

        `conditions` are options of the engine for the server's process. `stop_load` ends a load that still runs, before
        a restart. A setting that the server refuses is a change with the server's message. Raises DatabaseError,
        EngineError and Interrupted.
        """
        requested = {name: server_text(value) for name, value in database_settings(workload, trial.settings).items()}
        names = tested_variables(workload, tested)
        server = self._servers[self._built_in(workload, trial.settings)]
        self._in_force.clear()
        self.readied = ()
        name, cold = database_of(workload, trial.settings), workload.cache == "cold"
        if server.refused:
            return tuple(_refused(workload, name, requested[name], server.refused) for name in names or requested)
        tests_process = any(key.startswith(_PROCESS) for key in tested)
        if self._conditions != tuple(conditions) or tests_process:
            stop_load()
            self._stop()
        self._conditions = tuple(conditions)
        try:
            self._start(server, requested, names, stop_load, cold=cold and name not in server.unchecked)
        except ServerWouldNotStart as error:
            return tuple(_refused(workload, name, requested[name], str(error)) for name in names or requested)
        if name in server.unchecked:
            self._remark(readiness.check_rows(server.instance, name, server.rows_made[name]))
            server.unchecked.discard(name)
            if cold:  # counting has warmed what was cold
                self._start(server, requested, names, stop_load, cold=True)
        changes = [self._set(server, key, value, key in names) for key, value in requested.items()]
        if name not in self._ready:
            stop_load()
            if not cold:
                address = self.server(workload, trial.settings)
                read = functools.partial(data.read, workload, trial.settings, address)
                self.readied = readiness.warm(server.instance, name, read)
            measured, note = readiness.wait_until_idle(server.instance, trial.order, self._stopped)
            self.readied += measured
            self._remark(note)
            self._ready.add(name)
        server.used = True
        self.readied += (start_measurement(self._started),)
        return tuple(changes)

    def _start(
        self, server: _Server, requested: Named, tested: Collection[str], stop_load: Callable[[], None], *, cold: bool
    ) -> None:
        """Run this server with at least those of the settings that it takes when it starts.

        `cold`: with nothing cached, which always needs a start.
        """
        instance = server.instance
        variables, patience_s = server.variables, self._database.ready_s
        start_settings = {
            name: value for name, value in requested.items() if variables[name].takes_effect in _AT_A_START
        }
        must_restart = cold or self._is_due or any(name in start_settings for name in tested)
        if (
            self._running is server
            and instance.is_running()
            and start_settings == self._started_with
            and not must_restart
        ):
            return
        stop_load()
        self._stop()
        if cold:
            instance.drop_cache()
        cold_settings = instance.state.cold if cold else {}
        try:  # with live settings too: a running pool may accept fewer sizes
            instance.start({**cold_settings, **requested}, conditions=self._conditions, within_s=patience_s)
        except ServerWouldNotStart:
            if start_settings == requested:
                raise
            # An error in another setting is reported when that is set live.
            instance.start({**cold_settings, **start_settings}, conditions=self._conditions, within_s=patience_s)
        self._running, self._started_with, self._ready = server, start_settings, set()
        self._started, self._is_due = time.time(), False
        self._blocks = Counter([self._comparison])
        self._on_server_processes([instance.pid])
        self._on_counting(instance.counting())

    def _set(self, server: _Server, name: str, requested: str, even_if_equal: bool) -> Change:
        """Set what can be set live, and read back."""
        instance, variable = server.instance, server.variables[name]
        refused = ""
        before = instance.read(name)
        live = variable.takes_effect not in _AT_A_START
        if live and (even_if_equal or not variable.is_same(requested, before)):
            try:
                instance.set_live(name, requested)
            except QueryRefused as error:
                if error.kind == "full":  # the error is no fault of the value
                    raise EngineError("disk-full", error.message, FREE_SPACE) from error
                refused = str(error)
        observed = instance.read(name)
        if name == instance.state.cache_size and not variable.is_same(before, observed):
            self._ready.clear()  # it no longer has what it can hold
        before = variable.default or before
        return self._in_force.record(self.family, variable, requested, observed, before=before, refused=refused)

    def verify(self) -> tuple[Change, ...]:
        """Read every setting of the last `apply` again; those that moved since."""
        return self._in_force.moved(lambda name: self._running.instance.read(name) if self._running else "")

    def damage(self, workload: Workload, settings: Settings) -> list[str]:
        """Have the server check its tables and indexes; a text on each that is damaged. Raises DatabaseError."""
        instance = self._servers[self._built_in(workload, settings)].instance
        with instance.inside(database_of(workload, settings)) as ask:
            return instance.state.damage(ask)

    def crash(
        self, workload: Workload, settings: Settings, mount: recovery.Mount | None = None
    ) -> tuple[Measurement, ...]:
        """Kill the server and start it again with the same settings; what that cost. `mount` is cut off with it.

        Raises DatabaseError, HostError and EngineError.
        """
        server = self._servers[self._built_in(workload, settings)]
        start = functools.partial(self._start_again, server, workload, settings)
        return recovery.crash(server.instance, database_of(workload, settings), start, mount)

    def kill(self, workload: Workload, settings: Settings) -> None:
        """Kill the server under its load, and start it again with the same settings. Raises DatabaseError."""
        server = self._servers[self._built_in(workload, settings)]
        self._on_counting(None)
        server.instance.kill()
        self._start_again(server, workload, settings)

    def _start_again(self, server: _Server, workload: Workload, settings: Settings) -> None:
        requested = {name: server_text(value) for name, value in database_settings(workload, settings).items()}
        self._start(server, requested, (), lambda: None, cold=False)

    # --- addresses, status, the end ---

    def server(self, workload: Workload, settings: Settings) -> DatabaseServer:
        """Return the address of a load with these settings."""
        return self._address(self._servers[self._built_in(workload, settings)].instance, workload, settings)

    def explained(self, error: ParibusError) -> ParibusError:
        """A load's error, with the reason why the server ended."""
        if isinstance(error, EngineError) and self._running is not None:
            return with_server_log(error, self._running.instance.last_words)
        return error

    def close(self) -> None:
        """End and remove all servers. Raises DatabaseError for one that stays, after the others are gone."""
        errors = []
        for server in self._servers.values():
            try:
                server.instance.remove()
            except DatabaseError as error:
                errors.append(error)
        self._servers.clear()
        self._running = None
        if errors:
            raise errors[0]

    def release(self) -> None:
        """Release nothing: no one else uses these servers."""

    def _stop(self) -> None:
        if self._running is not None:
            self._on_counting(None)
        for server in self._servers.values():
            server.instance.stop()
        self._running = None

    def _instance(self, folder: str) -> Instance:
        return Instance(self._host, self._engine, folder, self._database.kind, program=self._database.program)

    def _built_in(self, workload: Workload, settings: Settings) -> tuple[tuple[str, str], ...]:
        """The settings of a trial that its data is made with."""
        database_values = database_settings(workload, settings)
        return tuple(
            sorted(
                (name, server_text(value)) for name, value in database_values.items() if name in self._database.built_in
            )
        )

    def _address(self, instance: Instance, workload: Workload, settings: Settings) -> DatabaseServer:
        address = instance.address().model_copy(update={"database": database_of(workload, settings)})
        assert isinstance(address, DatabaseServer)
        return address


def _refused(workload: Workload, name: str, requested: str, reason: str) -> Change:
    return Change(
        knob=f"{workload.database}.{name}", address=name, before="", wanted=requested, observed=None,
        state=ChangeState.MISMATCHED, refused=reason, not_taken=NotTaken.REFUSED,
    )  # fmt: skip
