"""Settings of a guest's own definition: applied by a restart, read back, and the definition restored to the byte."""

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command import RUN_ENDED, Done, Running
from processes import keepers
from waiting import wait_for

from guest.hypervisor import Hypervisor
from paribus.engine.find import binary
from paribus.hosts.local import LocalHost
from paribus.knobs.catalog import load
from paribus.knobs.discovery import place
from paribus.knobs.journal import Journal
from paribus.model import ChangeState, DomainPlace, Guest, Location, NotTaken, Value
from paribus.store import read
from paribus.store.open import open_engine, store_url
from paribus.trial.guests.domain_session import DomainSession, GuestRestart

pytestmark = [pytest.mark.root, pytest.mark.usefixtures("as_root")]

Paribus = Callable[..., Done]
Plan = Callable[..., str]
FACTORS = '"guest.disk.cache" = ["none", "writethrough"]'
EXAMPLE = Path(__file__).parents[3] / "examples/kvm.toml"
UNTRUE_EMULATOR = """#!/bin/bash
exec /usr/bin/qemu-system-x86_64 "${@//\\"direct\\":true/\\"direct\\":false}"
"""
VALUES: dict[str, list[Value]] = {
    "guest.disk.cache": ["default", "directsync", "writeback", "writethrough", "unsafe", "none"],
    "guest.disk.io": ["threads", "native", "io_uring", "default"],  # native needs O_DIRECT
    "guest.disk.discard": ["ignore", "unmap", "default"],
    "guest.disk.detect_zeroes": ["off", "on", "unmap", "default"],
    "guest.disk.queues": [2, "default"],
    "guest.disk.iotune.total_iops_sec": [500, "default"],
    "guest.disk.iotune.total_bytes_sec": [10_000_000, "default"],
    "guest.disk.iothread": [1, "default"],
    "guest.iothreads": [1, "default"],
    "guest.vcpus": [1, 2],
    "guest.cpus": ["0", "default"],
    "guest.emulator.cpus": ["1", "default"],
    "guest.vcpu.cpus": ["default", "0;1", "default"],  # two of them from the second step on
    "guest.topology": ["default", "1:2:1", "2:1:1", "default"],
    "guest.iothread.cpus": ["1", "default"],
    "guest.numa.nodes": ["0", "default"],
    "guest.numa.mode": ["preferred", "default"],
    "guest.memory.balloon": ["virtio", "none"],
}


@pytest.fixture
def as_found(hypervisor: Hypervisor) -> Iterator[None]:
    """The guest, which is as found after the test."""
    before = hypervisor.definitions()
    yield
    wait_for(lambda: hypervisor.definitions() == before, "the guest is as it was")
    wait_for(hypervisor.answers, "the guest answers")


@pytest.mark.usefixtures("as_found")
def test_an_interrupted_experiment_leaves_the_guest_as_found(plan: Plan, hypervisor: Hypervisor) -> None:
    running = Running("run", plan(FACTORS, trial="500ms"))
    wait_for(lambda: hypervisor.cache_mode() == "writethrough", "no setting was changed")
    running.wait_for("trial")
    running.signal(signal.SIGINT)
    done = running.end(300)
    assert done.code == 130, done.err


@pytest.mark.gate
@pytest.mark.usefixtures("as_found")
def test_a_killed_controller_leaves_the_guest_as_found(plan: Plan, hypervisor: Hypervisor) -> None:
    running = Running("run", plan(FACTORS, trial="500ms"))
    wait_for(lambda: hypervisor.cache_mode() == "writethrough", "no setting was changed")
    running.signal(signal.SIGKILL)
    running.end()
    wait_for(lambda: hypervisor.cache_mode() == "none", "the guest was not restored")


def test_undo_restarts_a_guest_after_everything_was_killed(
    paribus: Paribus, plan: Plan, hypervisor: Hypervisor
) -> None:
    before = hypervisor.definitions()
    others = keepers()
    running = Running("run", plan(FACTORS, trial="500ms"))
    wait_for(lambda: hypervisor.cache_mode() == "writethrough", "no setting was changed")
    for pid in (running.pid, *(keepers() - others)):
        os.kill(pid, signal.SIGKILL)
    running.end()
    assert hypervisor.definitions() != before
    undone = paribus("undo")
    assert undone.code == 0, undone.err
    assert hypervisor.definitions() == before


@pytest.mark.usefixtures("as_found")
def test_a_guest_that_crashes_is_as_found_at_the_end(plan: Plan, hypervisor: Hypervisor) -> None:
    running = Running("run", plan(FACTORS, trial="500ms"))
    wait_for(lambda: hypervisor.cache_mode() == "writethrough" and hypervisor.answers(), "no setting was changed")
    hypervisor.cut_power()
    wait_for(lambda: hypervisor.cache_mode() == "none" and hypervisor.answers(), "the guest was not restored")
    running.signal(signal.SIGINT)
    running.end(300)


