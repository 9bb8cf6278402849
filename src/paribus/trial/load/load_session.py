"""One life of the load engine: of a single trial, or of a block whose settings are changed while the load runs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from paribus.engine.protocol import Event, Hello, Interval, Job, Phase, Result
from paribus.engine.run import Engine
from paribus.hosts.transport import Host
from paribus.i18n import StoredMessage
from paribus.model import Measurement


@dataclass(frozen=True, slots=True)
class LoadStarted:
    """An engine has taken its job; `machine` is the number of the load host that it runs on, from 0."""

    machine: int
    hello: Hello
    job: Job


@dataclass(frozen=True, slots=True)
class SettlingShare:
    """An interval of one of several engines before the window, which is of its share of the load only."""

    interval: Interval


LoadEvent = Event | LoadStarted | SettlingShare


@dataclass(frozen=True, slots=True)
class EngineWindow:
    """The window of one engine, by its own clock."""

    job: Job
    result: Result
    intervals: tuple[Interval, ...]


class LoadSession(Protocol):
    """A running load. The job's own times make one window, or `measure` makes several.

    `events` are those of one engine, or of several as one; each engine's Hello comes as LoadStarted.
    """

    job: Job
    events: Iterator[LoadEvent | None]
    started: list[LoadStarted]

    def is_load_of(self, job: Job, conditions: Sequence[str]) -> bool:
        """Whether another trial's job asks for this load."""
        ...

    def measure(self, window: str, settle_s: float, measure_s: float) -> None:
        """Ask for a window of `measure_s` after `settle_s`. Raises Unreachable."""
        ...

    def windows(self) -> list[EngineWindow]:
        """The last window of each engine."""
        ...

    def measurements(self) -> tuple[Measurement, ...]:
        """Measurements of the engines' clocks in the last window."""
        ...

    def problems(self) -> list[StoredMessage]:
        """Reasons not to use the last window."""
        ...

    def stop(self) -> None:
        """End the load at once."""
        ...


def is_same_load(job: Job, other: Job) -> bool:
    """Whether two jobs ask for the same load. The seed is ignored: each run has other offsets."""
    return job.model_copy(update={"seed": other.seed}) == other


class EngineSession:
    """The load of one engine."""

    def __init__(self, host: Host, engine: str, job: Job, conditions: Sequence[str]) -> None:
        """Start it. Raises HostError."""
        self._engine = Engine(host, engine, job, conditions)
        self._conditions = tuple(conditions)
        self.job = job
        self.started: list[LoadStarted] = []
        self.events = self._events()
        self._intervals: list[Interval] = []
        self._result: Result | None = None

    def is_load_of(self, job: Job, conditions: Sequence[str]) -> bool:
        """Whether another trial's job asks for this load."""
        return self._conditions == tuple(conditions) and is_same_load(self.job, job)

    def measure(self, window: str, settle_s: float, measure_s: float) -> None:
        """Ask for a window of `measure_s` after `settle_s`. Raises Unreachable."""
        self._engine.measure(window, settle_s, measure_s)

    def windows(self) -> list[EngineWindow]:
        """The only window."""
        return [EngineWindow(self.job, self._result, tuple(self._intervals))] if self._result else []

    def measurements(self) -> tuple[Measurement, ...]:
        """No measurement: there is one clock."""
        return ()

    def problems(self) -> list[StoredMessage]:
        """No reason: one engine opens one window."""
        return []

    def stop(self) -> None:
        """End the load at once."""
        self._engine.stop()

    def _events(self) -> Iterator[LoadEvent | None]:
        for event in self._engine.events():
            match event:
                case Hello():
                    self.started.append(LoadStarted(0, event, self.job))
                    yield self.started[-1]
                    continue
                case Phase(name="measuring"):
                    self._intervals.clear()
                case Interval(window=str()):
                    self._intervals.append(event)
                case Result():
                    self._result = event
                case _:
                    pass
            yield event
