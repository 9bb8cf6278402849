"""Needs of each mechanism in a plan and a machine, and the counters that show it."""

import dataclasses
from collections.abc import Iterator

import pytest

from paribus import workloads
from paribus.databases.server import variable_needs
from paribus.knobs.catalog import load
from paribus.mechanisms import FREE_BLOCKS, MECHANISMS, Case, Obstacle
from paribus.model import DatabaseFacts, Facts, Knob, Measurement, RunningServer, Value, Workload
from paribus.registry import workload_kinds

assert workloads

FACTS = Facts(
    hostname="db1",
    kernel="6.1.0",
    boot_id="b",
    root=True,
    cores=2,
    memory_bytes=2**33,
    path="/data",
    path_refusal=None,
    free_bytes=2**40,
    filesystem="ext4",
    mount="/",
    path_device="/dev/sda",
    device="/dev/sda",
    device_refusal=None,
    io_uring_refused="",
    direct_refused="",
    fingerprint={"numa_nodes": "2"},
    swap_bytes=2**30,
)
IN_FORCE: dict[str, Value] = {
    "log_bin": "ON",
    "innodb_flush_method": "fsync",
    "innodb_buffer_pool_size": 2**27,
    "shared_buffers": "128MB",
    "max_wal_size": "1GB",
    "checkpoint_completion_target": "0.9",
    "checkpoint_timeout": "5min",
}


def case(
    kind: str = "fileio",
    settings: dict[str, Value] | None = None,
    levels: tuple[Value, ...] = (1, 2),
    facts: Facts = FACTS,
    knob: str = "block.read_ahead_kb",
    in_force: dict[str, Value] | None = None,
    **changed: object,
) -> Case:
    """Return a case; keywords that a workload has not are parameters of its kind."""
    fields = {"load_levels": (1,), "cache": "cold", "database": ""} | {
        name: changed.pop(name) for name in ("load_levels", "cache", "database") if name in changed
    }
    parameters = workload_kinds.get(kind).parameters(**changed).model_dump()
    if in_force is not None or fields["database"]:
        facts = dataclasses.replace(facts, database=DatabaseFacts(in_force=IN_FORCE | (in_force or {})))
    return Case(
        knob=Knob(name=knob, kind="", addresses=(), type="", summary="", documentation=""),
        levels=levels,
        workload=Workload(
            name="w", kind=kind, parameters=parameters, response="throughput_per_s", data="keep", **fields
        ),  # type: ignore[arg-type]
        settings=settings or {},
        facts=facts,
    )


def obstacle(mechanism: str, at: Case) -> Obstacle | None:
    return MECHANISMS[mechanism].obstacle(at)


