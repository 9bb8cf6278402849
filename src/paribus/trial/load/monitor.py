"""The machine during one window of a load: samples, and processes of others that used it.

In: the moments at which the window opens and closes. Out: measurements, and reasons not to use the trial. Called by
the loads of trials.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from paribus.engine.protocol import Census, Counted, Result, Sample
from paribus.engine.run import Sampler
from paribus.i18n import StoredMessage, stored_message
from paribus.model import Measurement
from paribus.trial import telemetry
from paribus.trial.load.load_session import EngineWindow
from paribus.trial.validity import LoadWork, OtherLoad, engine_problems, engine_work

_CENSUS_PATIENCE_S = 5.0


class CountedServer(Protocol):
    """A server whose counters the sampler reads."""

    @property
    def family(self) -> str:
        """The family of servers whose counters it has."""
        ...

    def uncounted(self, reason: str) -> None:
        """Receive why the counters cannot be read any more."""
        ...


@dataclass(frozen=True, slots=True)
class Observations:
    """Measurements of the machine during a window, and reasons not to use the trial.

    `busy_share` of its `cores` processors was busy, None where no sample shows it.
    """

    measurements: tuple[Measurement, ...]
    reasons: list[StoredMessage]
    busy_share: float | None = None
    cores: int = 0


class EngineMonitor(Protocol):
    """Observer of one window of the engine's load."""

    def add_load_process(self, pid: int, load_host: int, /) -> None:
        """Count a process of the load host of this number as the experiment's."""
        ...

    def open(self) -> None:
        """Mark the start of the window. Raises HostError when the sampler is gone."""
        ...

    def close(self) -> None:
        """Mark the end of the window. Raises HostError when the sampler is gone."""
        ...

    def conclude_load(self, result: Result, windows: Sequence[EngineWindow]) -> Observations:
        """Return the observations of the time in which the load came to this result, and the engines' own problems.

        `windows`: that of each engine.
        """
        ...


class NeighbourMonitor(Protocol):
    """Observer of the same window on a machine that the target depends on."""

    def add_load_process(self, pid: int, sampler: Sampler) -> None:
        """Count a process of the load host of this sampler as the experiment's, where that is the observed machine."""
        ...

    def open(self) -> None:
        """Mark the start of the window. Raises HostError when the sampler is gone."""
        ...

    def close(self) -> None:
        """Mark the end of the window. Raises HostError when the sampler is gone."""
        ...

    def conclude(self, work: LoadWork) -> Observations:
        """Return the observations of a load that did `work`. Raises HostError."""
        ...


class LoadMonitor:
    """Sampling of one window, identified by `label`.

    `disks`: those under test, without /dev/. `server`: the server that the load works on, if any. In the last
    attempt of a block, the load of other processes is no reason to discard the trial: the block would be lost.
    """

    def __init__(
        self,
        sampler: Sampler,
        foreign: OtherLoad,
        label: str,
        disks: Sequence[str],
        server: CountedServer | None = None,
        *,
        is_last_attempt: bool = False,
    ) -> None:
        self.sampler = sampler
        self.foreign = foreign
        self._label = label
        self._disks = disks
        self._server = server
        self._counted: list[Counted] = []
        self._is_last_attempt = is_last_attempt
        self._neighbour: NeighbourMonitor | None = None

    def watch_also(self, neighbour: NeighbourMonitor | None) -> None:
        """Observe a machine that this one depends on, too; None where there is none."""
        self._neighbour = neighbour

    def elsewhere(self, sampler: Sampler, foreign: OtherLoad) -> "LoadMonitor":
        """The monitor of the same window on another machine, without a disk and a server."""
        return LoadMonitor(sampler, foreign, self._label, (), is_last_attempt=self._is_last_attempt)

    def add_load_process(self, pid: int, _load_host: int = 0, /) -> None:
        """Count a process of this machine as the experiment's."""
        self.foreign.own_pids.add(pid)

    def add_process_elsewhere(self, pid: int, sampler: Sampler) -> None:
        """Count a process of the load host of this sampler as the experiment's."""
        if self._neighbour is not None:
            self._neighbour.add_load_process(pid, sampler)

    def open(self) -> None:
        """Mark the start of the window. Raises HostError when a sampler is gone."""
        self.sampler.ask_census(f"open {self._label}")
        if self._neighbour is not None:
            self._neighbour.open()

    def close(self) -> None:
        """Mark the end of the window. Raises HostError when a sampler is gone."""
        self.sampler.ask_census(f"close {self._label}")
        if self._neighbour is not None:
            self._neighbour.close()

    def conclude(self, work: LoadWork, start_s: float | None = None) -> Observations:
        """Return the observations of a load that did `work`; without `start_s` the window starts at its opening.

        Raises HostError.
        """
        samples, opened, closed = self._drain()
        if closed is None:
            return Observations((), [stored_message("the sampler did not answer, so other load cannot be excluded")])
        if start_s is None:
            start_s = opened.monotonic_s if opened else closed.monotonic_s - work.duration_s
        inside = telemetry.within(samples, start_s, start_s + work.duration_s)
        others = self.foreign.judge(closed, work, inside, is_last_attempt=self._is_last_attempt)
        measurements = telemetry.measurements(inside, start_s, self._disks)
        measurements += (Measurement.of_value("other_cpu_share", "", others.cpu_share, "measure", "census"),)
        if self._server is not None:
            counted = telemetry.within(self._counted, start_s, start_s + work.duration_s)
            measurements += telemetry.of_a_server(self._server.family, counted, closed, start_s, work.duration_s)
        reasons = others.reasons
        if self._neighbour is not None:
            beside = self._neighbour.conclude(work)
            measurements, reasons = (*measurements, *beside.measurements), [*reasons, *beside.reasons]
        cores = max((sample.cores for sample in inside), default=0)
        return Observations(measurements, reasons, telemetry.busy_share(inside), cores)

    def conclude_load(self, result: Result, windows: Sequence[EngineWindow]) -> Observations:
        """Return the observations on this machine, which makes the load, and the engine's own problems."""
        problems = [problem for window in windows for problem in engine_problems(window)]
        observations = self.conclude(engine_work(result), result.start_s)
        return replace(observations, reasons=[*problems, *observations.reasons])

    def _drain(self) -> tuple[list[Sample], Census | None, Census | None]:
        """The samples up to the census at the window's end, and the censuses at both ends; stores counters."""
        samples: list[Sample] = []
        opened: Census | None = None
        deadline = time.monotonic() + _CENSUS_PATIENCE_S
        while (left_s := deadline - time.monotonic()) > 0:
            event = self.sampler.receive(left_s)
            if isinstance(event, Sample):
                samples.append(event)
            elif isinstance(event, Counted):
                self._store(event)
            elif isinstance(event, Census) and event.label == f"open {self._label}":
                opened = event
            elif isinstance(event, Census) and event.label == f"close {self._label}":
                return samples, opened, event
        return samples, opened, None

    def _store(self, counted: Counted) -> None:
        if counted.failed and self._server is not None:
            self._server.uncounted(counted.failed)
        self._counted.append(counted)
