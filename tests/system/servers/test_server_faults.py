"""Experiments on servers that are hurt: disks that are full, servers that hang, tables that go, kills half-way."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import RUN_ENDED, Running
from served import OLTP, experiment, nothing_is_left, plan_on, running_below, trials, trials_with
from small_disk import SmallDisk
from waiting import wait_for

from paribus.engine.find import binary
from paribus.engine.protocol import MysqlServer, SqlJob
from paribus.engine.sql import Sql
from paribus.hosts.local import LocalHost
from paribus.model import ExperimentState, FailureClass, TrialState

LIVE = {
    "mariadb": '"mysql.innodb_spin_wait_delay" = [4, 8]',
    "postgres": '"postgres.work_mem" = ["4MB", "64kB"]',
}
CUT_OFF = (
    "closed the connection",
    "Broken pipe",
    "Connection reset",
    "error reading communication packets",
    "unexpected postmaster exit",
)
LARGE = 'kind = "oltp_insert"\ntable_size = 1_000_000\nthreads = [2]'  # seconds of preparing
BOTH = pytest.mark.parametrize("kind", list(LIVE))


@pytest.fixture
def disk(place: Path, as_root: None) -> Iterator[SmallDisk]:
    """A small disk where the data is."""
    (place / "data").rmdir()
    made = SmallDisk(place / "data", size_bytes=1200 * 2**20)
    (place / "data" / "lost+found").rmdir()
    yield made
    made.remove()


def _pid(place: Path) -> int:
    """The server's process."""
    argv = ["pgrep", "--full", f"^[^ ]*(mariadbd|postgres) .*{place}/data"]
    return int(subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()[0])


def _rows_come_in(place: Path) -> bool:
    """Whether the experiment's table has some of its rows."""
    tables = ((Path(folder) / name) for folder, _, names in os.walk(place / "data/paribus-data") for name in names)
    ours = (path for path in tables if "base" in path.parts or path.name == "sbtest1.ibd")
    return any(path.stat().st_size > 2**22 for path in ours)


def _is_resumed(place: Path) -> None:
    """Resume the experiment until a trial was made, and stop it."""
    before = {one.order for one in trials() if one.state is not TrialState.PLANNED}
    running = Running("resume", "last")
    running.wait_for("trial ")
    running.signal(signal.SIGINT)
    done = running.end()
    assert done.code == 130, done.err
    made = [one for one in trials() if one.order not in before and one.state is not TrialState.PLANNED]
    assert made and {one.failure for one in made} <= {None, FailureClass.INTERRUPTED}
    assert nothing_is_left(place)


@BOTH
@pytest.mark.root
def test_a_disk_that_fills_while_data_is_made_ends_it_in_the_servers_words(paribus, place, disk, kind) -> None:
    running = Running("run", plan_on(place, kind, LIVE[kind], LARGE))
    wait_for(lambda: _rows_come_in(place), "rows come in")
    disk.fill()
    done = running.end()
    assert done.code == 3
    assert "No space left on device" in done.err or "is full" in done.err
    assert "free space" in done.err
    (place / "data" / "ballast").unlink()
    assert nothing_is_left(place)


@BOTH
@pytest.mark.root
def test_a_disk_that_fills_under_load_fails_the_trial_in_the_servers_words(paribus, place, disk, kind) -> None:
    workload = 'kind = "oltp_insert"\ntable_size = 2000\nthreads = [2]\ndata = "keep"'
    running = Running("run", plan_on(place, kind, LIVE[kind], workload, trial='"500ms"'))
    running.wait_for("trial ")
    disk.fill()
    done = running.end()
    assert done.code == 3
    assert "3 trials in a row failed" in done.err
    failed = [one for one in trials() if one.state is TrialState.FAILED]
    assert failed and {one.failure for one in failed} == {FailureClass.LOAD_ERROR}
    words = [one.failure_message or "" for one in failed]
    assert all("No space left on device" in one or "is full" in one for one in words)
    assert all("free space" in one for one in words)
    (place / "data" / "ballast").unlink()
    assert nothing_is_left(place)


