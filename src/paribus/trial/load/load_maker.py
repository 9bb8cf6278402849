"""Loads of trials: the engine's, a tool's, or that of a preconditioning, made and ended one after the other.

In: a target and a plan. Out: the load of each trial. Called by the runner.
"""

import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import replace

from paribus.engine.protocol import DatabaseServer, Job
from paribus.i18n import StoredMessage
from paribus.knobs.catalog import LOAD
from paribus.model import KILL_SERVER, Change, Knob, Protocol, Purpose, Trial, Value
from paribus.trial import machine, process_conditions, settings, validity
from paribus.trial.blocks import MOST_RERUNS
from paribus.trial.events.background import BackgroundJob
from paribus.trial.events.session import TrialEvents
from paribus.trial.experiment_session import ExperimentSession
from paribus.trial.load.joint_session import JointSession
from paribus.trial.load.load_host import JointMonitor
from paribus.trial.load.load_session import EngineSession, LoadSession
from paribus.trial.load.monitor import LoadMonitor
from paribus.trial.load.precondition import PreconditionLoad, TrialListener
from paribus.trial.load.trial_load import TrialLoad
from paribus.trial.open_target import OpenTarget
from paribus.trial.tools.tool_load import ToolLoad
from paribus.workloads import jobs
from paribus.workloads.tools import ToolKind, tool_of

_SETTLE_POINTS = 100  # of a settle run; each at least as long as the engine's shortest interval
_LEAST_INTERVAL_S = 0.01
_SLACK_S = 30.0


