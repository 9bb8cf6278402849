"""Preconditioning one data set: overwritten in order, then at random until the device is in its steady state.

A new or trimmed SSD is faster than it will ever be again; what is measured before it is steady tells of its past, not
of a setting. The way is that of SNIA's Solid State Storage Performance Test Specification: workload independent
preconditioning, then the load itself in rounds until the last ones are steady. In place of a trial's load, it has the
same course: events out, measurements at the end.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

from paribus.engine.protocol import Hello, Interval, Job
from paribus.engine.run import Engine, Sampler
from paribus.errors import EngineError, Interrupted
from paribus.hosts.transport import Host
from paribus.i18n import StoredMessage
from paribus.model import Measurement, Workload
from paribus.trial import machine, validity
from paribus.units import LoadLevel
from paribus.workloads import precondition

if TYPE_CHECKING:
    from paribus.stats.steady import Steadiness


class Onlooker(Protocol):
    """Whoever watches a data set being preconditioned."""

    def on_fill_progress(self, workload: str, done_bytes: int, total_bytes: int) -> None:
        """It is being overwritten in order."""
        ...

    def on_round(self, workload: str, number: int, per_s: float, last: "Steadiness | None") -> None:
        """A round of random overwriting is over; `last` says how steady the last ones are, where there are enough."""
        ...


class Preconditioning:
    """The load of one trial that preconditions. `measurements` is filled when it has ended."""

    def __init__(
        self,
        host: Host,
        binary: str,
        job: Job,
        workload: Workload,
        level: LoadLevel,
        sampler: Sampler,
        onlooker: Onlooker,
        stopped: Callable[[], bool],
    ) -> None:
        """`job`: the workload's own. Nothing is started yet."""
        assert workload.precondition is not None
        self._host = host
        self._binary = binary
        self._job = job
        self._workload = workload.plan_name
        self._asked = workload.precondition
        self._level = level
        self._sampler = sampler
        self._onlooker = onlooker
        self._stopped = stopped
        self._engine: Engine | None = None
        self._wrong: list[StoredMessage] = []
        self.measurements: tuple[Measurement, ...] = ()

    def stop(self) -> None:
        """End the load at once."""
        if self._engine is not None:
            self._engine.stop()

    def events(self) -> Iterator[machine.Event]:
        """What happens to the trial. Raises EngineError, HostError and Interrupted."""
        self._fill()
        yield machine.Measuring()
        course, last = self._overwrite()
        self.measurements = self._measured(course, last)
        yield machine.LoadEnded(tuple(dict.fromkeys(self._wrong)))

    def _fill(self) -> None:
        """Overwrite all of the data in order, as often as asked."""
        job, pass_bytes = precondition.in_order(self._job)
        total = self._asked.fills * pass_bytes
        done = 0
        for interval in self._load(job):
            done += interval.written_bytes
            self._onlooker.on_fill_progress(self._workload, min(done, total), total)
            if done >= total:
                self._finish()

    def _overwrite(self) -> "tuple[list[float], Steadiness]":
        """Overwrite at random until that is steady or was tried long enough; the writes per second of each round."""
        from paribus.stats.steady import steadiness

        asked = self._asked
        course: list[float] = []
        last: Steadiness | None = None
        for interval in self._load(precondition.at_random(self._job, self._level.n, asked.round_s)):
            if len(course) == asked.most_rounds or (last and last.steady):
                continue  # the engine is about to end
            course.append(interval.writes / interval.duration_s)
            last = steadiness(course, asked.window, asked.most_spread, asked.most_drift)
            self._onlooker.on_round(self._workload, len(course), course[-1], last)
            if len(course) == asked.most_rounds or (last and last.steady):
                self._finish()
        if last is None or not any(course):
            raise EngineError("no-data", "preconditioning completed no write", "lengthen precondition.round")
        return course, last

    def _load(self, job: Job) -> Iterator[Interval]:
        """The intervals of a load until the engine has ended, with nothing left in memory that is not on the disk."""
        self._engine = Engine(self._host, self._binary, job)
        for event in self._engine.events():
            if self._stopped():
                raise Interrupted("stopped while preconditioning")
            while self._sampler.receive(0.0) is not None:
                pass  # what was sampled meanwhile must not wait for the first trial
            if isinstance(event, Hello):
                self._wrong += validity.of_settings(job, event)
            elif isinstance(event, Interval):
                yield event

    def _finish(self) -> None:
        if self._engine is not None:
            self._engine.finish()

    def _measured(self, course: list[float], last: "Steadiness") -> tuple[Measurement, ...]:
        asked = self._asked
        throughput = Measurement(
            phase="measure",
            metric="throughput_per_s",
            unit="1/s",
            source="engine",
            n=len(course),
            mean=sum(course) / len(course),
            low=min(course),
            high=max(course),
            total=sum(course) * asked.round_s,
            start_s=0.0,
            step_s=asked.round_s,
            points=tuple(course),
        )
        return (
            throughput,
            _scalar("steady_per_s", "1/s", last.average),
            _scalar("spread", "", last.spread),
            _scalar("drift", "", last.drift),
            _scalar("steady", "", float(last.steady)),
        )


def _scalar(metric: str, unit: str, value: float) -> Measurement:
    """One number of the last rounds."""
    return Measurement(
        phase="measure",
        metric=metric,
        unit=unit,
        source="engine",
        n=1,
        mean=value,
        low=value,
        high=value,
        total=value,
    )
