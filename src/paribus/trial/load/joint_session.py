"""One load made by the engines of several load hosts: each has its share, and all are measured in the same time.

In: a job, and the machines that make its load. Out: the events of all engines as those of one. The engines' clocks are
compared over their connections before each window. Called by the load maker.
"""

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from paribus.engine.merging import merged_interval, merged_result
from paribus.engine.protocol import ClockReading, Event, Hello, Interval, Job, Phase, Result
from paribus.engine.run import Engine
from paribus.errors import EngineError, HostError
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.model import LoadHost, Measurement, shared_out
from paribus.trial.load.load_session import EngineWindow, LoadEvent, LoadStarted, SettlingShare, is_same_load
from paribus.trial.target_session import Site
from paribus.units import show_time

_WAIT_S = 0.1  # for an event of any engine
_CLOCK_READINGS = 8  # at most
_SMALL_ERROR_S = 0.0005  # of a clock: no further reading is needed
_CLOCK_PATIENCE_S = 30.0
_LEAD_S = 0.05  # for the request for a window to reach every engine before it opens
_TIMED = "timed"
_NEAR_END = 0.25  # of an interval: so late an engine may be
_MOST_SKEW_SHARE = 0.01  # of a window
_LEAST_SKEW_S = 0.01  # in which a thread wakes up on a busy machine


@dataclass(frozen=True, slots=True)
class _Window:
    """A window to open: its name and times."""

    name: str
    settle_s: float
    measure_s: float


@dataclass(slots=True)
class _Driver:
    """The engine of one load host, and what it sent of the present window.

    `ahead_s` is its clock's lead over this program's, at most `error_s` off.
    """

    name: str
    job: Job
    engine: Engine
    events: Iterator[Event | None]
    early: list[Event] = field(default_factory=list)  # events that came while its clock was read
    settles: bool = False
    ahead_s: float = 0.0
    error_s: float = 0.0
    pending: list[Interval] = field(default_factory=list)  # not merged yet
    intervals: list[Interval] = field(default_factory=list)
    result: Result | None = None

    def next_event(self) -> Event | None:
        """Its next event; None where there is none yet. Raises EngineError, which names the host, and HostError."""
        if self.early:
            return self.early.pop(0)
        return self._receive()

    def read_clock(self) -> Iterator[None]:
        """Compare its clock with this program's, by the quickest of several questions. Raises as `next_event`."""
        self.error_s = float("inf")
        for number in range(_CLOCK_READINGS):
            label = str(number)
            sent_s = time.monotonic()
            self.engine.ask_clock(label)
            while not (isinstance(event := self._receive(), ClockReading) and event.label == label):
                self.early += [event] if event is not None else []
                yield None
                with self._named():
                    _refuse_silence(time.monotonic() - sent_s)
            error_s = (time.monotonic() - sent_s) / 2
            if error_s < self.error_s:
                self.ahead_s, self.error_s = event.monotonic_s - sent_s - error_s, error_s
            if self.error_s <= _SMALL_ERROR_S:
                return

    def finish(self) -> Iterator[None]:
        """Let its load finish, and wait until it has. Raises as `next_event`."""
        with self._named():
            for _ in self.events:
                yield None

    def _receive(self) -> Event | None:
        with self._named():
            try:
                return next(self.events)
            except StopIteration:
                message = "the load ended before its window was over"
                raise EngineError("engine-died", message, "see whether somebody stopped it there") from None

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """Errors of the engine name the load host while the context lasts."""
        try:
            yield
        except EngineError as error:
            message = f"on the load host {self.name}: {error.message}"
            raise EngineError(error.failure, message, error.todo) from error


