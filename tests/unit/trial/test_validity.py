"""Reasons not to use a trial, blind to its arm."""

import random
from collections.abc import Sequence
from typing import Literal

import pytest

from paribus.engine.protocol import (
    VERSION,
    Access,
    Census,
    Cpu,
    CpuShares,
    Data,
    FileioJob,
    Hello,
    Interval,
    Job,
    Load,
    Memory,
    Method,
    Pacing,
    Pressure,
    ProcessUse,
    Result,
    Sample,
    Times,
)
from paribus.errors import EngineError
from paribus.i18n import StoredMessage
from paribus.trial.load.load_session import EngineWindow
from paribus.trial.validity import (
    OtherLoad,
    engine_problems,
    engine_work,
    load_errors,
    parameter_mismatches,
    refuse_no_throughput,
)

TIMES = Times(
    count=100,
    mean_s=0.01,
    min_s=0.001,
    p50_s=0.01,
    p95_s=0.02,
    p99_s=0.03,
    p999_s=0.04,
    max_s=0.05,
    sum_s=1.0,
    histogram="",
)


SAMPLE = Sample(
    event="sample",
    monotonic_s=105.0,
    unix_s=0.0,
    duration_s=10.0,
    cpu=CpuShares(user=0, system=0, iowait=0, irq=0, steal=0, idle=1),
    cores=2,
    run_queue=0,
    memory=Memory(total_bytes=1, available_bytes=1, dirty_bytes=0, writeback_bytes=0, cached_bytes=0),
    context_switches_per_s=0,
    pressure=Pressure(io_some=None, io_full=None, cpu_some=None, memory_some=None),
    clock_hz=None,
    throttled=None,
    device_errors=None,
    devices={},
)


def _result(errors: dict[str, int] | None = None, user_s: float = 0.1) -> Result:
    return Result(
        event="result",
        window="timed",
        start_s=100.0,
        start_unix_s=0.0,
        duration_s=10.0,
        operations=100,
        reads=60,
        writes=40,
        fsyncs=0,
        read_bytes=600,
        written_bytes=400,
        errors=errors or {},
        throughput_per_s=10.0,
        bytes_per_s=100.0,
        response=TIMES,
        service=TIMES,
        cpu=Cpu(user_s=user_s, system_s=1.0),
        cores_usable=2,
        workers=1,
        registered_buffers=False,
        fairness=None,
        pacing=None,
        parts=None,
    )


def _interval(start_s: float, duration_s: float = 1.0) -> Interval:
    return Interval(
        event="interval",
        window="timed",
        start_s=start_s,
        duration_s=duration_s,
        operations=1,
        reads=1,
        writes=0,
        fsyncs=0,
        read_bytes=1,
        written_bytes=0,
        errors={},
        mean_s=0.1,
        p50_s=0.1,
        p95_s=0.1,
        p99_s=0.1,
        max_s=0.1,
        offered=None,
        backlog=None,
    )


def _census(cpu_s: float = 0.0, written_bytes: int | None = 0, pid: int = 7) -> Census:
    use = ProcessUse(pid=pid, command="backup", cpu_s=cpu_s, read_bytes=0, written_bytes=written_bytes)
    return Census(event="census", label="close", monotonic_s=1.0, duration_s=10.0, processes=[use])


def _job(engine: Literal["sync", "null"] = "sync") -> Job:
    files = FileioJob(
        data=Data(directory="/d", total_size_bytes=4096),
        io=Method(engine=engine, direct=True),
        access=Access(mode="rndrw", block_size_bytes=4096, fsync_every=0),
    )
    return Job(phase="run", workload=files, load=Load(outstanding=4), interval_s=1.0)


def _problems(result: Result, intervals: Sequence[Interval], job: Job) -> list[StoredMessage]:
    return engine_problems(EngineWindow(job, result, tuple(intervals)))


def _hello(direct: bool = True) -> Hello:
    taken = _job().model_dump()
    taken["workload"]["io"]["direct"] = direct
    return Hello(event="hello", protocol=VERSION, version="0", pid=1, capabilities=[], effective=taken)


def test_a_quiet_trial_is_valid() -> None:
    assert _problems(_result(), [_interval(100.0), _interval(101.0)], _job()) == []
    assert parameter_mismatches(_job(), _hello()) == []


def test_a_parameter_that_the_engine_took_otherwise_is_told() -> None:
    assert parameter_mismatches(_job(), _hello(direct=False)) == [
        "the engine used workload.io.direct = False instead of True"
    ]


def test_errors_are_named_and_counted() -> None:
    assert load_errors({"io-error": 3}) == "the workload reported errors: 3 io-error"


def test_an_engine_that_is_the_bound_is_told_but_for_the_one_that_measures_itself() -> None:
    intervals = [_interval(100.0)]
    assert "the bottleneck: 85% of its 1 cores" in _problems(_result(user_s=8.5), intervals, _job())[0]
    assert _problems(_result(user_s=8.5), intervals, _job("null")) == []