class LoadMaker:
    """The load of the present trial, and the engine that may continue for the next."""

    def __init__(self, session: ExperimentSession, target: OpenTarget, on_second: Callable[[float], None]) -> None:
        """`on_second` receives the seconds since a trial's measured time began."""
        site = session.site
        self._host = site.host
        self._engine = site.engine
        self._site = site
        self._load_hosts = target.load_hosts
        self._plan = plan = session.plan
        self._workloads = session.workloads
        self._data_folder = session.files_folder
        self._applier = target.applier
        self._sampler = target.sampler
        self._stopped = session.stopped
        self._on_second = on_second
        self._devices = target.devices
        self._tools = target.tools
        self._servers = target.servers
        self._layouts = target.layouts
        self._members = target.members
        self._watch = target.watch
        self._other_load = validity.OtherLoad(own_pids={os.getpid()} if plan.target.is_local else set())
        self._other_loads = [each for each in (self._other_load, *self._load_hosts, self._watch) if each is not None]
        self._load: TrialLoad | ToolLoad | PreconditionLoad | None = None
        self._session: LoadSession | None = None
        self.conditions: tuple[Change, ...] = ()
        """Conditions of the process that makes the present load, as it was started."""

    def make(
        self, trial: Trial, protocol: Protocol, listener: TrialListener, *, in_flight: bool
    ) -> TrialLoad | ToolLoad | PreconditionLoad:
        """The load of a trial, which begins with its first event. `in_flight`: it continues for the next trial.

        Raises EngineError and HostError.
        """
        self.conditions = ()
        if trial.purpose is Purpose.PRECONDITION:
            self._load = self._precondition(trial, listener)
            return self._load
        if self._layouts is not None:
            self._layouts.cache_use()  # what was before the trial does not count
        tool = tool_of(self._workloads[trial.workload])
        self._load = (
            self._of_tool(tool, trial, protocol)
            if tool
            else self._of_engine(trial, protocol, listener, in_flight=in_flight)
        )
        return self._load

    def stop(self) -> None:
        """End the load, if there is one."""
        load, session = self._load, self._session
        self._load = self._session = None
        for each in (load, session):
            if each is not None:
                each.stop()

    def usual_load(self) -> list[StoredMessage]:
        """Notes on other load that was always present, if any."""
        return [note for each in self._other_loads if (note := each.usual())]

    def warning(self) -> StoredMessage | None:
        """A message, once, as soon as other load disturbs too many trials to discard them."""
        return next(filter(None, (each.warning() for each in self._other_loads)), None)

    def _precondition(self, trial: Trial, listener: TrialListener) -> PreconditionLoad:
        workload = self._workloads[trial.workload]
        job = self._devices.placed(jobs.job(workload, trial.settings, self._data_folder, "run", seed=trial.order))
        return PreconditionLoad(
            self._host, self._engine, job, workload, trial.load, self._sampler, listener, self._stopped
        )

    def _of_tool(self, tool: ToolKind, trial: Trial, protocol: Protocol) -> ToolLoad:
        self.stop()
        workload = self._workloads[trial.workload]
        order = self._tools.request(workload, trial.settings, trial.load, protocol.settle_s, protocol.trial_s)
        return ToolLoad(
            self._tools,
            tool,
            workload,
            trial.settings,
            order,
            self._process_options(trial),
            self._monitor(trial),
            self._stopped,
            functools.partial(self._check_process, trial),
            self._on_second,
        )

    def _of_engine(self, trial: Trial, protocol: Protocol, listener: TrialListener, *, in_flight: bool) -> TrialLoad:
        calibrates = trial.purpose is Purpose.CALIBRATE
        settle_s, measure_s = (0.0, protocol.settle_run_s) if calibrates else (protocol.settle_s, protocol.trial_s)
        workload = self._workloads[trial.workload]
        job = jobs.job(
            workload,
            trial.settings,
            self._data_folder,
            "run",
            load=trial.load,
            settle_s=0.0 if in_flight else settle_s,
            measure_s=None if in_flight else measure_s,
            interval_s=min(1.0, max(_LEAST_INTERVAL_S, measure_s / _SETTLE_POINTS) if calibrates else protocol.trial_s),
            server=self.server(trial),
            seed=trial.order,  # other offsets for each arm, or the second would find its pages in the cache
        )
        job, conditions = self._devices.placed(job), self._process_options(trial)
        session = self._session if in_flight and self._session and self._session.is_load_of(job, conditions) else None
        usual = self._plan.protocol
        if in_flight:
            settle_s = protocol.toggle_s if session else protocol.takeoff_s
        same_s = (usual.toggle_s if session else usual.takeoff_s) if in_flight else usual.settle_s
        if session is None:
            self.stop()
            session = self._session = self._start(job, conditions)
        if in_flight:
            session.measure(str(trial.order), settle_s, protocol.trial_s)
        monitor = self._monitor(trial)
        return TrialLoad(
            session,
            jobs.kind_of(workload.kind),
            JointMonitor.of(monitor, self._site, self._load_hosts) if self._load_hosts else monitor,
            self._stopped,
            self._plan.limits,
            functools.partial(self._check_process, trial),
            (settle_s, min(settle_s, same_s)),
            self._on_second,
            None if calibrates else self._events(trial, listener),
        )

    def _start(self, job: Job, conditions: Sequence[str]) -> LoadSession:
        """Start a load on the machines that make it. Raises HostError."""
        hosts = self._plan.load_hosts
        if len(hosts) > 1:
            return JointSession(self._site.load_hosts, hosts, job, conditions)
        driver = self._site.driver
        return EngineSession(driver.host, driver.engine, job, conditions)

    def _monitor(self, trial: Trial) -> LoadMonitor:
        target = self._plan.target
        monitor = LoadMonitor(
            self._sampler,
            self._other_load,
            str(trial.order),
            [disk.removeprefix("/dev/") for disk in (target.device, *target.more_disks) if disk],
            self._servers if self._workloads[trial.workload].database else None,
            is_last_attempt=trial.attempt > MOST_RERUNS,
        )
        if self._watch is not None:
            monitor.watch_also(self._watch.monitor(monitor))
        return monitor

    def _events(self, trial: Trial, listener: TrialListener) -> TrialEvents | None:
        """Return the events that happen while the trial's load runs; None without any."""
        events = [event for event in self._plan.events if event.happens(trial.settings)]
        if not events:
            return None
        server = self.server(trial)
        start_job = functools.partial(BackgroundJob, self._host, self._engine, self._data_folder, server)
        kill_server = functools.partial(self._kill_server, trial)
        return TrialEvents(
            self._host,
            self._layouts,
            self._members,
            events,
            start_job,
            self._sampler.add_own_processes,
            kill_server,
            lambda reason: listener.on_notes([reason]),
        )

    def _kill_server(self, trial: Trial) -> None:
        """Kill the server of a trial and start it again. Raises DatabaseError where it does not answer."""
        assert self._servers is not None
        self._servers.kill(self._workloads[trial.workload], trial.settings)

    def _process_options(self, trial: Trial) -> Sequence[str]:
        """The options that start the process of a trial's load under its conditions."""
        return process_conditions.options(self._conditions(trial))

    def _check_process(self, trial: Trial, pid: int, load_host: int = 0) -> tuple[StoredMessage, ...]:
        """Read back the conditions of a process that makes the load; the reasons not to use the trial."""
        site = self._site.load_hosts[load_host] if self._site.load_hosts else self._site
        changes = process_conditions.read_back(site.host, site.engine, pid, self._conditions(trial))
        if len(self._site.load_hosts) > 1:
            changes = tuple(replace(change, address=f"{site.host.name}:{change.address}") for change in changes)
        self.conditions += changes
        return machine.mismatches(changes)

    def _conditions(self, trial: Trial) -> dict[str, tuple[Knob, Value]]:
        """The settings that the process of the load is started under."""
        return self._applier.conditions(settings.of_machine(self._plan, trial.settings), LOAD)

    def server(self, trial: Trial) -> DatabaseServer | None:
        """Return the server that the trial's load connects to, if it uses one."""
        workload = self._workloads[trial.workload]
        if self._servers is None or self._plan.database is None or not workload.database:
            return None
        server = self._servers.server(workload, trial.settings)
        kills = any(event.action == KILL_SERVER for event in self._plan.events)
        patience_s = 2 * self._plan.database.ready_s + _SLACK_S  # of two starts; the server's own limit decides
        return server.model_copy(update={"outage_s": patience_s}) if kills else server
