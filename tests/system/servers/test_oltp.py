"""Experiments on real databases: settings live, by restart and with data of their own; faults; nothing left."""

import contextlib
import os
import signal
import subprocess
import time

import pytest
from command import RUN_ENDED, Running
from served import changes, experiment, nothing_is_left, plan_on, running_below, trials

from paribus.model import ChangeState, ExperimentState, FailureClass, Trial, TrialState

LIVE = {
    "sqlite": '"sqlite.journal_mode" = ["delete", "wal"]',
    "mariadb": '"mysql.innodb_spin_wait_delay" = [4, 8]',
    "postgres": '"postgres.work_mem" = ["4MB", "64kB"]',
}
BUILT_IN_OR_BY_RESTART = {
    "sqlite": '"sqlite.page_size" = [4096, 16384]',
    "mariadb": '"mysql.innodb_page_size" = [16384, 4096]',
    "postgres": '"postgres.shared_buffers" = ["16MB", "32MB"]',
}
REFUSED = {
    "sqlite": ('"sqlite.no_such_pragma" = ["default", 1]', "no pragma no_such_pragma"),
    "mariadb": ('"mysql.innodb_data_file_path" = ["ibdata1:12M:autoextend", "nonsense"]', "would not start with"),
    "postgres": ('"postgres.max_wal_size" = ["1GB", "1kB"]', "max_wal_size"),
}


def _was_starved(trial: Trial) -> bool:
    """Whether a busy machine let the load do nothing in a short trial.

    Its block is run again, but for that of an arm which is refused.
    """
    return trial.failure is FailureClass.NO_DATA


@pytest.mark.parametrize("kind", [pytest.param("sqlite", marks=pytest.mark.gate), "mariadb", "postgres"])
def test_settings_are_compared_what_is_refused_is_a_finding_and_nothing_is_left(paribus, place, kind: str) -> None:
    factor, words = REFUSED[kind]
    done = paribus("run", plan_on(place, kind, "\n".join((LIVE[kind], BUILT_IN_OR_BY_RESTART[kind], factor))))
    assert done.code in RUN_ENDED, done.err
    assert experiment().state is ExperimentState.DONE, done.err
    assert nothing_is_left(place)
    found = trials()
    made = [one for one in found if one.state is TrialState.DONE]
    assert {one.factor for one in made} >= {key.split('"')[1] for key in (LIVE[kind], BUILT_IN_OR_BY_RESTART[kind])}
    assert all(one.failure is None for one in made)
    failed = [one for one in found if one.failure and not _was_starved(one)]
    assert failed and {one.failure for one in failed} == {FailureClass.SETTING_REJECTED}
    assert all(words in one.failure_message for one in failed)
    document = paribus("report", "--format", "json").json
    assert {row["metric"] for row in document["cells"]} >= {"throughput_per_s", "queries_per_s", "response_p95_s"}


@pytest.mark.parametrize(
    ("kind", "text", "name"),
    [
        pytest.param(
            "mariadb", "[mysqld]\nmax-connections=77\nport=3306\nloose-x=1\ny=1\n", "mysql", marks=pytest.mark.gate
        ),
        ("postgres", "max_connections = 77\nport = 5432\nDateStyle = 'ISO, MDY'\ny = 1\n", "postgres"),
    ],
)
def test_a_servers_own_file_is_in_force_in_every_trial(paribus, place, kind, text, name) -> None:
    (place / "server.cnf").write_text(text)
    database = f'config = "{place}/server.cnf"'
    path = plan_on(place, kind, LIVE[kind], database=database, method='"fixed"', seed=1)
    done = paribus("run", path)
    assert done.code in RUN_ENDED, done.err
    assert "server.cnf:" in done.err and "y is not held" in done.err
    held = [change for made in changes().values() for change in made if change.knob == f"{name}.max_connections"]
    assert held and {(str(each.observed), each.state) for each in held} == {("77", ChangeState.VERIFIED)}
    assert nothing_is_left(place)


@pytest.mark.parametrize(
    ("kind", "factors", "words"),
    [
        ("mariadb", '"mysql.innodb_adaptive_checkpoint" = [0, 1]', "innodb_adaptive_checkpoint"),
        ("mariadb", '"mysql.innodb_io_capasity" = [200, 2000]', "did you mean 'mysql.innodb_io_capacity'"),
        ("mariadb", '"mysql.innodb_io_capacity" = [200, 1]', "1 is below 100"),
        ("mariadb", '"mysql.innodb_flush_method" = ["fsync", "magic"]', "'magic' is none of"),
        ("postgres", '"postgres.block_size" = [8192, 4096]', "cannot be set"),
    ],
)
def test_the_server_itself_says_what_a_plan_may_ask(paribus, place, kind, factors, words) -> None:
    done = paribus("check", plan_on(place, kind, factors))
    assert done.code == 2
    assert words in done.err
    assert nothing_is_left(place)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mysql.innodb_io_capacity", "from 100 to"),
        ("postgres.synchronous_commit", "remote_apply"),
    ],
)
def test_a_server_is_asked_for_a_variable(paribus, place, name: str, words: str) -> None:
    shown = paribus("knobs", "show", name, "--path", f"{place}/data")
    assert shown.code == 0, shown.err
    assert words in shown.out
    unknown = paribus("knobs", "show", f"{name}s", "--path", f"{place}/data")
    assert unknown.code == 2
    assert name.partition(".")[2] in unknown.err
    assert nothing_is_left(place)
    assert name.partition(".")[0] + ".*" in paribus("knobs", "list").out


def test_a_controller_that_is_killed_leaves_no_server_and_resume_ends_it(paribus, place) -> None:
    running = Running("run", plan_on(place, "mariadb", LIVE["mariadb"]))
    running.wait_for("trial ")
    server = running_below(place)
    assert any("mariadbd" in line for line in server)
    running.signal(signal.SIGKILL)
    running.end()
    deadline = time.monotonic() + 60
    while running_below(place) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not running_below(place)
    assert paribus("undo").code == 0
    done = paribus("resume", "last")
    assert done.code in RUN_ENDED, done.err
    assert experiment().state is ExperimentState.DONE, done.err
    assert nothing_is_left(place)


def test_a_server_that_dies_under_load_costs_a_trial_and_comes_again(paribus, place) -> None:
    running = Running("run", plan_on(place, "mariadb", LIVE["mariadb"], trial='"300ms"', in_flight="false"))
    running.wait_for("trial ")
    costs = (FailureClass.LOAD_ERROR, FailureClass.SERVER_WOULD_NOT_START)
    while running.goes_on() and not any(one.failure in costs for one in trials()):  # a kill between trials costs none
        listed = subprocess.run(["pgrep", "--full", f"mariadbd.*{place}"], capture_output=True, text=True, check=False)
        for pid in listed.stdout.split()[:1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        time.sleep(0.5)
    done = running.end(timeout_s=240)
    assert done.code in RUN_ENDED, done.err
    assert experiment().state is ExperimentState.DONE, done.err
    assert nothing_is_left(place)
    assert any(one.failure in costs for one in trials())
    assert any(one.state is TrialState.DONE and one.order > 4 for one in trials())
