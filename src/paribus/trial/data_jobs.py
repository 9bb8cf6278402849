"""Jobs of the load engine that make, remove and verify a workload's data; no trial measures them."""

from collections.abc import Callable, Sequence

from paribus.engine.protocol import DataVerified, Job, Progress
from paribus.engine.run import Engine
from paribus.errors import EngineError, Interrupted
from paribus.hosts.transport import Host
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.trial.devices import Devices

_MOST_TEXTS = 3


class DataJobs:
    """Jobs on the machine that makes the load, one at a time."""

    def __init__(self, host: Host, engine: str, devices: Devices, stopped: Callable[[], bool]) -> None:
        """`host` and `engine` are those of the load."""
        self._host = host
        self._engine = engine
        self._devices = devices
        self._stopped = stopped

    def run(self, job: Job, progress: Callable[[int, int], None]) -> None:
        """Make or remove a workload's data. Raises EngineError (too little space, for example) and Interrupted."""
        engine = Engine(self._host, self._engine, self._devices.placed(job))
        try:
            for event in engine.events():
                if self._stopped() and job.phase == "prepare":
                    raise Interrupted("stopped while making data", "continue with: paribus resume")
                if isinstance(event, Progress):
                    progress(event.done_bytes, event.total_bytes)
        finally:
            engine.stop()

    def verify(self, job: Job) -> int | StoredMessage:
        """Read every block of the data from the disks: their number, or what is damaged.

        Raises EngineError, HostError and Interrupted.
        """
        engine = Engine(self._host, self._engine, self._devices.placed(job))
        blocks = 0
        try:
            for event in engine.events():
                if self._stopped():
                    raise Interrupted("stopped while data was verified", "continue with: paribus resume")
                if isinstance(event, DataVerified):
                    blocks = event.blocks
        except EngineError as error:
            if error.failure != "data-corrupt":
                raise
            return damaged([error.message])
        finally:
            engine.stop()
        return blocks


def damaged(texts: Sequence[str]) -> StoredMessage:
    """Return the reason against a trial after which data is damaged, with the first of these texts."""
    what = "; ".join(texts[:_MOST_TEXTS])
    return stored_message(N_("the data is damaged after the load: {what}"), what=what)
