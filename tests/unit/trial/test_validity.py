"""Reasons not to use a trial, blind to its arm."""

from ceteris.engine.protocol import Census, Cpu, Interval, ProcessUse, Result, Times
from ceteris.trial.validity import ForeignLoad, of_load

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
    )


def _census(cpu_s: float = 0.0, written_bytes: int | None = 0, pid: int = 7) -> Census:
    use = ProcessUse(pid=pid, command="backup", cpu_s=cpu_s, read_bytes=0, written_bytes=written_bytes)
    return Census(event="census", label="close", monotonic_s=1.0, duration_s=10.0, processes=[use])


def test_a_quiet_trial_is_valid() -> None:
    assert of_load(_result(), [_interval(100.0), _interval(101.0)], "sync") == []


def test_errors_are_named_and_counted() -> None:
    assert of_load(_result({"io-error": 3}), [], "sync") == ["the load met errors: 3 io-error"]


def test_an_engine_that_is_the_bound_is_told_but_for_the_one_that_measures_itself() -> None:
    assert "the bound: 85%" in of_load(_result(user_s=17.0), [], "sync")[0]
    assert of_load(_result(user_s=17.0), [], "null") == []


def test_missing_seconds_are_told() -> None:
    assert of_load(_result(), [_interval(100.0), _interval(104.5)], "sync") == ["3.5 s of the window are missing"]


def test_other_processes_are_named() -> None:
    foreign = ForeignLoad({1})
    assert foreign.judge(_census(cpu_s=1.0), 2, 1e6) == []
    assert "backup (7)" in foreign.judge(_census(cpu_s=10.0), 2, 1e6)[0]
    assert "read and wrote 95.4 MiB/s: backup (7)" in foreign.judge(_census(written_bytes=10**9), 2, 1e6)[0]
    assert foreign.judge(_census(written_bytes=None), 2, 1e6) == []


def test_the_experiments_own_processes_are_no_others() -> None:
    assert ForeignLoad({7}).judge(_census(cpu_s=20.0), 2, 1e6) == []


def test_what_is_always_there_is_usual_and_does_not_stop_the_experiment() -> None:
    foreign = ForeignLoad(set())
    verdicts = [foreign.judge(_census(cpu_s=10.0), 2, 1e6) for _ in range(10)]
    assert all(verdicts[:7]) and not any(verdicts[7:])
