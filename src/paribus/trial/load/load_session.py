"""One life of the load engine: of a single trial, or of a block whose settings are changed while the load runs."""

from collections.abc import Sequence

from paribus.engine.protocol import Hello, Job
from paribus.engine.run import Engine
from paribus.hosts.transport import Host


class LoadSession:
    """A running load. The job's own times make one window, or `measure` makes several."""

    def __init__(self, host: Host, engine: str, job: Job, conditions: Sequence[str]) -> None:
        """Start it. Raises HostError."""
        self._engine = Engine(host, engine, job, conditions)
        self.job = job
        self.conditions = tuple(conditions)
        self.events = self._engine.events()
        self.hello: Hello | None = None

    def is_load_of(self, job: Job, conditions: Sequence[str]) -> bool:
        """Whether another trial's job asks for this load. The seed is ignored: each run has other offsets."""
        return self.conditions == tuple(conditions) and self.job.model_copy(update={"seed": job.seed}) == job

    def measure(self, window: str, settle_s: float, measure_s: float) -> None:
        """Ask for a window of `measure_s` after `settle_s`. Raises Unreachable."""
        self._engine.measure(window, settle_s, measure_s)

    def stop(self) -> None:
        """End the load at once."""
        self._engine.stop()