EXCLUDED = [
    ("buffered reads", case(direct=True), "w.direct = true"),
    ("buffered reads", case(mode="rndwr"), 'w.mode = "rndwr"'),
    ("buffered reads", case("iomatrix", large=0, write_share=1.0), "w.write_share = 1.0"),
    ("buffered reads", case(engine="null"), 'w.engine = "null"'),
    ("buffered reads", case(settings={"fileio.direct": True}), "w.direct = true"),
    ("buffered writes", case(mode="seqrd"), 'w.mode = "seqrd"'),
    ("buffered writes", case(direct=True, device="/dev/sdb"), "w.direct = true"),
    ("device requests", case(engine="null"), 'w.engine = "null"'),
    ("device reads", case(mode="seqwr"), 'w.mode = "seqwr"'),
    ("a queue that fills", case(direct=True, load_levels=(1, 4), levels=(64, 32)), "w has at most 4 requests"),
    ("swap space", case(facts=dataclasses.replace(FACTS, swap_bytes=0)), "no swap space"),
    ("commits", case("oltp_read_only", database="mysql"), "w only reads"),
    ("binary log writes", case("oltp_insert", database="mysql", in_force={"log_bin": "OFF"}), "log_bin is OFF"),
]
UNLIKELY = [
    ("several NUMA nodes", case(facts=dataclasses.replace(FACTS, fingerprint={"numa_nodes": "1"})), "one NUMA node"),
    ("buffered reads", case(cache="warm"), "memory can hold the data"),
    ("dirty memory near the limit", case(total_size=2**20, levels=("20%", "10%")), "w has data of 1 MiB"),
    ("memory reclaim", case(), "memory can hold the data of 2 GiB"),
    ("memory reclaim", case(total_size=2**34, direct=True), "w.direct = true"),
    ("buffered reads", case("oltp_insert", database="mysql", in_force={"innodb_flush_method": "O_DIRECT"}), "O_DIRECT"),
    ("buffered writes", case(direct=True), "w.direct = true"),
    ("concurrent requests", case(direct=True), "one operation outstanding"),
    ("log writes", case("oltp_point_select", database="mysql"), "only reads"),
    ("page flushing", case("oltp_read_only", database="postgres"), "only reads"),
    ("buffer misses", case("oltp_insert", database="postgres"), "shared_buffers of 128 MiB holds the data of 2.48 MiB"),
    (
        "data that exceed the pool",
        case("oltp_insert", {"mysql.innodb_buffer_pool_size": "256MiB"}, database="mysql"),
        "innodb_buffer_pool_size of 256 MiB holds the data of 2.48 MiB",
    ),
    ("redo log past its low-water mark", case("oltp_read_only", database="mysql"), "only reads"),
    ("checkpoints", case("oltp_read_only", database="postgres"), "only reads"),
]
POSSIBLE = [
    ("buffered reads", case()),
    ("buffered reads", case("oltp_insert", database="mysql")),
    ("buffered writes", case()),
    ("dirty memory near the limit", case(mode="seqrd", levels=("20%", "10%"))),
    ("device requests", case(mode="seqrd")),
    ("device reads", case()),
    ("device writes", case(mode="seqrd")),
    ("concurrent requests", case(direct=True, load_levels=(1, 16))),
    ("a queue that fills", case(direct=True, load_levels=(1, 16), levels=(64, 32))),
    ("a queue that fills", case(levels=(64, 32))),
    ("writes beyond an SSD's free blocks", case()),
    ("memory reclaim", case(total_size=2**34)),
    ("memory reclaim", case(settings={"cgroup.load.memory_max": 2**28})),
    ("swap space", case()),
    ("swap space", case(facts=dataclasses.replace(FACTS, swap_bytes=None))),
    ("several NUMA nodes", case()),
    ("commits", case("oltp_read_write", database="mysql")),
    ("commits", case("command", run=["true"], throughput="(?P<value>1)", database="mysql")),
    ("binary log writes", case("oltp_insert", database="mysql")),
    ("binary log writes", case("oltp_insert", {"mysql.log_bin": "ON"}, database="mysql", in_force={"log_bin": "OFF"})),
    ("log writes", case("oltp_insert", database="mysql")),
    ("page flushing", case("oltp_insert", database="mysql")),
    ("buffer misses", case("oltp_insert", database="mysql", table_size=2_000_000)),
    ("data that exceed the pool", case("oltp_insert", database="postgres", table_size=2_000_000)),
    ("data that exceed the pool", case("tpcc", database="mysql", existing="tpcc1000", warehouses=1000)),
    ("redo log past its low-water mark", case("oltp_insert", database="mysql")),
    ("checkpoints", case("oltp_insert", database="postgres")),
]


@pytest.mark.parametrize(("mechanism", "at", "fact"), EXCLUDED)
def test_a_fact_of_plan_or_machine_excludes_a_mechanism(mechanism: str, at: Case, fact: str) -> None:
    barrier = obstacle(mechanism, at)
    assert barrier is not None and barrier.certain
    assert fact in barrier.fact


@pytest.mark.parametrize(("mechanism", "at", "fact"), UNLIKELY)
def test_a_fact_that_makes_a_mechanism_unlikely_excludes_nothing(mechanism: str, at: Case, fact: str) -> None:
    barrier = obstacle(mechanism, at)
    assert barrier is not None and not barrier.certain
    assert fact in barrier.fact


@pytest.mark.parametrize(("mechanism", "at"), POSSIBLE)
def test_mechanism_that_the_load_uses_has_no_obstacle(mechanism: str, at: Case) -> None:
    assert obstacle(mechanism, at) is None


def test_every_mechanism_is_tried_above() -> None:
    assert {name for name, _ in POSSIBLE} == set(MECHANISMS)


def test_commits_of_others_are_possible_on_a_shared_server() -> None:
    at = case("oltp_read_only", database="mysql")
    server = RunningServer(protocol="mysql", socket=None, user="u", host="h", port=1)
    shared = dataclasses.replace(at.facts, database=DatabaseFacts(running=server))
    barrier = obstacle("commits", dataclasses.replace(at, facts=shared))
    assert barrier is not None and not barrier.certain


def measured(**values: float) -> dict[str, Measurement]:
    return {name: Measurement.of_value(name, "", value, "measure", "sample") for name, value in values.items()}


