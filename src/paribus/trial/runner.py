"""Carrying out a trial: executes the instructions of the state machine and reports the events to it."""

import functools
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from paribus.engine.protocol import DatabaseServer, Job, Progress
from paribus.engine.run import Engine, Sampler
from paribus.errors import (
    DatabaseError,
    DataDamaged,
    EngineError,
    HostError,
    Interrupted,
    LimitReached,
    ParibusError,
    Unreachable,
)
from paribus.hosts.transport import Host
from paribus.i18n import StoredMessage
from paribus.knobs.apply import Applier
from paribus.knobs.catalog import LOAD, SERVER
from paribus.knobs.conditions import Conditions, digest
from paribus.model import Change, ChangeState, FailureClass, Measurement, Plan, Purpose, Settings, Trial, Value
from paribus.trial import machine, process_conditions, validity
from paribus.trial.blocks import MOST_RERUNS
from paribus.trial.databases.database_session import DatabaseSession
from paribus.trial.databases.workload_data import WorkloadData
from paribus.trial.devices import Devices
from paribus.trial.limits import refuse_machine
from paribus.trial.load import TrialLoad
from paribus.trial.load_host import LoadHostSession
from paribus.trial.load_session import LoadSession
from paribus.trial.monitor import LoadMonitor
from paribus.trial.precondition import PreconditionListener, PreconditionLoad
from paribus.trial.tools.tool_load import ToolLoad
from paribus.trial.tools.tool_session import Tools
from paribus.workloads import jobs
from paribus.workloads.tools import tool_of

Record = Callable[[Trial, Sequence[Change], Sequence[Measurement], Mapping[str, str]], None]

_SETTLE_POINTS = 100  # of a settle run; each at least as long as the engine's shortest interval
_LEAST_INTERVAL_S = 0.01
# The engine's failures that are the tools' or the machine's; any other is the load's own.
_FAILURES = {
    "no-data": FailureClass.NO_DATA,
    "condition-refused": FailureClass.SETTING_REJECTED,
    "engine-died": FailureClass.TOOLING,
    "bad-job": FailureClass.TOOLING,
    "protocol-mismatch": FailureClass.TOOLING,
}