@pytest.mark.usefixtures("as_found")
def test_a_refused_value_is_a_finding(paribus: Paribus, plan: Plan) -> None:
    done = paribus("run", plan('"guest.memory.hugepages" = ["off", "on"]'))
    assert done.code in RUN_ENDED, done.err
    store = open_engine(store_url(None), create=False)
    changes = [change for _, change in read.changes(store, read.find(store, "last").id)]
    store.dispose()
    [refused] = {change.refused for change in changes if change.wanted == "on"}
    assert "hugetlbfs" in refused
    assert {change.observed for change in changes if change.knob == "guest.memory.hugepages"} == {"off"}


def test_check_tells_the_loss_and_the_editor(paribus: Paribus, plan: Plan, hypervisor: Hypervisor) -> None:
    checked = paribus("check", plan('"guest.disk.cache" = ["none", "unsafe"]'))
    assert checked.code == 0, checked.err
    assert f"edit --domain {hypervisor.name}  # devices/disk[vda]/driver/@cache: unsafe" in checked.out
    assert "can destroy its file systems" in checked.out.replace("\n", " ")


@pytest.mark.usefixtures("as_found")
def test_flushes_that_are_left_out_are_seen(paribus: Paribus, plan: Plan) -> None:
    done = paribus("run", plan('"guest.disk.cache" = ["none", "unsafe"]'))
    assert done.code in RUN_ENDED, done.err
    flushes = paribus("report", "last", "--json").json["flushes"]
    shares = {each["arm"]: each["unwritten_bytes"] / each["flushed_bytes"] for each in flushes}
    assert shares == {"none": 0, "unsafe": 1}
    assert {each["exposed"] - len(each["trials"]) for each in flushes if each["arm"] == "unsafe"} == {0}


@pytest.mark.usefixtures("as_found")
def test_the_example_runs(paribus: Paribus, hypervisor: Hypervisor) -> None:
    sets = {
        "target.host": hypervisor.address,
        "target.hypervisor": hypervisor.uri,
        "target.path": hypervisor.data,
        "workload.0.total_size": "4MiB",
        "workload.1.total_size": "4MiB",
        "protocol.trial": "500ms",
        "protocol.settle": "10ms",
    }
    arguments = [str(EXAMPLE), *(part for key, value in sets.items() for part in ("--set", f"{key}={value}"))]
    checked = paribus("check", *arguments)
    assert checked.code == 0, checked.err
    running = Running("run", *arguments)
    running.wait_for("trial ")
    running.signal(signal.SIGINT)
    done = running.end(300)
    assert done.code == 130, done.err


def test_each_value_is_taken_by_a_running_guest(hypervisor: Hypervisor, disk: str) -> None:
    before = hypervisor.definitions()
    untaken = []
    with _session(hypervisor, disk, list(VALUES)) as domain:
        for step in range(max(len(values) for values in VALUES.values())):
            settings = {key: values[min(step, len(values) - 1)] for key, values in VALUES.items()}
            changes = domain.apply(settings, [])
            untaken += [change for change in changes if change.state is not ChangeState.VERIFIED]
    assert untaken == []
    assert hypervisor.definitions() == before


@pytest.mark.usefixtures("as_found")
def test_a_cache_mode_that_qemu_does_not_use_is_not_taken(hypervisor: Hypervisor, disk: str, tmp_path: Path) -> None:
    original = hypervisor.virsh("dumpxml", "--inactive", "--security-info", hypervisor.name)
    emulator = tmp_path / "qemu"
    emulator.write_text(UNTRUE_EMULATOR)
    emulator.chmod(0o755)
    try:
        _restart(hypervisor, original.replace(">/usr/bin/qemu-system-x86_64<", f">{emulator}<"))
        with _session(hypervisor, disk, ["guest.disk.cache"]) as domain:
            [change] = domain.apply({"guest.disk.cache": "directsync"}, [])
    finally:
        _restart(hypervisor, original)
    assert (change.observed, change.not_taken) == ("writethrough", NotTaken.IGNORED)


@contextlib.contextmanager
def _session(hypervisor: Hypervisor, disk: str, keys: list[str]) -> Iterator[DomainSession]:
    """A session of these settings, which restores the guest."""
    host = LocalHost()
    location = Location(disk, domain=DomainPlace(hypervisor.uri, hypervisor.name, "vda"))
    guest = Guest(name=hypervisor.name, machine="local", uri=hypervisor.uri, disk=disk, location=location)
    knobs = {key: place(host, load().get(key), location) for key in keys}
    journal = Journal(host, binary(), "values", [hypervisor.name], volatile=True)
    restart = GuestRestart(lambda: None, lambda _ended: wait_for(hypervisor.answers, "the guest answers"))
    try:
        yield DomainSession(host, guest, knobs, journal, "values", restart)
    finally:
        assert journal.restore()
        wait_for(hypervisor.answers, "the guest answers")


def _restart(hypervisor: Hypervisor, definition: str) -> None:
    hypervisor.virsh("define", "/dev/stdin", input=definition)
    hypervisor.cut_power()
    hypervisor.boot()
