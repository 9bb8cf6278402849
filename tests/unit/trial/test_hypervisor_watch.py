"""The hypervisor during a trial in its guest: whose load disturbs, what the guest used, and what happened to it."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import cast

import pytest
from test_load_host import SampledMachine

from paribus.engine.protocol import ProcessUse
from paribus.engine.run import Sampler
from paribus.errors import HostError, Unreachable
from paribus.hosts.fake import FakeHost
from paribus.hosts.transport import Completed
from paribus.knobs.catalog import load
from paribus.model import Guest
from paribus.trial.guests import hypervisor_watch
from paribus.trial.guests.hypervisor_watch import HypervisorWatch
from paribus.trial.load.load_host import LoadHostSession
from paribus.trial.load.monitor import LoadMonitor, Observations
from paribus.trial.target_session import Site
from paribus.trial.validity import LoadWork, OtherLoad

UUID = "00e2445c-b6d1-4bd1-bc71-bb3059678503"
GUEST = Guest(name="db1", machine="local", uri="qemu:///system")
LIVE = f"<domain><name>db1</name><uuid>{UUID}</uuid><currentMemory>4</currentMemory><devices/></domain>"
WORK = LoadWork(duration_s=10.0, bytes_per_s=1e6, cores=4, user_s=30.0)


class _Hypervisor(FakeHost):
    """A machine whose libvirt has one domain, of process 42, and whose process 43 runs another guest."""

    def __init__(self) -> None:
        super().__init__({})
        self.live, self.job = LIVE, "None"
        self.error: HostError | None = None
        self.start_guest(42)
        self.files["/proc/43/cmdline"] = "qemu-system-x86_64\0-name\0guest=db2\0"

    def start_guest(self, pid: int) -> None:
        """Let this process run the domain from now on."""
        self.files = {path: text for path, text in self.files.items() if UUID not in text}
        self.files[f"/proc/{pid}/cmdline"] = f"qemu-system-x86_64\0-uuid\0{UUID}\0"

    def run_threads(self, vcpu_s: float, wait_s: float) -> None:
        """Set the times of the virtual processor."""
        self.files["/proc/42/stat"] = f"42 (qemu) S 1 {'0 ' * 9}{vcpu_s * 100:.0f} 0 0\n"
        self.files["/proc/42/task/44/comm"] = "CPU 0/KVM\n"
        self.files["/proc/42/task/44/schedstat"] = f"{vcpu_s * 1e9:.0f} {wait_s * 1e9:.0f} 1\n"

    def run(self, argv: Sequence[str], **_options: object) -> Completed:
        """Answer virsh."""
        if self.error is not None:
            raise self.error
        answers = {"dumpxml": self.live, "domjobinfo": f"Job type: {self.job}\n", "dominfo": "State: running\n"}
        return Completed(0, next((answers[word] for word in argv if word in answers), ""), "")


class _Sampler(SampledMachine):
    """A sampler of the hypervisor, that remembers which processes are the experiment's."""

    def __init__(self, processes: list[ProcessUse]) -> None:
        super().__init__(0.5, 100.0, processes)
        self.own: list[int] = []

    def revive(self) -> None:
        """Go on."""

    def set_own_processes(self, pids: Sequence[int]) -> None:
        """Remember them."""
        self.own = list(pids)

    def add_own_processes(self, pids: Sequence[int]) -> None:
        """Remember these too."""
        self.own = list(pids)


@pytest.fixture
def host() -> _Hypervisor:
    return _Hypervisor()


def _watch(
    host: _Hypervisor, monkeypatch: pytest.MonkeyPatch, *processes: ProcessUse
) -> tuple[HypervisorWatch, _Sampler]:
    sampler = _Sampler(list(processes))
    monkeypatch.setattr(hypervisor_watch, "Sampler", lambda *_arguments: sampler)
    return HypervisorWatch(Site(host, "engine", load()), GUEST, 1.0, []), sampler


