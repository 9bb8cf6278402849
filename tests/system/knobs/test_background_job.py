"""A program beside the load: its presence as a factor, its end with the trial, and its failure."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from command import RUN_ENDED, Running, run_paribus

from paribus.lab.store.stores import open_experiment
from paribus.store.read import trials

PLAN = """
name = "job"
[target]
path = "{path}"
[factors]
"event.scrub" = ["off", "on"]
[[event]]
name = "scrub"
at = "0s"
do = "run"
run = {argv}
[[workload]]
kind = "fileio"
mode = "rndrd"
files = 1
total_size = "4MiB"
threads = [1]
[protocol]
trial = "{trial}"
settle = "10ms"
rounds = 2
margin = "50%"
"""
LONG = '["sleep", "{seconds}"]'


@pytest.fixture
def plan(tmp_path: Path) -> Callable[..., str]:
    def write(argv: str, trial: str) -> str:
        path = tmp_path / "plan.toml"
        path.write_text(PLAN.format(path=tmp_path, argv=argv, trial=trial), encoding="utf-8")
        return str(path)

    return write


def _seconds() -> str:
    """An argument of `sleep` that no other process has."""
    return f"{1000 + os.getpid() / 1e7:.7f}"


def _runs(seconds: str) -> bool:
    return subprocess.run(["pgrep", "-f", f"^sleep {seconds}"], capture_output=True, check=False).returncode == 0


@pytest.mark.gate
def test_job_runs_in_trials_with_its_event_and_ends_with_them(plan: Callable[..., str]) -> None:
    seconds = _seconds()
    path = plan(LONG.format(seconds=seconds), "200ms")
    checked = run_paribus("check", path)
    assert f"from the beginning sleep {seconds} runs beside the load, if event.scrub is on" in checked.out
    done = run_paribus("run", path)
    assert done.code in RUN_ENDED, done.err
    assert not _runs(seconds)
    phases = {
        arm["arm"]: {phase["phase"] for phase in arm["phases"]}
        for arm in run_paribus("report", "last", "--format", "json").json["event_phases"]
    }
    assert "beside_job" in phases["on"]
    assert "beside_job" not in phases.get("off", set())


def test_a_program_that_is_ended_at_its_time_counts(plan: Callable[..., str]) -> None:
    path = Path(plan(LONG.format(seconds=_seconds()), "2s"))
    path.write_text(
        path.read_text(encoding="utf-8").replace('do = "run"', 'do = "run"\nuntil = "1s"'), encoding="utf-8"
    )
    running = Running("run", str(path))
    lines = [running.wait_for("trial ") for _ in range(4)]  # of both arms
    assert not any("sleep ended" in line for line in lines), lines
    running.signal(signal.SIGINT)
    assert running.end().code == 130


def test_job_ends_when_the_controller_is_killed(plan: Callable[..., str]) -> None:
    seconds = _seconds()
    running = Running("run", plan(LONG.format(seconds=seconds), "5s"))
    while not _runs(seconds):
        assert running.goes_on()
        time.sleep(0.05)
    os.kill(running.pid, signal.SIGKILL)
    running.end()
    while _runs(seconds):
        time.sleep(0.05)
    assert run_paribus("undo").code == 0


def test_a_program_that_fails_voids_its_trials(plan: Callable[..., str]) -> None:
    running = Running("run", plan('["ls", "/no such file"]', "200ms"))
    running.wait_for("trial ")
    running.end(300.0)
    store, experiment = open_experiment(None, "last")
    reasons = {
        (trial.settings["event.scrub"], reason)
        for trial in trials(store, experiment.id)
        for reason in trial.invalid_because
    }
    assert any(level == "ON" and "ls ended with exit code 2: ls: cannot access" in reason for level, reason in reasons)
    assert not any(level == "OFF" and "ls ended" in reason for level, reason in reasons)


def test_data_that_an_event_damages_voids_its_trials(plan: Callable[..., str], tmp_path: Path) -> None:
    """The load writes too little to hide the damage. Each application makes its data anew."""
    damage = ["find", f"{tmp_path}/paribus-data", "-type", "f", "-size", "+3M", "-exec"]
    damage += ["dd", "if=/dev/zero", "of={}", "bs=4096", "count=1", "seek=9", "conv=notrunc", "status=none", ";"]
    path = Path(plan(json.dumps(damage), "200ms"))
    text = path.read_text(encoding="utf-8").replace("[protocol]", 'verify = true\ndata = "application"\n[protocol]')
    path.write_text(text.replace('"rndrd"', '"rndwr"\nrate = [20]'), encoding="utf-8")
    running = Running("run", str(path))
    running.wait_for("trial ")
    running.end(300.0)
    store, experiment = open_experiment(None, "last")
    found = [
        (trial.settings["event.scrub"], "; ".join(trial.invalid_because)) for trial in trials(store, experiment.id)
    ]
    assert any(level == "ON" and "the data is damaged after the load" in reasons for level, reasons in found)
    assert not any(level == "OFF" and "damaged" in reasons for level, reasons in found)
