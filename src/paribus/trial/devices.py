"""The block devices of one experiment: each is the same device in every trial, whatever its name leads to.

In: a plan, the identities that an earlier part of the experiment recorded. Out: refusals, and jobs on their device.
Called by the bench before each block and by the runner.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from paribus.engine.protocol import Job
from paribus.errors import HostError
from paribus.hosts.storage.devices import Identity, block_device
from paribus.knobs import guard
from paribus.knobs.kinds import knob_kinds
from paribus.model import Trial
from paribus.trial.target_session import Site

_NO_BOOT = {"boot_id": ""}  # so that only facts that outlast a boot are compared


@dataclasses.dataclass(frozen=True)
class PinnedDevices:
    """Recorded identities by the path in the plan; `keep` records one."""

    recorded: Mapping[str, Identity]
    keep: Callable[[str, Identity], None]


class Devices:
    """Pins a device at its first check and compares it at each later one."""

    def __init__(self, site: Site, may_destroy: Sequence[str], pinned: PinnedDevices, trials: Sequence[Trial]) -> None:
        """`pinned`: the identities recorded before the experiment was resumed."""
        self._site = site
        self._may_destroy = may_destroy
        self._pinned = pinned
        knobs = [site.catalogue.find(key) for key in {key for trial in trials for key in trial.settings}]
        self._reloaded = any(knob is not None and knob_kinds.get(knob.kind).renumbers_devices for knob in knobs)
        self._expected: dict[str, Identity] = {}
        self.in_place_of_files = ""
        """The device that takes the load of workloads on files, where a layout has no file system; else empty."""

    def check(self, path: str, *, written: bool) -> None:
        """Raise HostError where it is another device than before or, if `written`, must not be destroyed.

        A boot or a reload of its driver may change a device's number; then its serial, WWN, UUID or file is compared.
        """
        expected = self._expected.get(path) or self._pinned.recorded.get(path)
        device = block_device(self._site.host, self._site.engine, path, expected)
        refusal = guard.refusal(device, self._may_destroy) if written else guard.refusal_to_read(device)
        if refusal is not None:
            raise HostError(refusal.message, refusal.remedy)
        if path not in self._expected:
            identity = {**device.identity, **(_NO_BOOT if self._reloaded else {})}
            self._pinned.keep(path, identity)
            self._expected[path] = identity

    def identity(self, path: str) -> Identity:
        """The identity of a checked device."""
        return self._expected[path]

    def placed(self, job: Job) -> Job:
        """The job on its device, with the identity of it; on `in_place_of_files` where it has files."""
        workload, data = job.workload, job.workload.data
        if data.device is None and self.in_place_of_files:
            data = data.model_copy(update={"directory": None, "device": self.in_place_of_files, "files": 1})
        if data.device in self._expected:
            data = data.model_copy(update={"device_identity": dict(self._expected[data.device])})
        if data is workload.data:
            return job
        return job.model_copy(update={"workload": workload.model_copy(update={"data": data})})
