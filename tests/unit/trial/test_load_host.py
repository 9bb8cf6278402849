"""The window of a trial on two machines: whose samples count, and whose fault an unusable trial is."""

from typing import cast

import pytest
from test_validity import SAMPLE, _interval, _job, _result

from paribus.engine.protocol import Census, CpuShares, Event, ProcessUse, Result, Sample
from paribus.engine.run import Sampler
from paribus.trial.load.load_host import JointMonitor, LoadHostMonitor
from paribus.trial.load.load_session import EngineWindow
from paribus.trial.load.monitor import LoadMonitor, Observations
from paribus.trial.validity import OtherLoad, saturation

ENGINE = 4711


class SampledMachine:
    """A machine of four processors that is this busy from `start_s` on, and whose census lists these processes."""

    def __init__(self, busy: float, start_s: float, processes: list[ProcessUse]) -> None:
        self._busy = busy
        self._start_s = start_s
        self.processes = processes
        self._events: list[Event] = []

    def ask_census(self, label: str) -> None:
        opens = label.startswith("open")
        now_s = self._start_s + (0.0 if opens else 10.0)
        if not opens:
            cpu = CpuShares(user=self._busy, system=0, iowait=0, irq=0, steal=0, idle=1 - self._busy)
            sample = SAMPLE.model_copy(update={"monotonic_s": now_s, "cpu": cpu, "cores": 4})
            self._events.append(cast("Sample", sample))
        processes = [] if opens else self.processes
        self._events.append(
            Census(
                event="census", label=label, monotonic_s=now_s, duration_s=None if opens else 10.0, processes=processes
            )
        )

    def receive(self, timeout_s: float) -> Event | None:
        return self._events.pop(0) if self._events else None


def _process(pid: int, cpu_s: float, written_bytes: int = 0) -> ProcessUse:
    return ProcessUse(pid=pid, command="job", cpu_s=cpu_s, read_bytes=0, written_bytes=written_bytes)


def _monitor(sampler: SampledMachine) -> LoadMonitor:
    return LoadMonitor(cast("Sampler", sampler), OtherLoad(set()), "1", ())


def _joint(target: LoadMonitor, *load_hosts: LoadMonitor) -> JointMonitor:
    return JointMonitor(target, [LoadHostMonitor(f"ssh://gen{i}", each) for i, each in enumerate(load_hosts, 1)])


def _window(longest_s: float = 1.0) -> EngineWindow:
    return EngineWindow(_job(), _result(), (_interval(100.0, longest_s),))


def _observed(target_busy: float, load_host_busy: float, longest_s: float = 1.0) -> Observations:
    """The clock of the target is an hour ahead of that of the load host, on which the engine counts."""
    target = SampledMachine(target_busy, 3700.0, [])
    load_host = SampledMachine(load_host_busy, 100.0, [_process(ENGINE, 40 * load_host_busy)])
    monitor = _joint(_monitor(target), _monitor(load_host))
    monitor.add_load_process(ENGINE, 0)
    monitor.open()
    monitor.close()
    return monitor.conclude_load(_result(), [_window(longest_s)])


def _values(observations: Observations) -> dict[str, float]:
    return {measurement.metric: measurement.mean for measurement in observations.measurements}


def test_each_machine_is_measured_by_its_own_samples_and_clock() -> None:
    values = _values(_observed(0.5, 0.2))
    assert values["cpu_user_share"] == pytest.approx(0.5)
    assert values["load_host_cpu_user_share"] == pytest.approx(0.2)
    assert not [metric for metric in values if metric.startswith("load_host_memory")]


def test_a_quiet_load_host_and_a_busy_target_are_no_reason() -> None:
    assert _observed(1.0, 0.5).reasons == []


def test_a_saturated_load_host_is_named() -> None:
    assert _observed(0.1, 0.95).reasons == [
        "on the load host ssh://gen1: the processors were the bottleneck: 95% of 4 were busy"
    ]


def test_a_problem_of_the_engine_names_its_machine() -> None:
    [reason] = _observed(0.1, 0.95, longest_s=4.5).reasons
    assert reason.startswith("on the load host ssh://gen1: the engine stalled")


def test_the_processors_that_the_engine_may_use_can_be_saturated_alone() -> None:
    result: Result = _result(user_s=8.5)
    assert saturation(result, 0.3, 4) == ["the load engine was the bottleneck: 95% of its 1 cores busy"]
    assert saturation(_result(user_s=7.0), 0.3, 4) == []
    assert saturation(_result(user_s=7.0), None, 0) == []


def test_the_other_load_of_the_target_does_not_include_the_engine_that_is_elsewhere() -> None:
    """A process of the target that has by chance the number of the engine counts as another's."""
    target = SampledMachine(0.5, 3700.0, [_process(ENGINE, 20.0)])
    monitor = _joint(_monitor(target), _monitor(SampledMachine(0.1, 100.0, [])))
    monitor.add_load_process(ENGINE, 0)
    monitor.open()
    monitor.close()
    values = _values(monitor.conclude_load(_result(), [_window()]))
    assert values["other_cpu_share"] == pytest.approx(0.5)
    assert values["load_host_other_cpu_share"] == pytest.approx(0.1, abs=0.01)


def test_others_that_use_the_disks_of_the_load_host_do_not_disturb_the_load() -> None:
    other_load = OtherLoad(set())
    for written_bytes in (0, 0, 0, 2**34):
        sampler = cast("Sampler", SampledMachine(0.1, 100.0, [_process(8, 0.0, written_bytes)]))
        load_host = LoadMonitor(sampler, other_load, "1", ())
        monitor = _joint(_monitor(SampledMachine(0.1, 3700.0, [])), load_host)
        monitor.open()
        monitor.close()
        assert monitor.conclude_load(_result(), [_window()]).reasons == []


def test_of_several_load_hosts_the_saturated_one_is_named_and_the_highest_share_is_stored() -> None:
    quiet, busy = (_monitor(SampledMachine(share, 100.0, [])) for share in (0.1, 0.95))
    monitor = _joint(_monitor(SampledMachine(0.1, 3700.0, [])), quiet, busy)
    monitor.open()
    monitor.close()
    observations = monitor.conclude_load(_result(), [_window(), _window()])
    assert observations.reasons == [
        "on the load host ssh://gen2: the processors were the bottleneck: 95% of 4 were busy"
    ]
    assert _values(observations)["load_host_cpu_user_share"] == pytest.approx(0.95)


def test_on_a_target_that_makes_a_part_of_the_load_the_engine_is_no_other_process() -> None:
    target = SampledMachine(1.0, 100.0, [_process(ENGINE, 20.0)])
    of_load_host = _monitor(SampledMachine(1.0, 100.0, [_process(ENGINE, 20.0)]))
    monitor = JointMonitor(_monitor(target), [LoadHostMonitor("local", of_load_host, is_target=True)])
    monitor.add_load_process(ENGINE, 0)
    monitor.open()
    monitor.close()
    window = EngineWindow(_job(), _result(user_s=40.0), (_interval(100.0),))
    observations = monitor.conclude_load(_result(), [window])
    assert _values(observations)["other_cpu_share"] == 0
    assert not [reason for reason in observations.reasons if "the processors were the bottleneck" in reason]