def _counted() -> Iterator[str]:
    for name, mechanism in MECHANISMS.items():
        if mechanism.counters and name not in ("dirty memory near the limit", "redo log past its low-water mark"):
            yield name


@pytest.mark.parametrize("mechanism", list(_counted()))
def test_any_of_its_counters_above_zero_shows_a_mechanism(mechanism: str) -> None:
    occurred, counters = MECHANISMS[mechanism].occurred, MECHANISMS[mechanism].counters
    for counter in counters:
        assert occurred(measured(**dict.fromkeys(counters, 0.0) | {counter: 0.5}), None) is True
    assert occurred(measured(**dict.fromkeys(counters, 0.0)), None) is False
    assert occurred({}, None) is None


@pytest.mark.parametrize(
    ("dirty", "written", "threshold", "expected"),
    [
        (100, 0, 2**20, False),
        (2**20, 0, 2**20, True),
        (100, 2**20, 2**20, True),
        (2**27, 0, 0.1, True),
        (1, 0, 0.1, False),
    ],
)
def test_dirty_memory_is_compared_with_the_limit(dirty: int, written: int, threshold: float, expected: bool) -> None:
    """Memory counts as dirty if it was dirtied and written between two readings."""
    values = measured(memory_dirty_bytes=dirty, memory_available_bytes=2**31, device_written_bytes_per_s=written)
    assert MECHANISMS["dirty memory near the limit"].occurred(values, threshold) is expected
    assert MECHANISMS["dirty memory near the limit"].occurred(measured(memory_dirty_bytes=0), threshold) is None


def test_the_lower_level_gives_the_dirty_limit() -> None:
    limit = MECHANISMS["dirty memory near the limit"]
    assert limit.threshold(case(levels=("20%", "10%"))) == 0.05
    assert limit.threshold(case(levels=(2**28, "20%"))) == 0.1
    assert limit.threshold(case(settings={"cgroup.load.memory_max": 2**28}, levels=("20%", "10%"))) is None
    least = limit.least(case(levels=("20%", "10%"), knob="vm.dirty"))
    assert least is not None and least.size_bytes == 0.05 * 2**33


@pytest.mark.parametrize(("age", "logged", "expected"), [(100, 0, False), (2**24, 0, True), (100, 2**24, True)])
def test_the_redo_log_is_compared_with_its_low_water_mark(age: int, logged: int, expected: bool) -> None:
    redo = MECHANISMS["redo log past its low-water mark"]
    threshold = redo.threshold(case(levels=(2**30, 2**27), database="mysql", kind="oltp_insert"))
    assert threshold == 0.08 * 2**27
    values = measured(server_checkpoint_age_bytes=age, server_log_written_bytes_per_s=logged)
    assert redo.occurred(values, threshold) is expected
    assert redo.occurred({}, threshold) is None


@pytest.mark.parametrize(
    ("knob", "levels", "size_bytes", "duration_s"),
    [
        ("max_wal_size", ("1GB", "4GB"), 2**30 / 1.9, 0),
        ("checkpoint_timeout", ("15min", 120), 0, 120),
        ("checkpoint_flush_after", ("0", "256kB"), 2**30 / 1.9, 300),
    ],
)
def test_a_checkpoint_of_postgres_needs_log_or_time(
    knob: str, levels: tuple[Value, ...], size_bytes: float, duration_s: float
) -> None:
    at = case("oltp_insert", database="postgres", levels=levels, knob=f"postgres.{knob}")
    least = MECHANISMS["checkpoints"].least(at)
    assert least is not None
    assert (round(least.size_bytes), least.duration_s) == (round(size_bytes), duration_s)


def test_a_checkpoint_without_a_known_interval_needs_nothing() -> None:
    at = case("oltp_insert", database="postgres", levels=("soon", "5min"), knob="postgres.checkpoint_timeout")
    assert MECHANISMS["checkpoints"].least(at) is None


def test_every_need_of_a_knob_and_of_a_variable_is_a_mechanism() -> None:
    needs = {name for knob in load() for name in knob.needs}
    needs |= {name for _, _, names in variable_needs.rows() for name in names}
    assert needs | {FREE_BLOCKS.name} == set(MECHANISMS), "a layout needs free blocks, depending on its layers"


def test_numa_balancing_is_never_called_without_effect() -> None:
    """Its hint faults cost time on a machine with one node too."""
    knob = load().find("kernel.numa_balancing")
    assert knob is not None and knob.needs == ()
