"""The machine that makes the load, where that is not the target: its samples, its processes and its conditions.

In: the windows of trials. Out: measurements of both machines, and reasons not to use a trial, which name the load host
where the cause is there. Called by the bench and the runner.
"""

import dataclasses
import math
import os
from collections.abc import Sequence

from paribus.engine.protocol import Result
from paribus.engine.run import Sampler
from paribus.hosts.local import LocalHost
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.knobs.conditions import Conditions
from paribus.model import Location, Measurement
from paribus.trial import validity
from paribus.trial.load.monitor import LoadMonitor, Observations
from paribus.trial.target_session import Site

_PREFIX = "load_host_"
_SOURCE = "load host"
_STORED = ("cpu_user_share", "cpu_system_share", "cpu_steal_share", "other_cpu_share")


class LoadHostSession:
    """Sampler and conditions of a load host during one experiment; no setting is changed there."""

    def __init__(self, site: Site, interval_s: float) -> None:
        """Start sampling. Raises HostError."""
        self.site = site
        self._other_load = validity.OtherLoad(own_pids={os.getpid()} if site.host.name == LocalHost.name else set())
        facts = {"load engine": site.engine_version()}
        self._conditions = Conditions.of(site.host, site.catalogue, Location(), (), facts)
        self.sampler = Sampler(site.host, site.engine, [], interval_s)  # last: where it runs, it has to be closed

    def revive(self) -> None:
        """Start the sampler again where it has ended. Raises HostError."""
        self.sampler.revive()

    def conditions(self) -> dict[str, str]:
        """The conditions of this machine, under names of their own. Raises Unreachable and HostError."""
        return {f"load host: {name}": value for name, value in self._conditions.read().items()}

    def monitor(self, target: LoadMonitor) -> "TwoHostMonitor":
        """The monitor of a trial's window on both machines, given that of the target."""
        load_host = target.elsewhere(self.sampler, self._other_load)
        return TwoHostMonitor(target, load_host, self.site.host.name)

    def warning(self) -> StoredMessage | None:
        """A message, once, as soon as other load disturbs too many trials to discard them."""
        warning = self._other_load.warning()
        return _located(warning, self.site.host.name) if warning else None

    def usual(self) -> StoredMessage | None:
        """A note on other load that was always present, if any."""
        usual = self._other_load.usual()
        return _located(usual, self.site.host.name) if usual else None

    def close(self) -> None:
        """End the sampler."""
        self.sampler.close()


class TwoHostMonitor:
    """The target and the load host during one window: each with its own samples and its own census."""

    def __init__(self, target: LoadMonitor, load_host: LoadMonitor, load_host_name: str) -> None:
        self._target = target
        self._load_host = load_host
        self._load_host_name = load_host_name

    def add_load_process(self, pid: int) -> None:
        """Count a process of the load host as the experiment's."""
        self._load_host.add_load_process(pid)
        self._target.add_process_elsewhere(pid)

    def open(self) -> None:
        """Mark the start of the window. Raises HostError when a sampler is gone."""
        self._target.open()
        self._load_host.open()

    def close(self) -> None:
        """Mark the end of the window. Raises HostError when a sampler is gone."""
        self._target.close()
        self._load_host.close()

    def conclude_load(self, result: Result, problems: Sequence[StoredMessage]) -> Observations:
        """Return the observations on both machines; a load host at its limits makes the trial invalid.

        On the target the window begins when its census was taken, since the clocks of two machines differ.
        """
        on_target = self._target.conclude(validity.remote_work(result))
        work = dataclasses.replace(validity.engine_work(result), bytes_per_s=math.inf)  # its disks make no load
        on_load_host = self._load_host.conclude(work, result.start_s)
        busy = [] if problems else validity.saturation(result, on_load_host.busy_share, on_load_host.cores)
        reasons = [_located(reason, self._load_host_name) for reason in (*problems, *on_load_host.reasons, *busy)]
        measurements = (*on_target.measurements, *renamed(on_load_host.measurements, _PREFIX, _SOURCE))
        return dataclasses.replace(on_target, measurements=measurements, reasons=[*on_target.reasons, *reasons])


def _located(reason: StoredMessage, load_host: str) -> StoredMessage:
    return stored_message(N_("on the load host {host}: {what}"), host=load_host, what=reason)


def renamed(measurements: Sequence[Measurement], prefix: str, source: str) -> list[Measurement]:
    """The measurements of another machine's processors, which are not to be taken for the target's."""
    return [
        dataclasses.replace(measurement, metric=f"{prefix}{measurement.metric}", source=source)
        for measurement in measurements
        if measurement.metric in _STORED
    ]
