"""A server in use by others, under trials: our own databases are created in it, and variables changed and restored.

In: a trial's settings. Out: a server with these settings and its data, and the change made to each setting. Every
step is journalled before it is done, and done by the journal's keeper; so it is undone at the end, and also when this
program is killed. Called by the bench and the runner.
"""

import contextlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from paribus.databases import LiveServer
from paribus.engine.protocol import Counting, DatabaseServer
from paribus.errors import DatabaseError, HostError, Unreachable
from paribus.hosts.transport import Host
from paribus.knobs.journal import Journal
from paribus.model import Change, Database, LoadHost, PutStatements, Settings, Trial, Workload
from paribus.registry import data_of, database_settings
from paribus.trial.databases.database_session import (
    DatabaseSession,
    database_of,
    server_text,
    start_measurement,
    tested_variables,
)
from paribus.trial.databases.running_server_variables import JournalledVariables
from paribus.trial.databases.workload_data import Progress, WorkloadData


class RunningServerSession(DatabaseSession):
    """One server; its databases and variables are as they were when the journal is closed."""

    def __init__(
        self,
        host: Host,
        engine: str,
        database: Database,
        experiment: str,
        journal: Journal,
        on_server_processes: Callable[[list[int]], None],
        on_counting: Callable[[Counting | None], None],
        load_hosts: Sequence[LoadHost] = (),
    ) -> None:
        """Make nothing on the server yet.

        `on_server_processes` receives the server's process, where that is on the target; `on_counting` receives how its
        counters are read. `load_hosts` connect with credentials of their own.
        """
        super().__init__(database.family)
        assert database.running is not None
        self._live = LiveServer(host, engine, database.kind, database.running)
        self._database = database
        self._server_name = database.running.address
        self._experiment = experiment
        self._journal = journal
        self._on_server_processes = on_server_processes
        self._on_counting = on_counting
        self._load_hosts = load_hosts
        self._is_counting = False
        self._variables = JournalledVariables(self._live, journal, database.family)
        # By name, the actions that create and remove it.
        self._databases: dict[str, tuple[PutStatements, PutStatements]] = {}
        self._used: set[str] = set()
        self._warm: set[str] = set()

    # --- data ---

    def make_data(
        self,
        trials: Iterable[Trial],
        workloads: Mapping[str, Workload],
        data: WorkloadData,
        progress: Progress,
    ) -> None:
        """Make a database for each shape of data that these trials work on.

        Raises DatabaseError where one of its name is there, EngineError and Interrupted.
        """
        self._live.claim.take()
        process = self._live.process()
        self._on_server_processes([process] if process is not None else [])
        for trial in trials:
            workload = workloads[trial.workload]
            name = self._name(workload, trial.settings)
            if workload.database and name not in self._databases and not _existing(workload, trial.settings):
                self._make(name)
                data.make(workload, trial.settings, self.server(workload, trial.settings), progress)

    def _make(self, name: str) -> None:
        if name in self._live.databases():
            message = f"{self._server_name} has a database {name} already"
            raise DatabaseError(message, "remove it where it is not needed, or set another schema under [database]")
        make, remove = self._databases[name] = self._live.database(name, self._experiment)
        key = f"{self._database.family} database {name}"
        self._journal.intend(key, self._server_name, remove.check.said, "a database", [remove], persistent=True)
        self._carry_out(key, make)

    def _carry_out(self, key: str, action: PutStatements) -> None:
        """Have the keeper carry out a journalled action. Raises DatabaseError and Unreachable."""
        try:
            self._journal.make(key, action)
        except Unreachable:
            raise
        except HostError as error:
            raise DatabaseError(f"{self._server_name}: {error.message}", error.todo) from error

    def restore(self, workload: Workload, settings: Settings, data: WorkloadData) -> None:
        """Recreate its data where a load has changed it: files of a running server cannot be copied.

        Data of others stays as it is then.
        """
        name = self._name(workload, settings)
        if name in self._used and name in self._databases:
            for action in reversed(self._databases[name]):
                self._carry_out(f"{self._database.family} database {name}", action)
            data.make(workload, settings, self.server(workload, settings), lambda _done, _total: None)
            self._used.discard(name)
            self._warm.discard(name)

    # --- settings ---

    def apply(
        self,
        workload: Workload,
        trial: Trial,
        tested: Collection[str],
        data: WorkloadData,
        stop_load: Callable[[], None],  # noqa: ARG002  nothing here is restarted
        conditions: Sequence[str] = (),  # noqa: ARG002  nor started
    ) -> tuple[Change, ...]:
        """Set the trial's variables, each read back; those `tested` even when equal.

        Raises DatabaseError, EngineError, JournalError and Interrupted.
        """
        self._live.claim.take()  # a server that was started again has forgotten it
        requested = {name: server_text(value) for name, value in database_settings(workload, trial.settings).items()}
        names = tested_variables(workload, tested)
        if not self._is_counting:
            self._on_counting(self._live.counting())
            self._is_counting = True
        self._in_force.clear()
        changes = [self._set(name, value, name in names) for name, value in requested.items()]
        changes += [change for name in requested for change in self._variables.hold_others(name, requested)]
        name = self._name(workload, trial.settings)
        if workload.cache == "warm" and name not in self._warm:
            data.read(workload, trial.settings, self.server(workload, trial.settings))
            self._warm.add(name)
        self._used.add(name)
        self.readied = (start_measurement(self._live.started()),)
        return tuple(changes)

    def _set(self, name: str, requested: str, even_if_equal: bool) -> Change:
        variable, before, observed, refused = self._variables.set(name, requested, even_if_equal=even_if_equal)
        return self._in_force.record(self.family, variable, requested, observed, before=before, refused=refused)

    def verify(self) -> tuple[Change, ...]:
        """The settings of the last `apply` that have changed since."""
        return self._in_force.moved(self._live.read)

    def damage(self, workload: Workload, settings: Settings) -> list[str]:
        """Have the server check the tables and indexes of the load, where they are ours; a text on each damaged one."""
        if _existing(workload, settings):  # an extension may be needed for it
            return []
        with self._live.inside(self._name(workload, settings)) as ask:
            return self._live.state.damage(ask)

    # --- addresses, status, the end ---

    def server(self, workload: Workload, settings: Settings) -> DatabaseServer:
        """Return the address of a load with these settings, with the credential of the first load host."""
        address = self._live.address(self._name(workload, settings), timeout_s=60.0)
        if not self._load_hosts:
            return address
        credential = self._load_hosts[0].credential
        return address.model_copy(update={"credential": dict(credential) if credential else None})

    def uncounted(self, reason: str) -> None:
        """Note that its counters cannot be read any more; the next `apply` tries again."""
        self._is_counting = False
        super().uncounted(reason)

    def close(self) -> None:
        """End the connection; the keeper restores databases and variables.

        A load host that was lost has left sessions on the server, which would delay that.
        """
        if self._load_hosts:
            with contextlib.suppress(DatabaseError):  # the keeper reports what it cannot remove
                for name in self._databases:
                    self._live.end_sessions(name)
        self._live.close()

    def release(self) -> None:
        """Let others use the server."""
        self._live.claim.release()

    def _name(self, workload: Workload, settings: Settings) -> str:
        assert self._database.running is not None
        return _existing(workload, settings) or f"{self._database.running.prefix}_{database_of(workload, settings)}"


def _existing(workload: Workload, settings: Settings) -> str:
    """The database of others that a workload is allowed to change; empty where its data is made."""
    return data_of(workload, settings).existing if workload.database else ""
