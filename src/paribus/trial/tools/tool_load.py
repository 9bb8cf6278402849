"""One trial's load by a user's tool: its runs in, the trial's events and measurements out.

It yields the events that the engine's load yields. The window is closed a little before the program ends, since the
kernel forgets the usage of an ended process. Called by the runner.
"""

import time
from collections.abc import Callable, Iterator, Sequence

from paribus.engine.protocol import Ended
from paribus.errors import EngineError, Interrupted
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.model import Measurement, Settings, Workload
from paribus.parsers.report import NotUnderstood, ToolReport
from paribus.registry import parameters_of
from paribus.trial import machine
from paribus.trial.load.monitor import LoadMonitor
from paribus.trial.tools.tool_session import ToolProcess, Tools
from paribus.trial.validity import LoadWork, load_errors
from paribus.workloads.tools import RunRequest, ToolExecution, ToolKind, measurements

_GLANCE_S = 0.05
_MONITORED_SHARE = 0.95  # of the window
_SHORTEST_SHARE = 0.9  # of the requested time
_LATE_S = 60.0  # tolerated beyond the requested time


class ToolLoad:
    """The load of one trial, watched by the sampler. `measurements` is filled when it is over."""

    def __init__(
        self,
        tools: Tools,
        kind: ToolKind,
        workload: Workload,
        settings: Settings,
        order: RunRequest,
        conditions: Sequence[str],
        monitor: LoadMonitor,
        stopped: Callable[[], bool],
        check_process: Callable[[int], tuple[StoredMessage, ...]],
        on_glance: Callable[[float], None],
    ) -> None:
        """`check_process` reads back the conditions of a process; it returns reasons not to use the trial.

        `on_glance` hears, many times a second, for how many seconds the load has run.
        """
        self._on_glance = on_glance
        self._tools = tools
        self._kind = kind
        self._workload = workload
        self._settings = settings
        self._order = order
        self._conditions = conditions
        self._monitor = monitor
        self._stopped = stopped
        self._check_process = check_process
        self._process: ToolProcess | None = None
        self._started = 0.0
        self.measurements: tuple[Measurement, ...] = ()

    def stop(self) -> None:
        """End the load at once."""
        if self._process is not None:
            self._process.stop()

    def events(self) -> Iterator[machine.Event]:
        """The trial's events. Raises EngineError, HostError and Interrupted."""
        parameters = parameters_of(self._workload, self._settings)
        *settling, last = self._kind.runs(parameters, self._order)
        self._started = time.monotonic()
        for run in settling:
            process = self._start(run)
            self._until(process, time.monotonic() + run.settle_s + _LATE_S)
        began = time.monotonic()
        process = self._start(last)
        process_problems = self._check_process(process.pid)
        self._until(process, began + last.settle_s, to_its_end=False)
        self._monitor.open()
        yield machine.Measuring()
        self._until(process, began + last.settle_s + _MONITORED_SHARE * last.measure_s, to_its_end=False)
        self._monitor.close()
        self._until(process, began + last.settle_s + last.measure_s + _LATE_S)
        took_s = time.monotonic() - began
        reasons = [*process_problems, *self._conclude(process, last)]
        if took_s < last.settle_s + _SHORTEST_SHARE * last.measure_s:
            requested_s = last.settle_s + last.measure_s
            text = N_("{workload} ended after {took:.2f} s instead of {told:g} s")
            reasons.append(stored_message(text, workload=self._workload.name, took=took_s, told=requested_s))
        yield machine.LoadEnded(tuple(reasons))

    def _start(self, run: ToolExecution) -> ToolProcess:
        self._process = self._tools.start(self._workload, self._settings, run.argv, self._conditions)
        self._monitor.sampler.add_own_processes([self._process.pid])
        return self._process

    def _until(self, process: ToolProcess, deadline: float, *, to_its_end: bool = True) -> None:
        """Wait for its end, or until a deadline. Raises EngineError where it failed, or did not end by then."""
        ended: Ended | None = None
        while ended is None and (left_s := deadline - time.monotonic()) > 0:
            if self._stopped():
                raise Interrupted("stopped under load")
            self._on_glance(time.monotonic() - self._started)
            ended = process.ended(min(left_s, _GLANCE_S))
        if ended is not None:
            process.refuse_failure(ended)
        elif to_its_end:
            raise EngineError(
                "no-data", f"{self._workload.name} did not end within {_LATE_S:g} s after its planned end"
            )

    def _conclude(self, process: ToolProcess, run: ToolExecution) -> list[StoredMessage]:
        """Store the measurements; the reasons not to use them. Raises EngineError where a response is missing."""
        name = self._workload.name
        parameters = parameters_of(self._workload, self._settings)
        try:
            report = self._kind.read(parameters, self._order, process.text())
        except NotUnderstood as error:
            raise EngineError("no-data", f"the output of {name} {error}") from error
        if not report.operations_per_s:
            raise _without_operations(name, report)
        tool_measurements = measurements(report, run.measure_s)
        metrics = {measurement.metric for measurement in tool_measurements}
        if missing := [response for response in self._workload.responses if response not in metrics]:
            reported = ", ".join(sorted(metrics))
            raise EngineError("no-data", f"the output of {name} has no {missing[0]}", f"it has: {reported}")
        work = LoadWork(duration_s=_MONITORED_SHARE * run.measure_s, bytes_per_s=report.bytes_per_s or 0.0, cores=1)
        observations = self._monitor.conclude(work)
        self.measurements = tool_measurements + observations.measurements
        return [*([load_errors(report.errors)] if report.errors else []), *observations.reasons]


def _without_operations(name: str, report: ToolReport) -> EngineError:
    """The error of a tool that completed nothing: its operations failed, or the trial was too short for one."""
    if not report.ignored_per_s:
        return EngineError("no-data", f"{name} completed no operation", "lengthen protocol.trial")
    failed = f"{name} completed no operation, and {report.ignored_per_s:.3g} failed each second"
    return EngineError("no-data", failed, "the log of the server may say why; mend that, and run again")
