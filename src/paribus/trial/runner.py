"""Carrying out a trial: executes the instructions of the state machine and reports the events to it."""

import functools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

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
from paribus.i18n import StoredMessage
from paribus.knobs.catalog import SERVER
from paribus.knobs.conditions import digest
from paribus.model import (
    COMPARING,
    LAYOUT,
    TPCC,
    Change,
    ChangeState,
    FailureClass,
    Measurement,
    Protocol,
    Purpose,
    Settings,
    Trial,
)
from paribus.registry import parameters_of
from paribus.trial import machine, process_conditions, settings
from paribus.trial.data_jobs import DataJobs, damaged
from paribus.trial.databases.workload_data import WorkloadData
from paribus.trial.experiment_session import ExperimentSession
from paribus.trial.health import HealthWatch
from paribus.trial.limits import refuse_machine
from paribus.trial.load.load_maker import LoadMaker
from paribus.trial.load.precondition import PreconditionLoad, TrialListener
from paribus.trial.load.trial_load import TrialLoad
from paribus.trial.open_target import OpenTarget
from paribus.trial.tools.tool_load import ToolLoad
from paribus.workloads import jobs

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

    def __init__(self, session: ExperimentSession, target: OpenTarget, make_data: Callable[[Trial], None]) -> None:
        """`make_data` makes the data of a trial on a new layout."""
        site, plan, stopped = session.site, session.plan, session.stopped
        kind = plan.database.kind if plan.database else ""
        folder = session.files_folder
        self.data_jobs = DataJobs(site.driver.host, site.driver.engine, target.devices, stopped)
        self.workload_data = WorkloadData(site.host, site.engine, kind, folder, self.data_jobs.run, target.tools)
        self._health = HealthWatch(site.host, plan.health, stopped)
        self._loads = LoadMaker(session, target, self._health.pass_time)
        self._servers = target.servers
        self._layouts = target.layouts
        self._members = target.members
        self._make_data = make_data
        self._host = site.host
        self._engine = site.engine
        self._load_hosts = target.load_hosts
        self._hypervisor = target.hypervisor
        self._watch = target.watch
        self._flushes = target.flushes
        self._plan = plan
        self._data_folder = folder
        self._applier = target.applier
        self._conditions = target.conditions
        self._sampler = target.sampler
        self._record = session.record
        self._workloads = session.workloads
        self._readied: tuple[Measurement, ...] = ()

    def run(
        self,
        trial: Trial,
        tested: Sequence[str],
        listener: TrialListener,
        protocol: Protocol,
        *,
        in_flight: bool = False,
    ) -> Trial:
        """Carry out one trial to its end, whatever that is; `in_flight`: the load continues for the next of its block.

        `protocol` has the times of this trial. Raises JournalError and StoreError, and, after the trial is recorded as
        failed, Unreachable and LimitReached.
        """
        changes: tuple[Change, ...] = ()
        conditions: Mapping[str, str] = {}
        self._readied = ()
        last: ParibusError | None = None
        load: TrialLoad | ToolLoad | PreconditionLoad | None = None
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
                            measured = (*load.measurements, *self._readied) if over and load else ()
                            made = (*changes, *(self._loads.conditions if load else ())) if over else ()
                            self._record(trial, made, measured, conditions)
                        case machine.Apply():
                            refuse_machine(self._plan.limits, self._host, self._engine, self._plan.target.path)
                            self._sampler.revive()
                            self._members.bring_back(functools.partial(self._wait, listener))
                            states = self._health.begin(functools.partial(self._wait, listener), self._affected(trial))
                            changes = self._apply(trial, tested)
                            applied = time.time()
                            conditions = self._read_conditions() | states
                            event = machine.Applied(changes, applied, digest(conditions))
                        case machine.MakeLoad():
                            load = self._loads.make(trial, protocol, listener, in_flight=in_flight)
                            events = load.events()
                        case machine.StopLoad():
                            self._loads.stop()
                            events = iter(())
                        case machine.Verify():
                            event = machine.Verified(self._verify(trial), time.time())
                event = event or next(events, None)
                if isinstance(event, machine.LoadEnded):
                    event = machine.LoadEnded((*event.invalid_because, *self._health.end(), *self._damage(trial)))
                    self._readied += self._health.measurements()
            except (Interrupted, LimitReached, EngineError, DatabaseError, HostError) as error:
                last = error if isinstance(error, LimitReached | Unreachable) else None
                explained = self._servers.explained(error) if self._servers is not None else error
                # A baseline may lack a parameter that only a combination sets.
                event = _failed(explained, {key: trial.settings[key] for key in tested if key in trial.settings})
        if last is not None:
            raise last
        return trial

    def usual_load(self) -> list[StoredMessage]:
        """Notes on other load that was always present, if any."""
        return self._loads.usual_load()

    def warning(self) -> StoredMessage | None:
        """A message, once, as soon as other load disturbs too many trials to discard them."""
        return self._loads.warning()

    def stop(self) -> None:
        """End the load, if there is one."""
        self._loads.stop()

    def _wait(self, listener: TrialListener, reason: str) -> None:
        """Tell what is waited for; a load that continues from trial to trial must not run meanwhile."""
        self._loads.stop()
        listener.on_notes([reason])

    def _affected(self, trial: Trial) -> set[str]:
        """The checks of health whose states follow the drives that fail in a trial."""
        members = [event.member for event in self._plan.events if event.happens(trial.settings)]
        return {name for member in members if member is not None for name in member.affects}

    def _read_conditions(self) -> dict[str, str]:
        """The conditions of all machines; the samplers beside the target are started again where they have ended."""
        conditions = self._conditions.read()
        if self._hypervisor is not None:
            conditions |= self._hypervisor.conditions()
        if self._watch is not None:
            self._watch.begin_trial()
        for load_host in self._load_hosts:
            load_host.revive()
            conditions |= load_host.conditions()
        return conditions

    def _apply(self, trial: Trial, tested: Sequence[str]) -> tuple[Change, ...]:
        """Apply the trial's settings of the machines and the server; parameters of the workload go into its job."""
        knobs = settings.of_machine(self._plan, trial.settings)
        changes = self._hypervisor.apply(trial.settings, tested) if self._hypervisor is not None else ()
        changes += self._apply_layout(trial, tested)
        if any(change.state is ChangeState.MISMATCHED for change in changes):
            return changes
        changes += self._applier.apply(knobs, [key for key in tested if key in knobs])
        workload = self._workloads[trial.workload]
        if self._servers is not None and workload.database:
            conditions = self._applier.conditions(knobs, SERVER)
            starts_with = process_conditions.options(conditions)
            changes += self._servers.apply(workload, trial, tested, self.workload_data, self._loads.stop, starts_with)
            changes += self._server_conditions(trial)
            self._readied += self._servers.readied
        if self._layouts is not None:
            self._layouts.begin_trial()
        return changes

    def _apply_layout(self, trial: Trial, tested: Sequence[str]) -> tuple[Change, ...]:
        """Build the trial's layout where another is in force, or the layout is tested, and make its data there."""
        if self._layouts is None:
            return ()
        text = str(trial.settings[LAYOUT])
        self._readied = self._layouts.measurements
        if self._layouts.in_force == text and LAYOUT not in tested:
            return ()
        self._loads.stop()
        if self._servers is not None:
            self._servers.close()
        change = self._layouts.apply(text)
        if change.state is ChangeState.VERIFIED and self._layouts.stack is not None:
            self._readied = self._layouts.measurements
            self._applier.move_to(self._layouts.stack)
            self._make_data(trial)
        return (change,)

    def _server_conditions(self, trial: Trial) -> tuple[Change, ...]:
        """Return the start conditions of a private server, as read back from its processes."""
        conditions = self._applier.conditions(settings.of_machine(self._plan, trial.settings), SERVER)
        pid = self._servers.pid if self._servers is not None and conditions else None
        return () if pid is None else process_conditions.read_back(self._host, self._engine, pid, conditions)

    def _verify(self, trial: Trial) -> tuple[Change, ...]:
        """The settings that changed since they were applied."""
        changes = self._hypervisor.verify() if self._hypervisor is not None else ()
        changes += self._layouts.verify() if self._layouts is not None else ()
        changes += self._applier.verify()
        if self._layouts is not None:
            self._readied += (*self._layouts.cache_use(), *self._layouts.layer_use())
        if self._flushes is not None and trial.purpose in COMPARING:
            self._readied += self._flushes.measure()
        if self._servers is None or not self._workloads[trial.workload].database:
            return changes
        changes += self._servers.verify()
        changes += tuple(c for c in self._server_conditions(trial) if c.state is ChangeState.MISMATCHED)
        if self._plan.protocol.recovers and trial.purpose in COMPARING:
            self._readied += self._crash(trial)
        return changes

    def _crash(self, trial: Trial) -> tuple[Measurement, ...]:
        """Kill the trial's server and start it again. What a power cut may have spoilt is not used any more."""
        assert self._servers is not None
        mount = self._layouts if self._plan.protocol.cuts_off else None
        is_spoilt = True
        try:
            measured = self._servers.crash(self._workloads[trial.workload], trial.settings, mount)
            is_spoilt = any(each.metric == "power_cut_spoilt" and each.mean for each in measured)
        finally:
            if mount is not None and is_spoilt:
                mount.damage()
        return measured

    def _damage(self, trial: Trial) -> list[StoredMessage]:
        """Return damage by the load or an event to verifiable data: blocks of files, or tables.

        Files are read where the plan has events, also in trials in which none happens, so that all trials begin alike.
        Raises EngineError, HostError and Interrupted.
        """
        workload = self._workloads[trial.workload]
        is_asked = getattr(parameters_of(workload, trial.settings), "verify", False)
        if not is_asked or trial.purpose in (Purpose.CALIBRATE, Purpose.PRECONDITION):
            return []
        if not self._plan.events and not workload.database:
            return []
        has_conditions = workload.kind == TPCC
        if self._servers is not None and workload.database and (self._plan.events or not has_conditions):
            if texts := self._servers.damage(workload, trial.settings):
                return [damaged(texts)]
            if not has_conditions:
                return []
        job = jobs.job(workload, trial.settings, self._data_folder, "verify", server=self._loads.server(trial))
        verified = self.data_jobs.verify(job)
        if isinstance(verified, StoredMessage):
            return [verified]
        self._readied += (Measurement.of_value("verified_blocks", "", float(verified), "measure", "engine"),)
        return []


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
