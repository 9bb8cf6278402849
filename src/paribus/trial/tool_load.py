"""One trial's load by a tool of the user's: its runs in, the trial's events and measurements out.

It yields what the engine's load yields. The window is closed a little before the program ends, since the kernel forgets
what an ended process used. Called by the runner.
"""

import time
from collections.abc import Callable, Iterator, Sequence

from paribus.engine.protocol import Ended
from paribus.errors import EngineError, Interrupted
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.model import Measurement, Settings, Workload
from paribus.parsers.report import NotUnderstood
from paribus.registry import parameters_of
from paribus.trial import machine
from paribus.trial.monitor import Watch
from paribus.trial.tool_session import Started, Tools
from paribus.trial.validity import Work, of_errors
from paribus.workloads.tools import RunRequest, ToolKind, ToolRun, measurements

_GLANCE_S = 0.05
_WATCHED = 0.95  # of the window
_CUT_SHORT = 0.9  # of the time it was told
_LATE_S = 60.0  # what it may take beyond that


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
        watch: Watch,
        stopped: Callable[[], bool],
    ) -> None:
        self._tools = tools
        self._kind = kind
        self._workload = workload
        self._settings = settings
        self._order = order
        self._conditions = conditions
        self._watch = watch
        self._stopped = stopped
        self._started: Started | None = None
        self.measurements: tuple[Measurement, ...] = ()

    def stop(self) -> None:
        """End the load at once."""
        if self._started is not None:
            self._started.stop()

    def events(self) -> Iterator[machine.Event]:
        """What happens to the trial. Raises EngineError, HostError and Interrupted."""
        parameters = parameters_of(self._workload, self._settings)
        *settling, last = self._kind.runs(parameters, self._order)
        for run in settling:
            started = self._start(run)
            self._until(started, time.monotonic() + run.settle_s + _LATE_S)
        began = time.monotonic()
        started = self._start(last)
        self._until(started, began + last.settle_s, to_its_end=False)
        self._watch.open()
        yield machine.Measuring()
        self._until(started, began + last.settle_s + _WATCHED * last.measure_s, to_its_end=False)
        self._watch.close()
        self._until(started, began + last.settle_s + last.measure_s + _LATE_S)
        took_s = time.monotonic() - began
        reasons = self._conclude(started, last)
        if took_s < last.settle_s + _CUT_SHORT * last.measure_s:
            told_s = last.settle_s + last.measure_s
            said = N_("{workload} ended after {took:.2f} s, though it was told {told:g} s")
            reasons.append(stored_message(said, workload=self._workload.name, took=took_s, told=told_s))
        yield machine.LoadEnded(tuple(reasons))

    def _start(self, run: ToolRun) -> Started:
        self._started = self._tools.start(self._workload, self._settings, run.argv, self._conditions)
        self._watch.sampler.own_too([self._started.pid])
        return self._started

    def _until(self, started: Started, deadline: float, *, to_its_end: bool = True) -> None:
        """Wait for its end, or for a moment; raise EngineError where it failed, or did not end by then."""
        ended: Ended | None = None
        while ended is None and (left_s := deadline - time.monotonic()) > 0:
            if self._stopped():
                raise Interrupted("stopped under load")
            ended = started.ended(min(left_s, _GLANCE_S))
        if ended is not None:
            started.refuse_failure(ended)
        elif to_its_end:
            raise EngineError("no-data", f"{self._workload.name} did not end within {_LATE_S:g} s after its time")

    def _conclude(self, started: Started, run: ToolRun) -> list[StoredMessage]:
        """Take the measurements; what is wrong with them. Raises EngineError where something is missing."""
        name = self._workload.name
        parameters = parameters_of(self._workload, self._settings)
        try:
            report = self._kind.read(parameters, self._order, started.text())
        except NotUnderstood as error:
            raise EngineError("no-data", f"what {name} printed {error}") from error
        if not report.operations_per_s:
            raise EngineError("no-data", f"{name} completed no operation", "lengthen trial")
        found = measurements(report, run.measure_s)
        known = {one.metric for one in found}
        if missing := [response for response in self._workload.responses if response not in known]:
            said = ", ".join(sorted(known))
            raise EngineError("no-data", f"what {name} printed says nothing of {missing[0]}", f"it says: {said}")
        work = Work(duration_s=_WATCHED * run.measure_s, bytes_per_s=report.bytes_per_s or 0.0, cores=1)
        seen = self._watch.conclude(work)
        self.measurements = found + seen.measurements
        return [*([of_errors(report.errors)] if report.errors else []), *seen.reasons]
