"""A server or tool on the target, kept by the engine: it ends when its keeper or the controller ends."""

import contextlib
import json
import time
from collections.abc import Sequence

from paribus.engine.protocol import Ended, Started, SuperviseJob
from paribus.engine.run import understand
from paribus.errors import EngineError, HostError
from paribus.hosts.transport import Host, LineProcess

_START_S = 60.0
_SWEEP_S = 60.0  # a killed process may be held up by its disk


class SupervisedProcess:
    """One life of a server process."""

    def __init__(self, host: Host, binary: str, job: SuperviseJob, conditions: Sequence[str] = ()) -> None:
        """Start the program of the job, under the conditions that options of the engine ask for.

        Raises EngineError where it cannot be started, Missing and Unreachable where the engine cannot.
        """
        self._process: LineProcess = host.start([binary, "supervise", *conditions], connects=job.connects)
        self._patience_s = job.patience_s
        self._ended: Ended | None = None
        try:
            with contextlib.suppress(HostError):  # it has ended already; what it said tells why
                self._process.send(job.model_dump_json())
            self.pid = self._wait_for_start()
        except BaseException:
            self._process.close(_SWEEP_S)
            raise

    def _wait_for_start(self) -> int:
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline:
            event = self._next(1.0)
            if isinstance(event, Started):
                return event.pid
        raise EngineError("no-data", f"the keeper of the server sent no event for {_START_S:.0f} s")

    def _next(self, timeout_s: float) -> object:
        try:
            line = self._process.receive(timeout_s)
        except EOFError as error:
            words = self._process.words() or "no word"
            raise EngineError("engine-died", f"the keeper of the server ended: {words}") from error
        return None if line is None else understand(line)

    def ended(self, timeout_s: float = 0.0) -> Ended | None:
        """Return the end of the server; None while it runs. Raises EngineError or Unreachable for a lost keeper."""
        deadline = time.monotonic() + timeout_s
        try:
            while self._ended is None:
                left_s = deadline - time.monotonic()
                event = self._next(max(left_s, 0.001))
                if isinstance(event, Ended):
                    self._ended = event
                    self._process.close()
                elif event is None and left_s <= 0:
                    return None
        except (EngineError, HostError):
            self._process.close(_SWEEP_S)
            raise
        return self._ended

    def stop(self) -> Ended:
        """End it in good order, killed where it is not patient enough. Raises EngineError."""
        return self._end("stop", self._patience_s + _SWEEP_S)

    def kill(self) -> Ended:
        """End it at once, as a crash would. Raises EngineError."""
        return self._end("kill", _SWEEP_S)

    def _end(self, command: str, timeout_s: float) -> Ended:
        with contextlib.suppress(HostError):  # it has ended by itself
            self._process.send(json.dumps(command))
        ended = self.ended(timeout_s)
        if ended is None:
            raise EngineError(
                "no-data",
                f"the server (process {self.pid}) does not end",
                f"look at its state: ps -o stat,wchan -p {self.pid}",
            )
        return ended
