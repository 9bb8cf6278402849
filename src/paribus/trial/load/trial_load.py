"""One trial's window of a load: the engine's events in, the trial's events and measurements out."""

import contextlib
from collections.abc import Callable, Iterator

from paribus.engine.protocol import Interval, Phase, Result
from paribus.errors import EngineError, HostError, Interrupted
from paribus.i18n import StoredMessage
from paribus.model import Limits, Measurement
from paribus.trial import limits, machine, validity
from paribus.trial.events.session import TrialEvents
from paribus.trial.load.load_session import LoadSession, LoadStarted, SettlingShare
from paribus.trial.load.monitor import EngineMonitor
from paribus.trial.load.settle_phase import settling_throughput
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
        check_process: Callable[[int, int], tuple[StoredMessage, ...]],
        settle_s: tuple[float, float],
        on_second: Callable[[float], None],
        planned: TrialEvents | None = None,
    ) -> None:
        """`check_process` reads back the conditions of a process on the load host of a number.

        It returns reasons not to use the trial.

        `settle_s`: the settle time of this trial, and the part of it that is the same in all trials. `on_second` hears
        the seconds since the measured time began. `planned` are the events of the plan.
        """
        self._on_second = on_second
        self._planned = planned
        self._session = session
        self._job = session.job
        self._kind = kind
        self._monitor = monitor
        self._stopped = stopped
        self._limits = limits
        self._check_process = check_process
        self._settle_s = settle_s
        self.measurements: tuple[Measurement, ...] = ()

    def stop(self) -> None:
        """End the load at once, and what runs beside it."""
        self._session.stop()
        if self._planned is not None:
            with contextlib.suppress(EngineError, HostError):  # a keeper that is lost ends its program by itself
                self._planned.close(wait=False)

    def events(self) -> Iterator[machine.Event]:
        """The trial's events. Raises EngineError, HostError, LimitReached and Interrupted."""
        settling: list[Interval] = []
        intervals: list[Interval] = []
        done_bytes = 0
        result: Result | None = None
        problems = [problem for started in self._session.started for problem in self._check(started)]
        for event in self._session.events:
            if self._stopped():
                raise Interrupted("stopped under load")
            if isinstance(event, Interval):
                limits.refuse_load(self._limits, event)
            match event:
                case SettlingShare():
                    limits.refuse_load(self._limits, event.interval)
                case LoadStarted():
                    self._monitor.add_load_process(event.hello.pid, event.machine)
                    problems += self._check(event)
                case Phase(name="measuring"):
                    self._monitor.open()
                    self._pass_time(0.0, 0)
                    yield machine.Measuring()
                case Interval(window=str()):
                    intervals.append(event)
                    done_bytes += event.read_bytes + event.written_bytes
                    self._pass_time(event.start_s + event.duration_s - intervals[0].start_s, done_bytes)
                case Interval():
                    settling.append(event)
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
        yield machine.LoadEnded((*problems, *self._conclude(result, intervals, settling)))

    def _check(self, started: LoadStarted) -> list[StoredMessage]:
        """Reasons why an engine does not run as its job and the trial's settings say."""
        not_taken = validity.parameter_mismatches(started.job, started.hello)
        return [*self._check_process(started.hello.pid, started.machine), *not_taken]

    def _pass_time(self, elapsed_s: float, done_bytes: int) -> None:
        """Let happen what is due, and look at what has to be looked at."""
        if self._planned is not None:
            self._planned.pass_time(elapsed_s, done_bytes)
        self._on_second(elapsed_s)

    def _conclude(self, result: Result, intervals: list[Interval], settling: list[Interval]) -> list[StoredMessage]:
        """Store the measurements; the reasons not to use them."""
        errors = [validity.load_errors(result.errors)] if result.errors else []
        problems = self._session.problems()
        if self._planned is not None:
            self._planned.close()
            problems += self._planned.reasons()
        observations = self._monitor.conclude_load(result, self._session.windows())
        unmeasured = settling_throughput(settling, result.start_s, *self._settle_s)
        measured = self._kind.measurements(result, intervals) + self._session.measurements()
        self.measurements = measured + observations.measurements + unmeasured
        if self._planned is not None:
            self.measurements += self._planned.measurements(intervals, result.duration_s)
        return [*errors, *problems, *observations.reasons]
