"""Running the engine: one job, its events, its end."""

import json
import time
from collections.abc import Iterator, Sequence

from pydantic import ValidationError

from paribus.engine.protocol import (
    VERSION,
    Counting,
    Event,
    Failure,
    Hello,
    Job,
    Phase,
    Probe,
    Result,
    SampleJob,
    event_adapter,
)
from paribus.errors import EngineError, HostError, Unreachable
from paribus.hosts.transport import Host, LineProcess

_SILENCE_S = 30.0  # under load the engine speaks at each interval
_LONG_SILENCE_S = 1800.0  # before and after it may wait for a disk that writes back what the page cache holds
_LOADED = ("settling", "measuring")


def understand(line: str) -> Event:
    """The event a line holds. Raises EngineError where it is the engine's failure, or no event known here."""
    try:
        event = event_adapter.validate_json(line)
    except ValidationError as error:
        wrong = f"the engine sent an unknown event: {line.strip()[:200]}"
        raise EngineError("protocol-mismatch", wrong, "install engine and program from one release") from error
    if isinstance(event, Failure):
        raise EngineError(event.failure, event.message, event.hint or "")
    if isinstance(event, Hello | Probe) and event.protocol != VERSION:
        wrong = f"the engine speaks protocol {event.protocol} and this program {VERSION}"
        raise EngineError("protocol-mismatch", wrong, "install engine and program from one release")
    return event


class Engine:
    """One life of the engine process, carrying out one job."""

    def __init__(self, host: Host, binary: str, job: Job, conditions: Sequence[str] = ()) -> None:
        """Start it under the conditions that its options ask for, with its job. Raises Missing and Unreachable."""
        self._process: LineProcess = host.start([binary, "run", *conditions], connects=job.connects)
        try:
            self._ask(job.model_dump_json())
        except Unreachable:
            self._process.close()
            raise
        self._expected_end = time.monotonic() + job.settle_s + (job.measure_s or 0.0)
        self._loaded_patience_s = _SILENCE_S + job.interval_s

    def events(self, wait_s: float = 0.1) -> Iterator[Event | None]:
        """Its events to the end; None after each `wait_s` without one, so that the caller can look elsewhere.

        Raises EngineError on the engine's own failure, its silence or its death.
        """
        heard = time.monotonic()
        patience_s = _LONG_SILENCE_S
        while True:
            try:
                line = self._process.receive(wait_s)
            except EOFError:
                break
            if line is None:
                silent_s = time.monotonic() - max(heard, self._expected_end)
                if silent_s > patience_s:
                    raise EngineError(
                        "no-data",
                        f"the engine sent no event for {silent_s:.0f} s",
                        "check whether its machine is stopped or overloaded",
                    )
                yield None
                continue
            heard = time.monotonic()
            event = understand(line)
            if isinstance(event, Phase | Result):
                loaded = isinstance(event, Phase) and event.name in _LOADED
                patience_s = self._loaded_patience_s if loaded else _LONG_SILENCE_S
            yield event
        words = self._process.words()
        exit_code = self._process.close()
        if exit_code != 0:
            raise EngineError("engine-died", f"the engine ended with code {exit_code}: {words or 'no message'}")

    def measure(self, window: str, settle_s: float, measure_s: float, at_s: float | None = None) -> None:
        """Have a window opened after `settle_s` and closed `measure_s` later, while the load continues.

        Args:
            window: Its name.
            settle_s: Time from now on.
            measure_s: Its length.
            at_s: When it opens by the engine's own clock; None where `settle_s` says so.

        Raises Unreachable.
        """
        self._expected_end = time.monotonic() + settle_s + measure_s
        window_request = {"window": window, "settle_s": settle_s, "measure_s": measure_s, "at_s": at_s}
        self._ask(json.dumps({"measure": window_request}))

    def ask_clock(self, label: str) -> None:
        """Ask for the time of its clock, which comes as an event. Raises Unreachable."""
        self._ask(json.dumps({"clock": label}))

    def _ask(self, line: str) -> None:
        """Write a line to it. Where it has ended, its events tell why: by what it said, or by its exit code."""
        try:
            self._process.send(line)
        except Unreachable:
            raise
        except HostError:
            pass

    def finish(self) -> None:
        """Let a load without a timed window finish; its events continue until then."""
        self._process.end_input()

    def stop(self) -> None:
        """End it, whatever it is doing."""
        self._process.close(timeout_s=10.0)


def probe(host: Host, binary: str, path: str) -> Probe:
    """Return the machine and its capabilities at `path`. Raises EngineError."""
    done = host.run([binary, "probe", path])
    for line in done.stdout.splitlines():
        event = understand(line)
        if isinstance(event, Probe):
            return event
    raise EngineError("no-data", f"the engine cannot look at {path}: {done.stderr.strip() or 'no message'}")


class Sampler:
    """The telemetry process of one experiment: samples come by themselves, a census when asked."""

    def __init__(
        self, host: Host, binary: str, devices: list[str], interval_s: float, *, connects: bool = False
    ) -> None:
        """Start it; `connects`: it will read the counters of a server."""
        self._host = host
        self._argv = [binary, "sample"]
        self._connects = connects
        self._job = SampleJob(devices=devices, interval_s=interval_s).model_dump_json()
        self._own: list[int] = []
        self._counted = "null"
        self._process = self._start()

    def _start(self) -> LineProcess:
        process = self._host.start(self._argv, connects=self._connects)
        for line in (self._job, json.dumps({"own": self._own}), f'{{"server": {self._counted}}}'):
            process.send(line)
        return process

    def revive(self) -> None:
        """Discard unread samples, and start the process again if it has ended, which costs one trial.

        Raises HostError.
        """
        try:
            while self._process.receive(0.0) is not None:
                pass
        except EOFError:
            self._process.close()
            self._process = self._start()

    def ask_census(self, label: str) -> None:
        """Ask who used the machine since the last time. Raises HostError when the sampler is gone."""
        self._process.send(json.dumps({"census": label}))

    def set_own_processes(self, pids: Sequence[int]) -> None:
        """Count these processes and their descendants as the experiment's. Raises HostError if the sampler is gone."""
        self._own = list(pids)
        self.add_own_processes([])

    def add_own_processes(self, pids: Sequence[int]) -> None:
        """Count these too, until the next call of either method. Raises HostError if the sampler is gone."""
        self._process.send(json.dumps({"own": [*self._own, *pids]}))

    def count(self, server: Counting | None) -> None:
        """Read the counters of this server at each sample from now on. Raises HostError when the sampler is gone."""
        self._counted = server.model_dump_json() if server else "null"
        self._process.send(f'{{"server": {self._counted}}}')

    def receive(self, timeout_s: float) -> Event | None:
        """The next sample, census or reading of counters, None when none came.

        Raises EngineError when the sampler is gone.
        """
        try:
            line = self._process.receive(timeout_s)
        except EOFError as error:
            raise EngineError("engine-died", f"the sampler ended: {self._process.words() or 'no message'}") from error
        return None if line is None else understand(line)

    def close(self) -> None:
        """End it."""
        self._process.close()