def test_an_engine_that_starts_late_by_itself_is_told_and_a_disk_that_cannot_keep_up_is_not() -> None:
    pacing = Pacing(
        offered=500, started=100, backlog_at_start=0, backlog_at_end=400, lag_s=8.0, late_mean_s=5e-5, late_max_s=0.1
    )
    overloaded = _result().model_copy(update={"pacing": pacing})
    assert _problems(overloaded, [_interval(100.0)], _job()) == []
    late = overloaded.model_copy(update={"pacing": pacing.model_copy(update={"late_mean_s": 0.002})})
    assert "started 2 ms late on average although slots were free" in _problems(late, [_interval(100.0)], _job())[0]


def test_a_stall_of_the_engine_is_told() -> None:
    assert "took 4.5 s" in _problems(_result(), [_interval(100.0), _interval(101.0, 4.5)], _job())[0]
    assert "took 10.0 s" in _problems(_result(), [], _job())[0]


def _judge(foreign: OtherLoad, census: Census) -> list[str]:
    work = engine_work(_result().model_copy(update={"bytes_per_s": 1e6}))
    return list(foreign.judge(census, work, []).reasons)


def _after_quiet_trials() -> OtherLoad:
    foreign = OtherLoad({1})
    assert not any(_judge(foreign, _census(cpu_s=1.0)) for _ in range(4))
    return foreign


def test_other_processes_are_named() -> None:
    foreign = _after_quiet_trials()
    assert "backup (7)" in _judge(foreign, _census(cpu_s=10.0))[0]
    assert "read and wrote 95.4 MiB/s: backup (7)" in _judge(foreign, _census(written_bytes=10**9))[0]
    assert _judge(foreign, _census(written_bytes=None)) == []


def test_short_lived_processes_are_seen_by_the_kernels_count() -> None:
    shares = CpuShares(user=0.9, system=0.1, iowait=0, irq=0, steal=0, idle=0)
    sample = SAMPLE.model_copy(update={"cpu": shares})
    nobody = _census().model_copy(update={"processes": []})
    use = _after_quiet_trials().judge(nobody, engine_work(_result()), [sample])
    assert "1.79 of 2 cores: many short-lived processes" in use.reasons[0]
    assert use.cpu_share == pytest.approx(1.79 / 2)


def test_the_experiments_own_processes_are_no_others() -> None:
    assert _judge(OtherLoad({7}), _census(cpu_s=20.0)) == []


def test_an_even_background_is_usual_from_the_first_trial_on() -> None:
    foreign = OtherLoad(set())
    assert foreign.usual() is None
    assert not any(_judge(foreign, _census(cpu_s=10.0)) for _ in range(10))
    assert "usually took 1.00 cores" in foreign.usual()
    assert "most of it: backup" in foreign.usual()


@pytest.mark.parametrize(
    ("busy", "discarded"),
    [
        ([0, 0, 0, 1, 0, 0, 0, 0, 1, 0], [3, 8]),  # rare bursts: what they hit is no fair pair
        ([0, 1] * 20, []),  # every second trial: that is how the machine is, and pairs are adjusted for it
        ([n / 40 for n in range(80)], []),  # a slow rise
    ],
)
def test_only_what_hits_few_trials_is_discarded(busy: list[float], discarded: list[int]) -> None:
    foreign = OtherLoad(set())
    verdicts = [_judge(foreign, _census(cpu_s=10.0 * cores)) for cores in busy]
    assert [number for number, reasons in enumerate(verdicts) if reasons] == discarded


def test_frequent_disturbance_discards_few_trials_and_warns_once() -> None:
    rng = random.Random(1)
    foreign = OtherLoad(set())
    disturbed = [_census(cpu_s=10.0 * (rng.random() < 0.3)) for _ in range(300)]
    discarded = [bool(_judge(foreign, census)) for census in disturbed]
    assert all(sum(discarded[first : first + 30]) <= 5 for first in range(270))
    assert 20 <= sum(discarded) < sum(census.processes[0].cpu_s > 0 for census in disturbed)
    assert "to avoid that, stop: backup" in str(foreign.warning())
    assert foreign.warning() is None


def test_a_disturbed_trial_that_cannot_be_repeated_counts() -> None:
    work = engine_work(_result())
    for is_last_attempt in (True, False):
        reasons = _after_quiet_trials().judge(_census(cpu_s=10.0), work, [], is_last_attempt=is_last_attempt).reasons
        assert bool(reasons) is not is_last_attempt


def test_few_disturbed_trials_are_no_reason_for_a_warning() -> None:
    foreign = OtherLoad(set())
    for number in range(60):
        _judge(foreign, _census(cpu_s=10.0 * (number % 10 == 9)))
    assert foreign.warning() is None


@pytest.mark.parametrize(("fsyncs", "message"), [(0, "no operation in 10 s"), (3, "no operation but fsync in 10 s")])
def test_a_window_without_throughput_is_no_data(fsyncs: int, message: str) -> None:
    refuse_no_throughput(_result())
    empty = _result().model_copy(update={"operations": fsyncs, "fsyncs": fsyncs, "throughput_per_s": 0.0})
    with pytest.raises(EngineError, match=message) as refused:
        refuse_no_throughput(empty)
    assert refused.value.failure == "no-data"
