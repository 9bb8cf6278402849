"""The private database servers of an experiment: one for each way in which its data is made, one running at a time.

In: a trial's settings. Out: a server that runs with them, its data as it should be, and what became of each setting.
Called by the bench and the runner.
"""

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping

from paribus.databases import Instance, TakesEffect, Variable
from paribus.databases.server import row_counts
from paribus.engine.protocol import Counting, MysqlServer, PostgresServer
from paribus.errors import DatabaseError, EngineError, ParibusError, QueryRefused, ServerWouldNotStart
from paribus.hosts.transport import Host
from paribus.model import Change, ChangeState, Database, NotTaken, Settings, Trial, Workload
from paribus.registry import database_settings
from paribus.trial import readiness
from paribus.trial.database_session import Named, Served, Work, database_of, tested_names, text_of
from paribus.workloads import jobs

_AT_A_START = (TakesEffect.RESTART, TakesEffect.REBUILD)


@dataclasses.dataclass
class _Server:
    """One instance, its variables, and whether a load has worked on its data since it was made or put back.

    `made` is what was in each database; of those that are `unchecked` it was not looked at since they were put back.
    """

    instance: Instance
    variables: Mapping[str, Variable]
    used: bool = False
    refused: str = ""
    made: dict[str, row_counts.Contents] = dataclasses.field(default_factory=dict)
    unchecked: set[str] = dataclasses.field(default_factory=set)


