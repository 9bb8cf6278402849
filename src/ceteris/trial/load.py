"""One trial's window of a load: the engine's events in, the trial's events and measurements out."""

import time
from collections.abc import Callable, Iterator

from ceteris.engine.protocol import Census, Hello, Interval, Phase, Result, Sample
from ceteris.engine.run import Sampler
from ceteris.errors import EngineError, Interrupted
from ceteris.model import Limits, Measurement
from ceteris.trial import limits, machine, telemetry, validity
from ceteris.trial.flight import Flight
from ceteris.workloads.jobs import LoadKind

_CENSUS_PATIENCE_S = 5.0


class TrialLoad:
    """The load of one trial, watched by the sampler. `measurements` is filled when its window is over."""

    def __init__(
        self,
        flight: Flight,
        kind: LoadKind,
        label: str,
        device: str | None,
        sampler: Sampler,
        foreign: validity.ForeignLoad,
        stopped: Callable[[], bool],
        limits: Limits,
    ) -> None:
        """`label` tells the trial from others, and is its window's name where it has one of its own."""
        self._flight = flight
        self._job = flight.job
        self._kind = kind
        self._label = label
        self._device = device
        self._sampler = sampler
        self._foreign = foreign
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
                    self._foreign.own.add(event.pid)
                case Phase(name="measuring"):
                    self._sampler.ask_census(f"open {self._label}")
                    yield machine.Measuring()
                case Interval(window=str()):
                    intervals.append(event)
                case Result():
                    self._sampler.ask_census(f"close {self._label}")
                    result = event
                    if self._job.measure_s is None:
                        break  # the load goes on for the next trial
                case _:
                    pass
        if result is None or result.operations == 0:
            raise EngineError("no-data", "the load completed no operation", "lengthen trial")
        wrong = validity.of_settings(self._job, self._flight.hello)
        yield machine.LoadEnded((*wrong, *self._conclude(result, intervals)))

    def _conclude(self, result: Result, intervals: list[Interval]) -> list[str]:
        """Take the measurements; what is wrong with them."""
        samples, census = self._drain()
        seen = telemetry.within(samples, result.start_s, result.start_s + result.duration_s)
        reasons = validity.of_load(result, intervals, self._job)
        if census is None:
            reasons.append("the sampler did not answer, so other load cannot be excluded")
        else:
            reasons += self._foreign.judge(census, result, seen)
        operations = self._kind.measurements(result, intervals)
        self.measurements = operations + telemetry.measurements(seen, result.start_s, self._device)
        return reasons

    def _drain(self) -> tuple[list[Sample], Census | None]:
        """What the sampler said up to the census at the window's end."""
        samples: list[Sample] = []
        deadline = time.monotonic() + _CENSUS_PATIENCE_S
        while (left_s := deadline - time.monotonic()) > 0:
            event = self._sampler.receive(left_s)
            if isinstance(event, Sample):
                samples.append(event)
            elif isinstance(event, Census) and event.label == f"close {self._label}":
                return samples, event
        return samples, None
