"""The machines that make the load, where that is not the target alone: their samples, processes and conditions.

In: the windows of trials. Out: measurements of all machines, and reasons not to use a trial, which name the load host
where the cause is there. Called by the bench and the runner.
"""

import dataclasses
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from paribus.engine.protocol import Result
from paribus.engine.run import Sampler
from paribus.hosts.address import machine_of
from paribus.hosts.local import LocalHost
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.knobs.conditions import Conditions
from paribus.model import Location, Measurement
from paribus.trial import validity
from paribus.trial.load.load_session import EngineWindow
from paribus.trial.load.monitor import LoadMonitor, Observations
from paribus.trial.target_session import Site

_PREFIX = "load_host_"
_SOURCE = "load host"
_STORED = ("cpu_user_share", "cpu_system_share", "cpu_steal_share", "other_cpu_share")


class LoadHostSession:
    """Sampler and conditions of a load host during one experiment; no setting is changed there."""

    def __init__(self, site: Site, interval_s: float, prefix: str) -> None:
        """Start sampling; `prefix` begins the names of its conditions. Raises HostError."""
        self.site = site
        self._prefix = prefix
        self._other_load = validity.OtherLoad(own_pids={os.getpid()} if site.host.name == LocalHost.name else set())
        facts = {"load engine": site.engine_version()}
        self._conditions = Conditions.of(site.host, site.catalogue, Location(), (), facts)
        self.sampler = Sampler(site.host, site.engine, [], interval_s)  # last: where it runs, it has to be closed

    def revive(self) -> None:
        """Start the sampler again where it has ended. Raises HostError."""
        self.sampler.revive()

    def conditions(self) -> dict[str, str]:
        """The conditions of this machine, under names of their own. Raises Unreachable and HostError."""
        return {f"{self._prefix}: {name}": value for name, value in self._conditions.read().items()}

    def monitor(self, target: LoadMonitor) -> LoadMonitor:
        """The monitor of a trial's window on this machine, given that of the target."""
        return target.elsewhere(self.sampler, self._other_load)

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


def load_host_sessions(site: Site, interval_s: float) -> Iterable[LoadHostSession]:
    """Start sampling on each load host of a site, one after the other. Raises HostError."""
    for each in site.load_hosts:
        name = f"load host {each.host.name}" if len(site.load_hosts) > 1 else "load host"
        yield LoadHostSession(each, interval_s, name)


@dataclass(frozen=True, slots=True)
class LoadHostMonitor:
    """The window on one load host; where that `is_target` too, the target's monitor observes it."""

    name: str
    monitor: LoadMonitor
    is_target: bool = False


class JointMonitor:
    """The target and the load hosts during one window: each with its own samples and its own census."""

    def __init__(self, target: LoadMonitor, load_hosts: Sequence[LoadHostMonitor]) -> None:
        self._target = target
        self._load_hosts = load_hosts
        self._elsewhere = [each for each in load_hosts if not each.is_target]

    @classmethod
    def of(cls, target: LoadMonitor, site: Site, sessions: Sequence[LoadHostSession]) -> "JointMonitor":
        """The monitor of a trial's window on a site and its load hosts, given that of the target."""
        named = [(session.site.host.name, session.monitor(target)) for session in sessions]
        own_name = machine_of(site.host.name)
        return cls(target, [LoadHostMonitor(name, each, machine_of(name) == own_name) for name, each in named])

    def add_load_process(self, pid: int, load_host: int, /) -> None:
        """Count a process of the load host of this number as the experiment's."""
        of_host = self._load_hosts[load_host]
        if of_host.is_target:
            self._target.add_load_process(pid)
            return
        of_host.monitor.add_load_process(pid)
        self._target.add_process_elsewhere(pid, of_host.monitor.sampler)

    def open(self) -> None:
        """Mark the start of the window. Raises HostError when a sampler is gone."""
        self._target.open()
        for each in self._elsewhere:
            each.monitor.open()

    def close(self) -> None:
        """Mark the end of the window. Raises HostError when a sampler is gone."""
        self._target.close()
        for each in self._elsewhere:
            each.monitor.close()

    def conclude_load(self, result: Result, windows: Sequence[EngineWindow]) -> Observations:
        """Return the observations on all machines; a load host at its limits makes the trial invalid.

        On the target the window begins when its census was taken, since the clocks of machines differ.
        """
        pairs = list(zip(self._load_hosts, windows, strict=True))
        user_s = sum(window.result.cpu.user_s for each, window in pairs if each.is_target)
        on_target = self._target.conclude(dataclasses.replace(validity.remote_work(result), user_s=user_s))
        measurements: list[list[Measurement]] = []
        reasons = on_target.reasons
        for load_host, window in pairs:
            observed, located = _concluded(load_host, window)
            measurements.append(observed)
            reasons = [*reasons, *located]
        return dataclasses.replace(
            on_target, measurements=(*on_target.measurements, *_highest(measurements)), reasons=reasons
        )


def _concluded(load_host: LoadHostMonitor, window: EngineWindow) -> tuple[list[Measurement], list[StoredMessage]]:
    """The measurements of a load host in its window, and the reasons there not to use the trial."""
    result, problems = window.result, validity.engine_problems(window)
    observed = Observations((), [])
    if not load_host.is_target:
        work = dataclasses.replace(validity.engine_work(result), bytes_per_s=math.inf)  # its disks make no load
        observed = load_host.monitor.conclude(work, result.start_s)
        problems = problems or validity.saturation(result, observed.busy_share, observed.cores)
    reasons = [_located(reason, load_host.name) for reason in (*observed.reasons, *problems)]
    return renamed(observed.measurements, _PREFIX, _SOURCE), reasons


def _highest(of_hosts: Sequence[Sequence[Measurement]]) -> list[Measurement]:
    """Each metric as on the load host where it is highest: the first to reach its limits."""
    highest: dict[str, Measurement] = {}
    for measurement in (each for measurements in of_hosts for each in measurements):
        other = highest.get(measurement.metric)
        if other is None or measurement.mean > other.mean:
            highest[measurement.metric] = measurement
    return list(highest.values())


def _located(reason: StoredMessage, load_host: str) -> StoredMessage:
    return stored_message(N_("on the load host {host}: {what}"), host=load_host, what=reason)


def renamed(measurements: Sequence[Measurement], prefix: str, source: str) -> list[Measurement]:
    """The measurements of another machine's processors, which are not to be taken for the target's."""
    return [
        dataclasses.replace(measurement, metric=f"{prefix}{measurement.metric}", source=source)
        for measurement in measurements
        if measurement.metric in _STORED
    ]