class Runner:
    """A target made ready: applies settings, makes loads, watches the machine."""

    def __init__(
        self,
        host: Host,
        engine: str,
        plan: Plan,
        data_folder: str,
        applier: Applier,
        conditions: Conditions,
        sampler: Sampler,
        record: Record,
        stopped: Callable[[], bool],
        devices: Devices,
        tools: Tools,
        servers: DatabaseSession | None = None,
        load_host: LoadHostSession | None = None,
    ) -> None:
        """`host` and `engine` are the target's; `load_host` makes the load where there is one."""
        kind = plan.database.kind if plan.database else ""
        self.workload_data = WorkloadData(host, engine, kind, data_folder, self.work_on_data, tools)
        self._devices = devices
        self._tools = tools
        self._servers = servers
        self._host = host
        self._engine = engine
        self._load_host = load_host
        self._load_machine = (load_host.site.host, load_host.site.engine) if load_host else (host, engine)
        self._plan = plan
        self._data_folder = data_folder
        self._applier = applier
        self._conditions = conditions
        self._sampler = sampler
        self._record = record
        self._stopped = stopped
        self._workloads = {workload.name: workload for workload in plan.workloads}
        self._other_load = validity.OtherLoad(own_pids={os.getpid()} if plan.target.is_local else set())
        self._readied: tuple[Measurement, ...] = ()
        self._load_conditions: tuple[Change, ...] = ()
        self._load: TrialLoad | ToolLoad | PreconditionLoad | None = None
        self._session: LoadSession | None = None

    def run(
        self, trial: Trial, tested: Sequence[str], listener: PreconditionListener, *, in_flight: bool = False
    ) -> Trial:
        """Carry out one trial to its end, whatever that is; `in_flight`: the load continues for the next of its block.

        Raises JournalError and StoreError, and, after the trial is recorded as failed, Unreachable and LimitReached.
        """
        changes: tuple[Change, ...] = ()
        conditions: Mapping[str, str] = {}
        self._readied, self._load_conditions = (), ()
        last: ParibusError | None = None
        self._load = None
        events: Iterator[machine.Event] = iter(())
        event: machine.Event | None = machine.Begun(time.time())
        while event is not None:
            trial, instructions = machine.step(trial, event)
            event = None
            try:
                for instruction in instructions:
                    match instruction:
                        case machine.Record():
                            over = trial.ended is not None
                            measured = (*self._load.measurements, *self._readied) if over and self._load else ()
                            made = (*changes, *self._load_conditions) if over else ()
                            self._record(trial, made, measured, conditions)
                        case machine.Apply():
                            refuse_machine(self._plan.limits, self._host, self._engine, self._plan.target.path)
                            self._sampler.revive()
                            changes = self._apply(trial, tested)
                            applied = time.time()
                            conditions = self._read_conditions()
                            event = machine.Applied(changes, applied, digest(conditions))
                        case machine.MakeLoad():
                            preconditions = trial.purpose is Purpose.PRECONDITION
                            self._load = (
                                self._precondition(trial, listener)
                                if preconditions
                                else self._make_load(trial, in_flight=in_flight)
                            )
                            events = self._load.events()
                        case machine.StopLoad():
                            self.stop()
                            events = iter(())
                        case machine.Verify():
                            event = machine.Verified(self._verify(trial), time.time())
                event = event or next(events, None)
            except (Interrupted, LimitReached, EngineError, DatabaseError, HostError) as error:
                last = error if isinstance(error, LimitReached | Unreachable) else None
                explained = self._servers.explained(error) if self._servers is not None else error
                event = _failed(explained, {key: trial.settings[key] for key in tested})
        if last is not None:
            raise last
        return trial

    def follow(self, plan: Plan) -> None:
        """Use the plan with its learned settle times from now on."""
        self._plan = plan

    def usual_load(self) -> list[StoredMessage]:
        """Notes on other load that was always present, if any."""
        of_load_host = self._load_host.usual_load() if self._load_host else None
        return [note for note in (self._other_load.usual(), of_load_host) if note]

    def warning(self) -> StoredMessage | None:
        """A message, once, as soon as other load disturbs too many trials to discard them."""
        return self._other_load.warning() or (self._load_host.warning() if self._load_host else None)

    def stop(self) -> None:
        """End the load, if there is one."""
        for load in (self._load, self._session):
            if load is not None:
                load.stop()
        self._load = self._session = None

    def _read_conditions(self) -> dict[str, str]:
        """The conditions of the target and of the load host, whose sampler is started again where it has ended."""
        if self._load_host is None:
            return self._conditions.read()
        self._load_host.revive()
        return self._conditions.read() | self._load_host.conditions()

    def _apply(self, trial: Trial, tested: Sequence[str]) -> tuple[Change, ...]:
        """Apply the trial's settings of the machine and its server; parameters of the workload go into its job."""
        knobs = self._knobs(trial)
        changes = self._applier.apply(knobs, [key for key in tested if key in knobs])
        workload = self._workloads[trial.workload]
        if self._servers is not None and workload.database:
            conditions = self._applier.conditions(knobs, SERVER)
            starts_with = process_conditions.options(conditions)
            changes += self._servers.apply(workload, trial, tested, self.workload_data, self.stop, starts_with)
            changes += self._server_conditions(trial)
            self._readied = self._servers.readied
        return changes

    def _server_conditions(self, trial: Trial) -> tuple[Change, ...]:
        """What the processes of a private server have of the conditions that they were started under."""
        conditions = self._applier.conditions(self._knobs(trial), SERVER)
        pid = self._servers.pid if self._servers is not None and conditions else None
        return () if pid is None else process_conditions.read_back(self._host, self._engine, pid, conditions)

    def _check_load(self, trial: Trial, pid: int) -> tuple[StoredMessage, ...]:
        """Read back the conditions of the process that makes the load; the reasons not to use the trial."""
        conditions = self._applier.conditions(self._knobs(trial), LOAD)
        self._load_conditions = process_conditions.read_back(*self._load_machine, pid, conditions)
        return machine.mismatches(self._load_conditions)

    def _verify(self, trial: Trial) -> tuple[Change, ...]:
        """The settings that changed since they were applied."""
        if self._servers is None or not self._workloads[trial.workload].database:
            return self._applier.verify()
        moved = [c for c in self._server_conditions(trial) if c.state is ChangeState.MISMATCHED]
        return (*self._applier.verify(), *self._servers.verify(), *moved)

    def _knobs(self, trial: Trial) -> dict[str, Value]:
        owners = {owner for workload in self._plan.workloads for owner in workload.owners}
        if self._servers is not None and self._plan.database:
            owners.add(self._plan.database.family)
        return {key: value for key, value in trial.settings.items() if key.partition(".")[0] not in owners}

    def _make_load(self, trial: Trial, *, in_flight: bool) -> TrialLoad | ToolLoad:
        protocol, limits = self._plan.protocol, self._plan.limits
        device = self._plan.target.device
        name = device.removeprefix("/dev/") if device else None
        workload = self._workloads[trial.workload]
        monitor = LoadMonitor(
            self._sampler,
            self._other_load,
            str(trial.order),
            name,
            self._servers if workload.database else None,
            is_last_attempt=trial.attempt > MOST_RERUNS,
        )
        conditions = process_conditions.options(self._applier.conditions(self._knobs(trial), LOAD))
        check_load = functools.partial(self._check_load, trial)
        if tool := tool_of(workload):
            self.stop()
            order = self._tools.request(workload, trial.settings, trial.load, protocol.settle_s, protocol.trial_s)
            return ToolLoad(
                self._tools, tool, workload, trial.settings, order, conditions, monitor, self._stopped, check_load
            )
        calibrates = trial.purpose is Purpose.CALIBRATE
        settle_s, measure_s = (0.0, protocol.settle_run_s) if calibrates else (protocol.settle_s, protocol.trial_s)
        job = jobs.job(
            workload,
            trial.settings,
            self._data_folder,
            "run",
            load=trial.load,
            settle_s=0.0 if in_flight else settle_s,
            measure_s=None if in_flight else measure_s,
            interval_s=min(1.0, max(_LEAST_INTERVAL_S, measure_s / _SETTLE_POINTS) if calibrates else protocol.trial_s),
            server=self._server(trial),
            seed=trial.order,  # other offsets for each arm, or the second would find its pages in the cache
        )
        job = self._devices.expected_by(job)
        session = self._session if in_flight and self._session and self._session.is_load_of(job, conditions) else None
        settle_s = protocol.toggle_s if session else protocol.takeoff_s
        if session is None:
            self.stop()
            session = self._session = LoadSession(*self._load_machine, job, conditions)
        if in_flight:
            session.measure(str(trial.order), settle_s, protocol.trial_s)
        watched = self._load_host.monitor(monitor) if self._load_host else monitor
        return TrialLoad(session, jobs.kind_of(workload.kind), watched, self._stopped, limits, check_load)

    def _server(self, trial: Trial) -> DatabaseServer | None:
        """Where the trial's load connects to, if it uses a server."""
        workload = self._workloads[trial.workload]
        on_server = self._servers is not None and workload.database
        return self._servers.server(workload, trial.settings) if self._servers and on_server else None

    def _precondition(self, trial: Trial, listener: PreconditionListener) -> PreconditionLoad:
        workload = self._workloads[trial.workload]
        job = jobs.job(workload, trial.settings, self._data_folder, "run", seed=trial.order)
        job = self._devices.expected_by(job)
        return PreconditionLoad(
            self._host, self._engine, job, workload, trial.load, self._sampler, listener, self._stopped
        )

    def work_on_data(self, job: Job, progress: Callable[[int, int], None]) -> None:
        """Make or remove a workload's data. Raises EngineError (too little space, for example) and Interrupted."""
        engine = Engine(*self._load_machine, self._devices.expected_by(job))
        try:
            for event in engine.events():
                if self._stopped() and job.phase == "prepare":
                    raise Interrupted("stopped while making data", "continue with: paribus resume")
                if isinstance(event, Progress):
                    progress(event.done_bytes, event.total_bytes)
        finally:
            engine.stop()


def _failed(error: ParibusError, tested: Settings) -> machine.Failed:
    """The trial's failure for an error; a condition that the engine could not have is named by its setting."""
    failure, message = FailureClass.TOOLING, str(error)
    match error:
        case Interrupted():
            failure, message = FailureClass.INTERRUPTED, error.message
        case LimitReached():
            failure, message = FailureClass.LIMIT_REACHED, error.message
        case DatabaseError() if not isinstance(error, DataDamaged):
            failure = FailureClass.SERVER_WOULD_NOT_START
        case EngineError():
            failure = _FAILURES.get(error.failure, FailureClass.LOAD_ERROR)
    if isinstance(error, EngineError) and failure is FailureClass.SETTING_REJECTED:
        message = f"{', '.join(f'{key} = {value}' for key, value in tested.items())}: {error.message}"
    return machine.Failed(failure, message, time.time())