class Servers(Served):
    """Servers in `folder`, for trials of these workloads. Leaving nothing behind is `close`'s."""

    def __init__(
        self,
        host: Host,
        engine: str,
        database: Database,
        folder: str,
        own: Callable[[list[int]], None],
        count: Callable[[Counting | None], None],
        stopped: Callable[[], bool],
    ) -> None:
        """Nothing is made yet. `own` is told which processes are ours, `count` whose counters are to be read."""
        super().__init__(database.family)
        self._host = host
        self._engine = engine
        self._database = database
        self._folder = folder
        self._own = own
        self._count = count
        self._stopped = stopped
        self._made: dict[tuple[tuple[str, str], ...], _Server] = {}
        self._running: _Server | None = None
        self._started_with: Named = {}
        self._ready: set[str] = set()  # databases that were made ready since the start

    # --- data ---

    def make_data(
        self,
        trials: Iterable[Trial],
        workloads: Mapping[str, Workload],
        work: Work,
        progress: Callable[[int, int], None],
    ) -> None:
        """Make all data that these trials work on, in each server that they need, and copy it where it will change.

        Raises DatabaseError, EngineError and Interrupted.
        """
        needed: dict[tuple[tuple[str, str], ...], dict[str, tuple[Workload, Settings]]] = {}
        changes = False
        for trial in trials:
            workload = workloads[trial.workload]
            if workload.database:
                changes |= workload.data != "keep"
                data = needed.setdefault(self._built_in(workload, trial.settings), {})
                data.setdefault(database_of(workload, trial.settings), (workload, trial.settings))
        for number, (built_in, data) in enumerate(needed.items(), start=1):
            if built_in in self._made:
                continue
            self._stop()
            instance = self._instance(f"{self._folder}/server-{number}")
            instance.let_pass(self._folder)
            server = self._made[built_in] = _Server(instance, {})
            instance.remove()  # what a controller that was killed has left of this experiment
            try:
                instance.create(dict(built_in))
                instance.start(within_s=self._database.ready_s)
            except ServerWouldNotStart as error:  # a finding about these settings
                server.refused = str(error)
                continue
            server.variables = instance.variables()
            self._own([instance.pid])
            for name, (workload, settings) in data.items():
                instance.query(f"CREATE DATABASE {name}")
                address = self._address(instance, workload, settings)
                try:
                    work(jobs.job(workload, settings, self._folder, "prepare", server=address), progress)
                except EngineError as error:
                    raise _in_its_words(error, instance) from error
                with instance.inside(name) as ask:
                    instance.state.finish(ask)
                    server.made[name] = row_counts.count(instance.state, ask)
            instance.stop()
            if changes:
                instance.snapshot()

    def put_back(self, workload: Workload, settings: Settings, work: Work) -> None:  # noqa: ARG002
        """Its data as it was made, where a load has worked on it since; it runs again with the next `apply`."""
        server = self._made[self._built_in(workload, settings)]
        if server.used:
            self._stop()
            server.instance.restore()
            server.used = False
            server.unchecked = set(server.made)

    # --- settings ---

    def apply(
        self, workload: Workload, trial: Trial, tested: Collection[str], work: Work, land: Callable[[], None]
    ) -> tuple[Change, ...]:
        """Have the server run with the trial's settings, each read back; those `tested` are set even when equal.

        `land` ends a load that still goes on, before a restart. What the server refuses is a change with its words.
        Raises DatabaseError, EngineError and Interrupted.
        """
        wanted = {name: text_of(value) for name, value in database_settings(workload, trial.settings).items()}
        names = tested_names(workload, tested)
        server = self._made[self._built_in(workload, trial.settings)]
        self._in_force.clear()
        self.readied = ()
        name, cold = database_of(workload, trial.settings), workload.cache == "cold"
        if server.refused:
            return tuple(_refused(workload, name, wanted[name], server.refused) for name in names or wanted)
        try:
            self._start(server, wanted, names, land, cold=cold and name not in server.unchecked)
        except ServerWouldNotStart as error:
            return tuple(_refused(workload, name, wanted[name], str(error)) for name in names or wanted)
        if name in server.unchecked:
            self._remark(readiness.check_rows(server.instance, name, server.made[name]))
            server.unchecked.discard(name)
            if cold:  # counting has warmed what was cold
                self._start(server, wanted, names, land, cold=True)
        found = [self._set(server, key, value, key in names) for key, value in wanted.items()]
        if name not in self._ready:
            land()
            job = jobs.job(workload, trial.settings, self._folder, "warm", server=self.server(workload, trial.settings))
            if not cold:
                self.readied = readiness.warm(server.instance, name, lambda: work(job, lambda _done, _total: None))
            measured, note = readiness.come_to_rest(server.instance, trial.order, self._stopped)
            self.readied += measured
            self._remark(note)
            self._ready.add(name)
        server.used = True
        return tuple(found)

    def _start(
        self, server: _Server, wanted: Named, tested: Collection[str], land: Callable[[], None], *, cold: bool
    ) -> None:
        """Have this server run, with at least those of the settings that it takes when it starts; `cold`: with nothing
        cached, which each time is a start."""
        instance = server.instance
        known, patience_s = server.variables, self._database.ready_s
        given = {name: value for name, value in wanted.items() if known[name].takes_effect in _AT_A_START}
        again = cold or any(name in given for name in tested)
        if self._running is server and instance.is_running() and given == self._started_with and not again:
            return
        land()
        self._stop()
        if cold:
            instance.drop_cache()
        before = instance.state.cold if cold else {}
        try:  # also what can be set live: a pool may take fewer sizes then
            instance.start({**before, **wanted}, within_s=patience_s)
        except ServerWouldNotStart:
            if given == wanted:
                raise
            # What is wrong with another is told when it is set live.
            instance.start({**before, **given}, within_s=patience_s)
        self._running, self._started_with, self._ready = server, given, set()
        self._own([instance.pid])
        self._count(instance.counting())

    def _set(self, server: _Server, name: str, wanted: str, even_if_equal: bool) -> Change:
        """Set what can be set live, and read back."""
        instance, variable = server.instance, server.variables[name]
        refused = ""
        before = instance.read(name)
        live = variable.takes_effect not in _AT_A_START
        if live and (even_if_equal or not variable.is_same(wanted, before)):
            try:
                instance.set_live(name, wanted)
            except QueryRefused as error:
                if error.kind == "full":  # which says nothing of the value
                    raise EngineError("disk-full", error.message, "free space where the server has its data") from error
                refused = str(error)
        found = instance.read(name)
        if name == instance.state.cache_size and not variable.is_same(before, found):
            self._ready.clear()  # it no longer has what it can hold
        before = variable.default or before
        return self._in_force.taken(self.family, variable, wanted, found, before=before, refused=refused)

    def verify(self) -> tuple[Change, ...]:
        """Read every setting of the last `apply` again; those that moved since."""
        return self._in_force.moved(lambda name: self._running.instance.read(name) if self._running else "")

    # --- addresses, status, the end ---

    def server(self, workload: Workload, settings: Settings) -> MysqlServer | PostgresServer:
        """Where a load of these settings connects to."""
        return self._address(self._made[self._built_in(workload, settings)].instance, workload, settings)

    def explained(self, error: ParibusError) -> ParibusError:
        """A load's error, and why the server ended where it has."""
        if isinstance(error, EngineError) and self._running is not None:
            return _in_its_words(error, self._running.instance)
        return error

    def close(self) -> None:
        """End and remove all servers. Raises DatabaseError where one cannot be, the others being gone."""
        errors = []
        for server in self._made.values():
            try:
                server.instance.remove()
            except DatabaseError as error:
                errors.append(error)
        self._made.clear()
        self._running = None
        if errors:
            raise errors[0]

    def _stop(self) -> None:
        if self._running is not None:
            self._count(None)
        for server in self._made.values():
            server.instance.stop()
        self._running = None

    def _instance(self, folder: str) -> Instance:
        return Instance(self._host, self._engine, folder, self._database.kind, program=self._database.program)

    def _built_in(self, workload: Workload, settings: Settings) -> tuple[tuple[str, str], ...]:
        """The settings of a trial that its data is made with."""
        own = database_settings(workload, settings)
        return tuple(sorted((name, text_of(value)) for name, value in own.items() if name in self._database.built_in))

    def _address(self, instance: Instance, workload: Workload, settings: Settings) -> MysqlServer | PostgresServer:
        found = instance.address().model_copy(update={"database": database_of(workload, settings)})
        assert isinstance(found, MysqlServer | PostgresServer)
        return found


def _in_its_words(error: EngineError, instance: Instance) -> EngineError:
    """The error of one who worked on the server, and why that ended where it has: its log goes with it."""
    words = instance.last_words() if error.failure == "connection-lost" else ""
    if not words:
        return error
    return EngineError(error.failure, f"{error.message}; it ended: {words}", "mend what it complains of")


def _refused(workload: Workload, name: str, wanted: str, words: str) -> Change:
    return Change(
        knob=f"{workload.database}.{name}", address=name, before="", wanted=wanted, observed=None,
        state=ChangeState.MISMATCHED, refused=words, not_taken=NotTaken.REFUSED,
    )  # fmt: skip
