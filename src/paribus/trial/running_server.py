"""A server that others use, under trials: databases of our own are made in it, and variables changed and put back.

In: a trial's settings. Out: a server that runs with them, its data as it should be, and what became of each setting.
Everything is in the journal before it is done, and done by the journal's keeper; so it is taken back at the end, and
also when this program is killed. Called by the bench and the runner.
"""

from collections.abc import Callable, Collection, Iterable, Mapping

from paribus.databases import Live
from paribus.engine.protocol import Counting, MysqlServer, PostgresServer
from paribus.errors import DatabaseError, HostError, Unreachable
from paribus.hosts.transport import Host
from paribus.knobs.journal import Journal
from paribus.model import Change, Database, PutStatements, Settings, Trial, Workload
from paribus.registry import database_settings
from paribus.trial.database_session import Served, Work, database_of, tested_names, text_of
from paribus.trial.running_server_variables import Variables
from paribus.workloads import jobs


class Running(Served):
    """One server; its databases and variables are as they were when the journal is closed."""

    def __init__(
        self,
        host: Host,
        engine: str,
        database: Database,
        experiment: str,
        folder: str,
        journal: Journal,
        own: Callable[[list[int]], None],
        count: Callable[[Counting | None], None],
    ) -> None:
        """Nothing is made yet. `own` is told the server's process, where that is on the target, `count` how its
        counters are read."""
        super().__init__(database.family)
        assert database.running is not None
        self._live = Live(host, engine, database.kind, database.running)
        self._database = database
        self._place = database.running.address
        self._experiment = experiment
        self._folder = folder
        self._journal = journal
        self._own = own
        self._count = count
        self._counts = False
        self._variables = Variables(self._live, journal, database.family)
        self._made: dict[str, tuple[PutStatements, PutStatements]] = {}  # by name, what makes and what removes it
        self._used: set[str] = set()
        self._warm: set[str] = set()

    # --- data ---

    def make_data(
        self,
        trials: Iterable[Trial],
        workloads: Mapping[str, Workload],
        work: Work,
        progress: Callable[[int, int], None],
    ) -> None:
        """Make a database for each shape of data that these trials work on.

        Raises DatabaseError where one of its name is there, EngineError and Interrupted.
        """
        process = self._live.process()
        self._own([process] if process is not None else [])
        for trial in trials:
            workload = workloads[trial.workload]
            name = self._name(workload, trial.settings)
            if workload.database and name not in self._made:
                self._make(name)
                self._prepare(workload, trial.settings, work, progress)

    def _make(self, name: str) -> None:
        if name in self._live.databases():
            wrong = f"{self._place} has a database {name} already"
            raise DatabaseError(wrong, "remove it where it is not needed, or set another schema under [database]")
        make, remove = self._made[name] = self._live.database(name, self._experiment)
        key = f"{self._database.family} database {name}"
        self._journal.intend(key, self._place, remove.check.said, "a database", [remove], persistent=True)
        self._carry_out(key, make)

    def _carry_out(self, key: str, action: PutStatements) -> None:
        """Have the keeper do what is in the journal. Raises DatabaseError and Unreachable."""
        try:
            self._journal.make(key, action)
        except Unreachable:
            raise
        except HostError as error:
            raise DatabaseError(f"{self._place}: {error.message}", error.todo) from error

    def _prepare(
        self, workload: Workload, settings: Settings, work: Work, progress: Callable[[int, int], None]
    ) -> None:
        server = self.server(workload, settings)
        work(jobs.job(workload, settings, self._folder, "prepare", server=server), progress)

    def put_back(self, workload: Workload, settings: Settings, work: Work) -> None:
        """Its data made anew, where a load has worked on it since: files of a server that runs cannot be copied."""
        name = self._name(workload, settings)
        if name in self._used:
            for action in reversed(self._made[name]):
                self._carry_out(f"{self._database.family} database {name}", action)
            self._prepare(workload, settings, work, lambda _done, _total: None)
            self._used.discard(name)
            self._warm.discard(name)

    # --- settings ---

    def apply(
        self,
        workload: Workload,
        trial: Trial,
        tested: Collection[str],
        work: Work,
        land: Callable[[], None],  # noqa: ARG002  nothing here is restarted
    ) -> tuple[Change, ...]:
        """Set the trial's variables, each read back; those `tested` even when equal.

        Raises DatabaseError, EngineError, JournalError and Interrupted.
        """
        wanted = {name: text_of(value) for name, value in database_settings(workload, trial.settings).items()}
        names = tested_names(workload, tested)
        if not self._counts:
            self._count(self._live.counting())
            self._counts = True
        self._in_force.clear()
        found = [self._set(name, value, name in names) for name, value in wanted.items()]
        found += [change for name in wanted for change in self._variables.hold_others(name, wanted)]
        name = self._name(workload, trial.settings)
        if workload.cache == "warm" and name not in self._warm:
            server = self.server(workload, trial.settings)
            work(jobs.job(workload, trial.settings, self._folder, "warm", server=server), lambda _done, _total: None)
            self._warm.add(name)
        self._used.add(name)
        return tuple(found)

    def _set(self, name: str, wanted: str, even_if_equal: bool) -> Change:
        variable, before, found, refused = self._variables.set(name, wanted, even_if_equal=even_if_equal)
        return self._in_force.taken(self.family, variable, wanted, found, before=before, refused=refused)

    def verify(self) -> tuple[Change, ...]:
        """Read every setting of the last `apply` again; those that moved since."""
        return self._in_force.moved(self._live.read)

    # --- addresses, status, the end ---

    def server(self, workload: Workload, settings: Settings) -> MysqlServer | PostgresServer:
        """Where a load of these settings connects to."""
        return self._live.address(self._name(workload, settings), timeout_s=60.0)

    def uncounted(self, why: str) -> None:
        """Its counters cannot be read any more, up to the next `apply`."""
        self._counts = False
        super().uncounted(why)

    def close(self) -> None:
        """End the connection; databases and variables are the keeper's to put back."""
        self._live.close()

    def _name(self, workload: Workload, settings: Settings) -> str:
        assert self._database.running is not None
        return f"{self._database.running.prefix}_{database_of(workload, settings)}"
