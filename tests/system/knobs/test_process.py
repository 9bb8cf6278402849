"""Conditions of the process under test: what the kernel says of it, and what a limit does to a load."""

import contextlib
import json
import os
import statistics
import subprocess
import time
from pathlib import Path

import pytest
from command import RUN_ENDED, Filesystem, moved

from paribus.engine.find import binary
from paribus.engine.protocol import VERSION
from paribus.hosts.local import LocalHost
from paribus.knobs.catalog import LOAD, load
from paribus.knobs.discovery import place, read
from paribus.knobs.journal import Journal
from paribus.knobs.kinds import knob_kinds
from paribus.model import Location, Value
from paribus.store import read as stored
from paribus.store.open import open_engine, store_url

pytestmark = [pytest.mark.root, pytest.mark.usefixtures("as_root")]
HOST = LocalHost()
GROUPS = Path("/sys/fs/cgroup")
LEVELS_OF_TYPE: dict[str, tuple[Value, ...]] = {"text": ("0", "0-1"), "cores": (0.5, 1.5, "max"), "integer": (50, 200)}
IS_FIRST_VERSION = not (GROUPS / "cgroup.controllers").exists()
CPUSETS = GROUPS / "cpuset" if IS_FIRST_VERSION else GROUPS


def _null_load(*conditions: str) -> "subprocess.Popen[str]":
    """The engine making a load of nothing for some seconds."""
    job = {
        "protocol": VERSION,
        "phase": "run",
        "workload": {
            "kind": "fileio",
            "data": {"directory": "/nowhere", "files": 1, "total_size_bytes": 2**20},
            "io": {"engine": "null"},
            "access": {"mode": "rndrd", "block_size_bytes": 4096},
        },
        "load": {"outstanding": 1},
        "measure_s": 60,
    }
    started = subprocess.Popen(
        [binary(), "run", *conditions], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert started.stdin
    with contextlib.suppress(BrokenPipeError):  # an engine that cannot have its conditions may have ended already
        print(json.dumps(job), file=started.stdin, flush=True)
    return started


def test_the_kernel_says_of_the_process_what_was_asked_for() -> None:
    group = CPUSETS / f"paribus-test-{os.getpid()}"
    group.mkdir()
    try:
        for name in ("cpuset.cpus", "cpuset.mems"):
            (group / name).write_text((CPUSETS / name).read_text())
        load = _null_load("--numa", "interleave", "--cpus", "0", "--limit", "nofile=512", "--cgroup", str(group))
        try:
            assert load.stdout and "hello" in load.stdout.readline()
            time.sleep(0.3)
            about = Path(f"/proc/{load.pid}")
            assert "Cpus_allowed_list:\t0\n" in (about / "status").read_text()
            assert " interleave:0" in (about / "numa_maps").read_text()
            (files,) = [line for line in (about / "limits").read_text().splitlines() if "open files" in line]
            assert files.split()[3] == "512"
            assert f"/{group.name}\n" in (about / "cgroup").read_text()
            for task in (about / "task").iterdir():
                assert "Cpus_allowed_list:\t0\n" in (task / "status").read_text()
        finally:
            load.communicate(timeout=20)
    finally:
        group.rmdir()


def test_every_limit_of_a_group_is_taken_and_goes_with_it(loop: str) -> None:
    for row in (row for row in load() if row.kind == "group_limit" and row.subject == LOAD):
        if IS_FIRST_VERSION and not row.elsewhere:
            continue
        knob = place(HOST, row, Location(loop))
        before = read(HOST, knob)
        journal = Journal(HOST, binary(), f"e-{row.name}", list(knob.addresses), volatile=False)
        journal.intend(row.name, knob.addresses[0], before.value, before.value, before.undo)
        for level in LEVELS_OF_TYPE.get(row.type, (2**20, 2**21, "max")):
            for action in knob_kinds.get(row.kind).writes(knob, level):
                journal.make(row.name, action)
            assert read(HOST, knob).value == level, row.name
        journal.restore()
        assert not Path(knob.addresses[0]).parent.exists()
        assert read(HOST, knob).value == before.value


def test_a_group_that_still_has_a_process_goes_and_the_process_stays(loop: str) -> None:
    knob = place(HOST, load().get("cgroup.load.cpus"), Location(loop))
    journal = Journal(HOST, binary(), "e1", list(knob.addresses), volatile=False)
    journal.intend(knob.name, knob.addresses[0], "0-1", "0", read(HOST, knob).undo)
    for action in knob_kinds.get(knob.kind).writes(knob, "0"):
        journal.make(knob.name, action)
    group = Path(knob.addresses[0]).parent
    load_ = _null_load("--cgroup", str(group))
    assert load_.stdout
    load_.stdout.readline()
    journal.restore()
    assert not group.exists()
    assert load_.poll() is None
    load_.communicate(timeout=20)


@pytest.mark.parametrize("condition", [("--numa", "bind:999"), ("--cpus", "999"), ("--cgroup", "/nowhere")])
def test_a_condition_that_cannot_be_had_ends_it_before_any_load(condition: tuple[str, str]) -> None:
    said, _ = _null_load(*condition).communicate(timeout=20)
    (line,) = said.splitlines()
    assert json.loads(line)["class"] == "condition-refused"


def test_limits_of_a_control_group_work_and_the_group_goes(paribus, plan, filesystem: Filesystem) -> None:
    point = filesystem("ext4")
    path = Path(moved(plan('"cgroup.load.reads_per_s" = ["max", 40]', trial="150ms"), point))
    path.write_text(path.read_text().replace("[[workload]]", "[[workload]]\ndirect = true", 1))
    checked = paribus("check", str(path))
    assert checked.code == 0, checked.err
    assert "mkdir -p" in checked.out
    done = paribus("run", str(path))
    assert done.code in RUN_ENDED, done.err
    assert "cgroup.load.reads_per_s" in done.out
    store = open_engine(store_url(None), create=False)
    experiment = stored.find(store, "last").id
    measured = stored.summaries(store, experiment)
    rates: dict[object, list[float]] = {40: [], "max": []}
    for trial in stored.trials(store, experiment):
        if trial.order in measured:
            rates[trial.settings["cgroup.load.reads_per_s"]].append(measured[trial.order]["throughput_per_s"].mean)
    store.dispose()
    assert statistics.median(rates[40]) < 80 < statistics.median(rates["max"])
    assert not list(GROUPS.glob("**/paribus-load"))


def test_conditions_that_are_refused_are_findings(paribus, plan) -> None:
    done = paribus(
        "run",
        plan('"process.load.cpus" = ["0-1", "0-63"]\n"process.load.nofile" = ["default", 256]'),
        "--json",
        "--strict",
    )
    assert done.code == 3, "with --strict, what was not judged is an error"
    assert any("the machine refuses process.load.cpus = 0-63" in note for note in done.json["notes"])
    wrong = paribus("check", plan('"process.load.numa" = ["default", "everywhere"]'))
    assert wrong.code == 2
    assert "'everywhere' is not a value of process.load.numa" in wrong.err


def test_a_group_that_is_there_already_is_nobodys_to_use(paribus, plan, loop: str) -> None:
    group = CPUSETS / "paribus-load"
    group.mkdir()
    try:
        done = paribus("check", plan('"cgroup.load.cpus" = ["0-1", "0"]', f'device = "{loop}"'))
    finally:
        group.rmdir()
    assert done.code == 2
    assert "remove it: rmdir" in done.err