def test_a_load_host_that_is_the_hypervisor_counts_as_one_machine(
    host: _Hypervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    sampler, of_load_host = _Sampler([]), _Sampler([])
    monkeypatch.setattr(hypervisor_watch, "Sampler", lambda *_arguments: sampler)
    other_name = _Hypervisor()
    for machine in (host, other_name):
        machine.files["/proc/sys/kernel/random/boot_id"] = "same"
    load_host = cast("LoadHostSession", SimpleNamespace(site=Site(other_name, "e", load()), sampler=of_load_host))
    watch = HypervisorWatch(Site(host, "engine", load()), GUEST, 1.0, [load_host])
    watch.begin_trial()
    watch.add_load_process(60, cast("Sampler", of_load_host))
    watch.add_load_process(77, cast("Sampler", _Sampler([])))
    assert (sampler.own, of_load_host.own) == ([42, 60], [42])


def _observed(watch: HypervisorWatch, host: _Hypervisor, meanwhile: dict[str, object] | None = None) -> Observations:
    watch.begin_trial()
    target = LoadMonitor(cast("Sampler", SampledMachine(0.5, 100.0, [])), OtherLoad(set()), "1", ())
    target.watch_also(watch.monitor(target))
    target.open()
    for name, value in (meanwhile or {}).items():
        setattr(host, name, value)
    target.close()
    return target.conclude(WORK, 100.0)


def _process(cpu_s: float) -> ProcessUse:
    return ProcessUse(pid=43, command="qemu-system-x86", cpu_s=cpu_s, read_bytes=0, written_bytes=0)


def test_another_guest_that_becomes_busy_is_named(host: _Hypervisor, monkeypatch: pytest.MonkeyPatch) -> None:
    watch, sampler = _watch(host, monkeypatch, _process(0.0))
    for _ in range(4):
        assert _observed(watch, host).reasons == []
    sampler.processes = [_process(30.0)]
    assert _observed(watch, host).reasons == ["on the hypervisor: other processes took 3.00 of 4 cores: guest db2 (43)"]
    assert sampler.own == [42]


def test_the_process_of_a_restarted_guest_is_looked_for(host: _Hypervisor, monkeypatch: pytest.MonkeyPatch) -> None:
    watch, sampler = _watch(host, monkeypatch)
    _observed(watch, host)
    host.start_guest(51)
    _observed(watch, host)
    assert sampler.own == [51]
    watch.add_load_process(60, cast("Sampler", _Sampler([])))
    assert sampler.own == [51]


def test_the_time_that_the_guest_waits_for_a_processor_is_measured(
    host: _Hypervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch, _ = _watch(host, monkeypatch)
    host.run_threads(100.0, 50.0)
    watch.begin_trial()
    target = LoadMonitor(cast("Sampler", SampledMachine(0.5, 100.0, [])), OtherLoad(set()), "1", ())
    monitor = watch.monitor(target)
    assert monitor is not None
    monitor.open()
    host.run_threads(106.0, 52.0)
    monitor.close()
    values = {measurement.metric: measurement.mean for measurement in monitor.conclude(WORK).measurements}
    assert (values["vcpu_cores"], values["vcpu_wait_share"], values["qemu_cores"]) == pytest.approx((0.6, 0.25, 0.0))
    assert values["hypervisor_cpu_user_share"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"live": LIVE.replace(">4<", ">2<")}, "the definition of the guest db1 changed meanwhile: currentMemory"),
        ({"job": "Unbounded"}, "the guest db1 had a job in progress: unbounded"),
        ({"error": HostError("no answer")}, "what happened to the guest db1 meanwhile is unknown: no answer"),
    ],
)
def test_a_change_of_the_guest_during_a_trial_is_a_reason(
    host: _Hypervisor, monkeypatch: pytest.MonkeyPatch, change: dict[str, object], reason: str
) -> None:
    watch, _ = _watch(host, monkeypatch)
    assert _observed(watch, host, change).reasons == [f"on the hypervisor: {reason}"]


def test_load_is_not_judged_where_the_process_of_the_guest_is_hidden(
    host: _Hypervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch, sampler = _watch(host, monkeypatch)
    host.files.clear()
    sampler.processes = [_process(30.0)]
    for _ in range(4):
        observed = _observed(watch, host)
        assert observed.reasons == []
        assert not [m for m in observed.measurements if m.metric.startswith("hypervisor")]
    assert "the guest's process cannot be seen" in str(watch.usual())


def test_a_lost_hypervisor_ends_the_trial(host: _Hypervisor, monkeypatch: pytest.MonkeyPatch) -> None:
    watch, _ = _watch(host, monkeypatch)
    with pytest.raises(Unreachable):
        _observed(watch, host, {"error": Unreachable("lost")})
    with pytest.raises(Unreachable):
        watch.begin_trial()