class JointSession:
    """The load of several engines, each with its share of the connections and of the rate."""

    def __init__(self, sites: Sequence[Site], hosts: Sequence[LoadHost], job: Job, conditions: Sequence[str]) -> None:
        """Start them; where one cannot be started, none is left. Raises HostError.

        Args:
            sites: The load hosts.
            hosts: The same as the plan names them, with the place of the server's password on each.
            job: The whole load.
            conditions: Options that start an engine.
        """
        self.job = job
        self.started: list[LoadStarted] = []
        self._conditions = tuple(conditions)
        self._window = None if job.measure_s is None else _Window(_TIMED, job.settle_s, job.measure_s)
        self._drivers: list[_Driver] = []
        with contextlib.ExitStack() as failing:
            failing.callback(self.stop)
            for site, part in zip(sites, jobs_of(job, hosts), strict=True):
                engine = Engine(site.host, site.engine, part, conditions)
                events = engine.events(_WAIT_S / len(hosts))
                self._drivers.append(_Driver(site.host.name, part, engine, events))
            failing.pop_all()
        self.events = self._events()

    def is_load_of(self, job: Job, conditions: Sequence[str]) -> bool:
        """Whether another trial's job asks for this load."""
        return self._conditions == tuple(conditions) and is_same_load(self.job, job)

    def measure(self, window: str, settle_s: float, measure_s: float) -> None:
        """Have a window opened at the same time on all hosts, `settle_s` after their loads run."""
        self._window = _Window(window, settle_s, measure_s)

    def windows(self) -> list[EngineWindow]:
        """The last window of each engine."""
        return [
            EngineWindow(driver.job, driver.result, tuple(driver.intervals))
            for driver in self._drivers
            if driver.result is not None
        ]

    def measurements(self) -> tuple[Measurement, ...]:
        """Measurements of the engines' clocks in the last window: how far apart its beginnings were."""
        skew_s, error_s = self._skew()
        return (
            Measurement.of_value("load_skew_s", "s", skew_s, "measure", "load host"),
            Measurement.of_value("load_clock_error_s", "s", error_s, "measure", "load host"),
        )

    def problems(self) -> list[StoredMessage]:
        """Reasons not to use the last window: the hosts were not measured in the same time."""
        skew_s, error_s = self._skew()
        shortest_s = min(window.result.duration_s for window in self.windows())
        limit_s = max(_MOST_SKEW_SHARE * shortest_s, _LEAST_SKEW_S)
        if skew_s + error_s <= limit_s:
            return []
        text = N_("the windows of the load hosts began {skew} ± {error} apart, and {limit} is allowed")
        return [stored_message(text, skew=show_time(skew_s), error=show_time(error_s), limit=show_time(limit_s))]

    def stop(self) -> None:
        """End the load of every host at once."""
        for driver in self._drivers:
            with contextlib.suppress(HostError):
                driver.engine.finish()
        with contextlib.ExitStack() as stopping:  # each also where another fails
            for driver in self._drivers:
                stopping.callback(driver.engine.stop)

    def _events(self) -> Iterator[LoadEvent | None]:
        """The events of all engines as those of one. Raises EngineError and HostError."""
        while True:
            if self._window is not None and all(driver.settles for driver in self._drivers):
                yield from self._open(self._window)
                self._window = None
            for number, driver in enumerate(self._drivers):
                event = driver.next_event()
                if event is None:
                    yield None
                else:
                    yield from self._of_driver(number, driver, event)
            if all(driver.result is not None for driver in self._drivers) and self._window is None:
                if any(driver.pending for driver in self._drivers):
                    yield self._merge([len(driver.pending) for driver in self._drivers])
                yield self._result()
                if self.job.measure_s is not None:
                    yield from self._finish()
                    return

    def _of_driver(self, number: int, driver: _Driver, event: Event) -> Iterator[LoadEvent]:
        """Take an event of one engine; the events that it makes of the whole load."""
        match event:
            case Hello():
                self.started.append(LoadStarted(number, event, driver.job))
                yield self.started[-1]
            case Phase(name="settling"):
                driver.settles = True
            case Phase(name="measuring") if number == 0:
                yield event
            case Interval(window=str()):
                driver.pending.append(event)
                driver.intervals.append(event)
                yield from self._merged()
            case Interval():
                yield SettlingShare(event)
            case Result():
                driver.result = event
            case _:
                pass

    def _open(self, window: _Window) -> Iterator[None]:
        """Have the window opened by all engines at one time of this program's clock."""
        for driver in self._drivers:
            yield from driver.read_clock()
            driver.result = None
            driver.pending.clear()
            driver.intervals.clear()
        open_s = time.monotonic() + window.settle_s + _LEAD_S + 2 * max(driver.error_s for driver in self._drivers)
        for driver in self._drivers:
            at_s = open_s + driver.ahead_s
            driver.engine.measure(window.name, window.settle_s, window.measure_s, at_s)

    def _merged(self) -> Iterator[Interval]:
        """The intervals up to each end that all engines share, as one."""
        while True:
            ends = [self._ends(driver) for driver in self._drivers]
            if not (shared := set.intersection(*map(set, ends))):
                return
            first = min(shared)
            yield self._merge([each.index(first) + 1 for each in ends])

    def _merge(self, counts: Sequence[int]) -> Interval:
        """The first intervals of each engine that are not merged, so many of each, as one."""
        parts: list[list[Interval]] = []
        for driver, count in zip(self._drivers, counts, strict=True):
            parts.append(driver.pending[:count])
            del driver.pending[:count]
        return merged_interval(parts)

    def _ends(self, driver: _Driver) -> list[float]:
        """The end of each interval of an engine that is not merged, as the number of its interval in the window.

        It is a fraction where an interval does not end as planned, but for the window's end.
        """
        begin_s = driver.intervals[0].start_s if driver.intervals else 0.0
        ends = [(each.start_s + each.duration_s - begin_s) / self.job.interval_s for each in driver.pending]
        return [round(end) if abs(end - round(end)) < _NEAR_END else end for end in ends]

    def _result(self) -> Result:
        results = [driver.result for driver in self._drivers if driver.result is not None]
        return merged_result(results, [driver.job.load.outstanding for driver in self._drivers])

    def _finish(self) -> Iterator[None]:
        """Let every load finish, and wait until all have."""
        for driver in self._drivers:
            driver.engine.finish()
        for driver in self._drivers:
            yield from driver.finish()

    def _skew(self) -> tuple[float, float]:
        """The time between the first and the last beginning of the window, and how uncertain that is."""
        begins = [driver.result.start_s - driver.ahead_s for driver in self._drivers if driver.result is not None]
        errors = sorted(driver.error_s for driver in self._drivers)
        return max(begins) - min(begins), sum(errors[-2:])


def _refuse_silence(silent_s: float) -> None:
    if silent_s > _CLOCK_PATIENCE_S:
        message = f"the engine did not tell its clock within {silent_s:.0f} s"
        raise EngineError("no-data", message, "check whether that machine is stopped or overloaded")


def jobs_of(job: Job, hosts: Sequence[LoadHost]) -> list[Job]:
    """Return the job of each load host: its share of the connections and of the rate, and its own transactions."""
    jobs: list[Job] = []
    first = 0
    for host, connections in zip(hosts, shared_out(job.load.outstanding, [host.weight for host in hosts]), strict=True):
        rate = None if job.load.rate_per_s is None else job.load.rate_per_s * connections / job.load.outstanding
        load = job.load.model_copy(update={"outstanding": connections, "rate_per_s": rate, "first_connection": first})
        credential = dict(host.credential) if host.credential else None
        database = job.workload.database.model_copy(update={"credential": credential})  # type: ignore[union-attr]
        workload = job.workload.model_copy(update={"database": database})
        update = {"load": load, "workload": workload, "settle_s": 0.0, "measure_s": None, "histograms": True}
        jobs.append(job.model_copy(update=update))
        first += connections
    return jobs
