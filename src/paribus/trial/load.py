"""One trial's window of a load: the engine's events in, the trial's events and measurements out."""

from collections.abc import Callable, Iterator

from paribus.engine.protocol import Hello, Interval, Phase, Result
from paribus.errors import EngineError, Interrupted
from paribus.i18n import StoredMessage
from paribus.model import Limits, Measurement
from paribus.trial import limits, machine, validity
from paribus.trial.load_session import Flight
from paribus.trial.monitor import Watch
from paribus.workloads.jobs import LoadKind


class TrialLoad:
    """The load of one trial, watched by the sampler. `measurements` is filled when its window is over."""

    def __init__(
        self,
        flight: Flight,
        kind: LoadKind,
        watch: Watch,
        stopped: Callable[[], bool],
        limits: Limits,
    ) -> None:
        self._flight = flight
        self._job = flight.job
        self._kind = kind
        self._watch = watch
        self._stopped = stopped
        self._limits = limits
        self.measurements: tuple[Measurement, ...] = ()

    def stop(self) -> None:
        """End the load at once."""
        self._flight.stop()

    def events(self) -> Iterator[machine.Event]:
        """What happens to the trial. Raises EngineError, HostError, LimitReached and Interrupted."""
        intervals: list[Interval] = []
        result: Result | None = None
        for event in self._flight.events:
            if self._stopped():
                raise Interrupted("stopped under load")
            if isinstance(event, Interval):
                limits.refuse_load(self._limits, event)
            match event:
                case Hello():
                    self._flight.hello = event
                    self._watch.foreign.own.add(event.pid)
                case Phase(name="measuring"):
                    self._watch.open()
                    yield machine.Measuring()
                case Interval(window=str()):
                    intervals.append(event)
                case Result():
                    self._watch.close()
                    result = event
                    if self._job.measure_s is None:
                        break  # the load goes on for the next trial
                case _:
                    pass
        if result is None or result.operations == 0:
            raise EngineError("no-data", "the load completed no operation", "lengthen trial")
        wrong = validity.of_settings(self._job, self._flight.hello)
        yield machine.LoadEnded((*wrong, *self._conclude(result, intervals)))

    def _conclude(self, result: Result, intervals: list[Interval]) -> list[StoredMessage]:
        """Take the measurements; what is wrong with them."""
        reasons = validity.of_load(result, intervals, self._job)
        seen = self._watch.conclude(validity.work_of(result), result.start_s)
        self.measurements = self._kind.measurements(result, intervals) + seen.measurements
        return [*reasons, *seen.reasons]