def test_a_server_that_hangs_at_its_start_is_a_finding_and_the_rest_goes_on(paribus, place) -> None:
    program = place / "hangs-with-2"
    text = '#!/bin/sh\ncase "$*" in *lock_mode=2*) echo waiting >&2; exec sleep 600;; esac\nexec mariadbd "$@"\n'
    program.write_text(text)
    program.chmod(0o755)
    factors = f'{LIVE["mariadb"]}\n"mysql.innodb_autoinc_lock_mode" = [1, 2]'
    done = paribus("run", plan_on(place, "mariadb", factors, database=f'program = "{program}"\nready = "6s"'))
    assert done.code in RUN_ENDED, done.err
    assert experiment().state is ExperimentState.DONE, done.err
    assert nothing_is_left(place)
    print(done.err)
    hung = [one for one in trials() if one.failure is FailureClass.SETTING_REJECTED]
    assert hung and all(
        "innodb_autoinc_lock_mode = 2: it was not ready within 6 s" in one.failure_message for one in hung
    )
    assert "waiting" in (hung[0].failure_message or "")
    assert [one for one in trials() if "spin_wait_delay" in one.factor and one.state is TrialState.DONE]


def test_a_table_that_is_dropped_under_load_ends_it_and_is_there_again_after_resume(paribus, place) -> None:
    running = Running("run", plan_on(place, "mariadb", LIVE["mariadb"], trial='"500ms"', in_flight="false"))
    running.wait_for("trial ")
    (socket,) = (place / "data").rglob("mysql.sock")
    administrator = MysqlServer(socket=str(socket), user="root", database="mysql")
    sql = Sql(LocalHost(), binary(), SqlJob(database=administrator))
    (named,) = sql.query("SELECT TABLE_SCHEMA FROM information_schema.TABLES WHERE TABLE_NAME = 'sbtest1'").rows
    sql.query(f"DROP TABLE {named[0]}.sbtest1")
    sql.close()
    done = running.end()
    assert done.code == 3
    assert "3 trials in a row failed" in done.err
    assert "sbtest1' doesn't exist" in done.err
    assert nothing_is_left(place)
    failed = [one for one in trials() if one.failure is FailureClass.LOAD_ERROR]
    assert failed and all("sbtest1' doesn't exist" in (one.failure_message or "") for one in failed)
    _is_resumed(place)


@BOTH
def test_a_server_that_is_killed_while_data_is_made_ends_it(paribus, place, kind) -> None:
    running = Running("run", plan_on(place, kind, LIVE[kind], LARGE))
    wait_for(lambda: _rows_come_in(place), "rows come in")
    os.kill(_pid(place), signal.SIGKILL)
    done = running.end()
    assert done.code == 3
    assert any(words in done.err for words in CUT_OFF), done.err
    assert nothing_is_left(place)
    assert paribus("undo").code == 0


def test_a_controller_that_is_killed_while_data_is_made_leaves_no_server_and_is_resumed(paribus, place) -> None:
    workload = 'kind = "oltp_update_index"\ntable_size = 300_000\nthreads = [2]'
    running = Running("run", plan_on(place, "mariadb", LIVE["mariadb"], workload))
    wait_for(lambda: _rows_come_in(place), "rows come in")
    running.signal(signal.SIGKILL)
    running.end()
    wait_for(lambda: not running_below(place), "the server ends")
    assert paribus("undo").code == 0
    _is_resumed(place)


@pytest.mark.parametrize("rate", ["", "\nrate = [20]"], ids=["closed loop", "idle connections"])
@BOTH
def test_a_load_goes_on_when_an_event_has_killed_its_server(place: Path, kind: str, rate: str) -> None:
    """The engine waits until the server answers again, and repeats what was under way, and nothing else."""
    path = Path(plan_on(place, kind, LIVE[kind], f"{OLTP}{rate}", trial='"3s"'))
    event = '[[event]]\nat = "1s"\ndo = "kill-server"\n[[workload]]'
    path.write_text(path.read_text(encoding="utf-8").replace("[[workload]]", event), encoding="utf-8")
    running = Running("run", str(path))
    hurt = trials_with(running, "restarted_per_s")
    assert hurt, [trial.failure_message or trial.invalid_because for trial in trials()]
    assert all(values["outage_s"].mean > 0 and values["reconnects"].mean >= 1 for values in hurt.values())
    assert nothing_is_left(place)
