"""The user's own tools as loads: real sysbench, real fio, and a program that only prints a rate."""

import os
import signal
import time
from pathlib import Path

import pytest
from command import PYTHON, RUN_ENDED, Running
from ssh_target import SshTarget

from paribus.model import Measurement, TrialState
from paribus.store import read as stored
from paribus.store.open import open_engine, store_url

PLAN = """
name = "tools"
[target]
path = "{path}"
[factors]
"process.load.nofile" = ["default", 512]
[[workload]]
name = "mine"
{workload}
[protocol]
trial  = "{trial}"
settle = "{settle}"
rounds = 2
margin = "50%"
placebo = false
"""
# Keeps how many files it may open, which is the factor, and prints a rate; leaves a file in its folder.
SCRIPT = """
import os, resource, sys, time
open(f"run-{os.getpid()}", "w").close()
time.sleep(float(sys.argv[1]))
with open(f"{__file__}.limits", "a") as told:
    print(resource.getrlimit(resource.RLIMIT_NOFILE)[0], file=told)
print("rate:", 1000, "p95:", 2.5)
"""
COMMAND = """
kind = "command"
run = ["{python}", "{script}", "{{seconds}}", "{{directory}}"]
throughput = 'rate: (?P<value>[0-9]+)'
response_p95 = 'p95: (?P<value>[0-9.]+)'
"""
SYSBENCH = """
kind = "sysbench"
test = "fileio"
prepare = true
options = { file-total-size = "4M", file-num = 2, file-test-mode = "rndrw", file-fsync-freq = 0 }
"""
FIO = """
kind = "fio"
options = { rw = "randrw", size = "4M", bs = "4k", ioengine = "libaio" }
threads = [2]
"""


def _plan(tmp_path: Path, workload: str, trial: str = "200ms", settle: str = "10ms") -> str:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN.format(path=tmp_path, workload=workload, trial=trial, settle=settle))
    return str(path)


def _command(tmp_path: Path, script: str = SCRIPT) -> str:
    path = tmp_path / "load.py"
    path.write_text(script)
    return COMMAND.format(python=PYTHON, script=path)


def _measured(state: TrialState = TrialState.DONE) -> list[dict[str, Measurement]]:
    store = open_engine(store_url(None), create=False)
    try:
        experiment = stored.find(store, "last").id
        done = {trial.order for trial in stored.trials(store, experiment) if trial.state is state}
        return [found for order, found in stored.summaries(store, experiment).items() if order in done]
    finally:
        store.dispose()


def test_a_command_is_judged_and_leaves_nothing(paribus, tmp_path: Path) -> None:
    plan = _plan(tmp_path, _command(tmp_path))
    checked = paribus("check", plan)
    assert checked.code == 0, checked.err
    assert f"load.py 0.2 {tmp_path}/paribus-data/" in checked.out
    done = paribus("run", plan)
    assert done.code in RUN_ENDED, done.err
    assert "process.load.nofile" in done.out
    measured = _measured()
    assert {one["throughput_per_s"].mean for one in measured} == {1000}
    assert {one["response_p95_s"].mean for one in measured} == {0.0025}
    assert {"512"} < set((tmp_path / "load.py.limits").read_text().split())
    assert not (tmp_path / "paribus-data").exists()


def test_fio_is_judged(paribus, tmp_path: Path) -> None:
    done = paribus("run", _plan(tmp_path, FIO))
    assert done.code in RUN_ENDED, done.err
    measured = _measured()
    assert measured
    assert all(
        one["bytes_per_s"].mean == pytest.approx(4096 * one["throughput_per_s"].mean, rel=0.05) for one in measured
    )
    assert all(one["response_p95_s"].mean < 1 for one in measured)
    assert not (tmp_path / "paribus-data").exists()


@pytest.mark.root
@pytest.mark.usefixtures("as_root")
def test_a_tool_over_ssh_is_judged_and_leaves_nothing(paribus, tmp_path: Path, target: SshTarget) -> None:
    plan = _plan(tmp_path, _command(tmp_path))
    done = paribus("run", plan, "--set", f"target.host={target.address}")
    assert done.code in RUN_ENDED, done.err
    assert {one["throughput_per_s"].mean for one in _measured()} == {1000}
    assert {"512"} < set((tmp_path / "load.py.limits").read_text().split())
    assert not (tmp_path / "paribus-data").exists()
    assert not target.engines()


def test_sysbench_counts_its_seconds(tmp_path: Path) -> None:
    running = Running("run", _plan(tmp_path, SYSBENCH, trial="2s", settle="1s"))
    running.wait_for("trial 5")
    running.signal(signal.SIGINT)
    assert running.end().code == 130
    measured = _measured() or _measured(TrialState.INVALID)
    assert all(one["throughput_per_s"].n == 2 for one in measured)
    assert all(one["bytes_per_s"].mean > 0 for one in measured)
    assert not (tmp_path / "paribus-data").exists()


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("import sys; sys.exit('no database there')", "exit code 1: no database there"),
        ("import os; os.kill(os.getpid(), 11)", "ended with signal 11"),
        ("print('all is well')", "has nothing that matches rate"),
    ],
)
def test_a_tool_that_fails_is_told(paribus, tmp_path: Path, script: str, words: str) -> None:
    done = paribus("run", _plan(tmp_path, _command(tmp_path, script)))
    assert done.code == 3
    assert words in done.err
    assert not (tmp_path / "paribus-data").exists()


def test_a_tool_that_is_not_there_is_a_problem_of_the_plan(paribus, tmp_path: Path) -> None:
    workload = 'kind = "command"\nrun = ["no-such-tool"]\nthroughput = "(?P<value>.)"'
    done = paribus("check", _plan(tmp_path, workload))
    assert done.code == 2
    assert "has no program 'no-such-tool'" in done.err


def test_a_killed_controller_leaves_no_tool(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    script = (
        f"import os, subprocess, time\nchild = subprocess.Popen(['sleep', '1000'], start_new_session=True)\n"
        f"open('{pid_file}.new', 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
        f"os.rename('{pid_file}.new', '{pid_file}')\ntime.sleep(1000)"
    )
    running = Running("run", _plan(tmp_path, _command(tmp_path, script), trial="300s"))
    deadline = time.monotonic() + 30
    while not pid_file.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    pids = [int(word) for word in pid_file.read_text().split()]
    assert all(_is_there(pid) for pid in pids)
    running.signal(signal.SIGKILL)
    running.end()
    while any(_is_there(pid) for pid in pids):
        assert time.monotonic() < deadline + 30
        time.sleep(0.05)


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
