"""One trial's window of a load: the engine's events in, the trial's events and measurements out."""

from collections.abc import Callable, Iterator

from paribus.engine.protocol import Hello, Interval, Phase, Result
from paribus.errors import EngineError, Interrupted
from paribus.i18n import StoredMessage
from paribus.model import Limits, Measurement
from paribus.trial import limits, machine, validity
from paribus.trial.load_session import LoadSession
from paribus.trial.monitor import EngineMonitor
from paribus.workloads.jobs import LoadKind


class TrialLoad:
    """The load of one trial, watched by the sampler. `measurements` is filled when its window is over."""

    def __init__(
        self,
        session: LoadSession,
        kind: LoadKind,
        monitor: EngineMonitor,
        stopped: Callable[[], bool],
        limits: Limits,
        check_process: Callable[[int], tuple[StoredMessage, ...]],
    ) -> None:
        """`check_process` reads back the conditions of a process; it returns reasons not to use the trial."""
        self._session = session
        self._job = session.job
        self._kind = kind
        self._monitor = monitor
        self._stopped = stopped
        self._limits = limits
        self._check_process = check_process
        self.measurements: tuple[Measurement, ...] = ()

    def stop(self) -> None:
        """End the load at once."""
        self._session.stop()

    def events(self) -> Iterator[machine.Event]:
        """The trial's events. Raises EngineError, HostError, LimitReached and Interrupted."""
        intervals: list[Interval] = []
        result: Result | None = None
        process_problems = self._check_process(self._session.hello.pid) if self._session.hello else ()
        for event in self._session.events:
            if self._stopped():
                raise Interrupted("stopped under load")
            if isinstance(event, Interval):
                limits.refuse_load(self._limits, event)
            match event:
                case Hello():
                    self._session.hello = event
                    self._monitor.add_load_process(event.pid)
                    process_problems = self._check_process(event.pid)
                case Phase(name="measuring"):
                    self._monitor.open()
                    yield machine.Measuring()
                case Interval(window=str()):
                    intervals.append(event)
                case Result():
                    self._monitor.close()
                    result = event
                    if self._job.measure_s is None:
                        break  # the load continues for the next trial
                case _:
                    pass
        if result is None:
            raise EngineError("no-data", "the load ended before its window was over", "lengthen protocol.trial")
        validity.refuse_no_throughput(result)
        problems = [*process_problems, *validity.parameter_mismatches(self._job, self._session.hello)]
        yield machine.LoadEnded((*problems, *self._conclude(result, intervals)))

    def _conclude(self, result: Result, intervals: list[Interval]) -> list[StoredMessage]:
        """Store the measurements; the reasons not to use them."""
        errors = [validity.load_errors(result.errors)] if result.errors else []
        problems = validity.engine_problems(result, intervals, self._job)
        observations = self._monitor.conclude_load(result, problems)
        self.measurements = self._kind.measurements(result, intervals) + observations.measurements
        return [*errors, *observations.reasons]
