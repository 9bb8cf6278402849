"""Preconditioning of one data set: sequential fill, then random overwriting until the device is in its steady state.

A new or trimmed SSD is faster than in its steady state, so earlier measurements would show its past, not a setting.
The procedure is that of SNIA's Solid State Storage Performance Test Specification: workload independent
preconditioning, then the load itself in rounds until the last ones are steady. The class takes the place of a trial's
load, with the same interface: events out, measurements at the end.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
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


class PreconditionListener(Protocol):
    """Receiver of the progress of preconditioning."""

    def on_fill_progress(self, workload: str, done_bytes: int, total_bytes: int) -> None:
        """Receive how much of the data has been overwritten in order."""
        ...

    def on_round(self, workload: str, number: int, per_s: float, last: "Steadiness | None") -> None:
        """Receive the writes per second of a finished round of random overwriting.

        `last`: how steady the last rounds are, where there are enough.
        """
        ...


class TrialListener(PreconditionListener, Protocol):
    """Receiver of a trial's progress."""

    def on_notes(self, messages: Sequence[str]) -> None:
        """Receive messages about the machine."""
        ...


class PreconditionLoad:
    """The load of one trial that preconditions. `measurements` is filled when it has ended."""

    def __init__(
        self,
        host: Host,
        binary: str,
        job: Job,
        workload: Workload,
        level: LoadLevel,
        sampler: Sampler,
        listener: PreconditionListener,
        stopped: Callable[[], bool],
    ) -> None:
        """`job`: the workload's own. Nothing is started yet."""
        assert workload.precondition is not None
        self._host = host
        self._binary = binary
        self._job = job
        self._workload = workload.plan_name
        self._options = workload.precondition
        self._level = level
        self._sampler = sampler
        self._listener = listener
        self._stopped = stopped
        self._engine: Engine | None = None
        self._problems: list[StoredMessage] = []
        self.measurements: tuple[Measurement, ...] = ()

    def stop(self) -> None:
        """End the load at once."""
        if self._engine is not None:
            self._engine.stop()

    def events(self) -> Iterator[machine.Event]:
        """The trial's events. Raises EngineError, HostError and Interrupted."""
        self._fill()
        yield machine.Measuring()
        writes_per_s, last = self._overwrite()
        self.measurements = self._measured(writes_per_s, last)
        yield machine.LoadEnded(tuple(dict.fromkeys(self._problems)))

    def _fill(self) -> None:
        """Overwrite all of the data in order, as often as the plan says."""
        job, pass_bytes = precondition.sequential_job(self._job)
        total = self._options.fills * pass_bytes
        done = 0
        for interval in self._load(job):
            done += interval.written_bytes
            self._listener.on_fill_progress(self._workload, min(done, total), total)
            if done >= total:
                self._finish()

    def _overwrite(self) -> "tuple[list[float], Steadiness]":
        """Overwrite at random until steady or for the most rounds allowed; the writes per second of each round."""
        from paribus.stats.steady import steadiness

        options = self._options
        writes_per_s: list[float] = []
        last: Steadiness | None = None
        for interval in self._load(precondition.random_job(self._job, self._level.n, options.round_s)):
            if len(writes_per_s) == options.most_rounds or (last and last.steady):
                continue  # the engine is about to end
            writes_per_s.append(interval.writes / interval.duration_s)
            last = steadiness(writes_per_s, options.window, options.most_spread, options.most_drift)
            self._listener.on_round(self._workload, len(writes_per_s), writes_per_s[-1], last)
            if len(writes_per_s) == options.most_rounds or (last and last.steady):
                self._finish()
        if last is None or not any(writes_per_s):
            raise EngineError("no-data", "preconditioning completed no write", "lengthen precondition.round")
        return writes_per_s, last

    def _load(self, job: Job) -> Iterator[Interval]:
        """The intervals of a load until the engine has ended; samples are discarded meanwhile to bound memory."""
        self._engine = Engine(self._host, self._binary, job)
        for event in self._engine.events():
            if self._stopped():
                raise Interrupted("stopped while preconditioning")
            while self._sampler.receive(0.0) is not None:
                pass  # these samples must not wait in the queue for the first trial
            if isinstance(event, Hello):
                self._problems += validity.parameter_mismatches(job, event)
            elif isinstance(event, Interval):
                yield event

    def _finish(self) -> None:
        if self._engine is not None:
            self._engine.finish()

    def _measured(self, writes_per_s: list[float], last: "Steadiness") -> tuple[Measurement, ...]:
        round_s = self._options.round_s
        total = sum(writes_per_s) * round_s
        throughput = Measurement.of_series(
            "throughput_per_s", "1/s", writes_per_s, "measure", "engine", total=total, start_s=0.0, step_s=round_s
        )
        of_value = functools.partial(Measurement.of_value, phase="measure", source="engine")
        return (
            throughput,
            of_value("steady_per_s", "1/s", last.average),
            of_value("spread", "", last.spread),
            of_value("drift", "", last.drift),
            of_value("steady", "", float(last.steady)),
        )
