"""A drive of a controller's volume that events let fail, on a double that takes it offline and rebuilds it."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from command import RUN_ENDED, Running, run_paribus
from processes import keepers_of
from storcli import Storcli

from paribus.errors import ParibusError
from paribus.lab.store.stores import open_experiment
from paribus.model import Trial
from paribus.store.read import trials
from paribus.store.read_measurements import summaries

EXAMPLE = Path(__file__).parents[3] / "examples" / "knobs" / "megaraid.toml"
NEEDED = ("raid.rebuild_rate", "raid.volume_state", "raid.drives", "raid.drive_252_3")
ROWS = "\n\n".join(
    row for row in EXAMPLE.read_text(encoding="utf-8").split("\n\n") if any(f'["{name}"]\n' in row for name in NEEDED)
)
KILLS = 30
PLAN = """
name = "drive"
[target]
path = "{path}"
may_fail = ["raid.drive_252_3"]
[factors]
"raid.rebuild_rate" = [30, 60]
[[event]]
at = 0
do = "fail-member"
disk = "raid.drive_252_3"
[[event]]
at = "1s"
do = "replace"
[[workload]]
kind = "fileio"
mode = "rndwr"
files = 1
total_size = "4MiB"
threads = [1]
[protocol]
trial = "3s"
settle = "100ms"
rounds = 2
"""


@pytest.fixture
def plan(tmp_path: Path, storcli: Storcli, as_root: None) -> Callable[[str], str]:
    """A plan with the example's rows beside it."""

    def write(text: str = PLAN, rows: str = ROWS) -> str:
        folder = tmp_path / "knobs"
        folder.mkdir(mode=0o755, exist_ok=True)
        (folder / "megaraid.toml").write_text(rows, encoding="utf-8")
        path = tmp_path / "plan.toml"
        path.write_text(text.format(path=tmp_path), encoding="utf-8")
        return str(path)

    return write


def _state(storcli: Storcli) -> str:
    """The state of the drive now, as the program prints it."""
    shown = subprocess.run(
        [storcli.folder / "storcli64", "/c0/e252/s3", "show"], check=True, stdout=subprocess.PIPE, text=True
    )
    return next(line.split()[2] for line in shown.stdout.splitlines() if line.startswith("252:3"))


def _ended() -> list[Trial]:
    """Trials of the last experiment that are over."""
    try:
        store, experiment = open_experiment(None, "last")
    except ParibusError:
        return []
    return [trial for trial in trials(store, experiment.id) if trial.ended]


@pytest.mark.gate
def test_a_drive_fails_and_is_rebuilt_in_every_trial(storcli: Storcli, plan: Callable[[], str]) -> None:
    checked = run_paribus("check", plan())
    assert checked.code == 0, checked.err
    assert "raid.drive_252_3 fails in every trial" in " ".join(checked.out.split())
    storcli.put(rebuild_s="0")
    running = Running("run", plan())
    while len(_ended()) < 2:
        assert running.goes_on()
        time.sleep(0.1)
    running.signal(signal.SIGINT)
    assert running.end().code in (130, 4)  # 4 where a drive is rebuilt just then
    while run_paribus("undo").code != 0:
        time.sleep(0.1)
    assert not [trial for trial in _ended()[:2] if trial.invalid_because or trial.failure]
    store, experiment = open_experiment(None, "last")
    measured = summaries(store, experiment.id)
    assert all({"event_1_s", "event_2_s", "rebuild_s"} <= measured[trial.order].keys() for trial in _ended()[:2])
    assert _state(storcli) == "Onln"


def test_a_drive_that_no_event_replaces_is_rebuilt_after_the_trial(storcli: Storcli, plan: Callable[..., str]) -> None:
    text = PLAN.replace('[[event]]\nat = "1s"\ndo = "replace"\n', "")
    done = run_paribus("run", plan(text))
    assert done.code in RUN_ENDED, done.err
    assert _state(storcli) == "Onln"


def test_an_interrupt_begins_the_rebuild_and_says_that_it_goes_on(storcli: Storcli, plan: Callable[[], str]) -> None:
    storcli.put(rebuild_s="30")
    running = Running("run", plan())
    while storcli.state.get("drive") != "Offln":
        assert running.goes_on()
        time.sleep(0.05)
    running.signal(signal.SIGINT)
    ended = running.end()
    assert ended.code == 4
    assert "raid.drive_252_3" in ended.err and "Rbld" in ended.err
    assert run_paribus("undo").code == 4
    storcli.put(rebuilt="0")
    assert run_paribus("undo").code == 0
    assert _state(storcli) == "Onln"


def test_a_killed_experiment_leaves_a_drive_that_is_rebuilt(storcli: Storcli, plan: Callable[[], str]) -> None:
    running = Running("run", plan())
    while storcli.state.get("drive") != "Offln":
        assert running.goes_on()
        time.sleep(0.05)
    for keeper in keepers_of(running.pid):
        os.kill(keeper, signal.SIGKILL)
    running.signal(signal.SIGKILL)
    running.end()
    assert storcli.state["drive"] == "Offln"
    run_paribus("undo")
    while _state(storcli) != "Onln":
        assert _state(storcli) in ("Rbld", "Onln")
    assert run_paribus("undo").code == 0


def test_after_each_of_many_kills_undo_brings_the_drive_back(storcli: Storcli, plan: Callable[[], str]) -> None:
    moments, path = random.Random(20261130), plan()
    storcli.put(rebuild_s="1")
    struck = 0
    for number in range(KILLS):
        running = Running("run", path)
        while storcli.state.get("drive") == "Onln" and running.goes_on():
            time.sleep(0.01)
        time.sleep(moments.uniform(0.0, 4.0))
        struck += _state(storcli) != "Onln"
        os.kill(running.pid, signal.SIGSTOP)
        if number % 2:
            for keeper in keepers_of(running.pid):
                os.kill(keeper, signal.SIGKILL)
        running.signal(signal.SIGKILL)
        running.end()
        while run_paribus("undo").code != 0:  # until it is rebuilt
            time.sleep(0.1)
        assert _state(storcli) == "Onln", (number, storcli.state)
        storcli.put(drive="Onln")
    assert struck > KILLS // 4


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('may_fail = ["raid.drive_252_3"]', "", "target.may_fail"),
        ('may_fail = ["raid.drive_252_3"]', 'may_fail = ["raid.other"]', "target.may_fail"),
        ('do = "fail-member"', 'do = "error"', "error is of a layout"),
        (
            'at = "1s"\ndo = "replace"',
            'at = "1s"\ndo = "fail-member"\ndisk = "raid.drive_252_3"',
            "failed before",
        ),
    ],
)
def test_failures_that_a_plan_does_not_allow_are_refused(
    plan: Callable[..., str], old: str, new: str, words: str
) -> None:
    checked = run_paribus("check", plan(PLAN.replace(old, new)))
    assert checked.code == 2
    assert words in " ".join(checked.err.split())


def test_a_drive_fails_only_while_its_volume_is_watched_and_whole(storcli: Storcli, plan: Callable[..., str]) -> None:
    unwatched = ROWS.replace('["raid.drives"]', '["raid.other_drives"]')
    assert "which is not watched" in " ".join(run_paribus("check", plan(PLAN, unwatched)).err.split())
    storcli.put(drive="Offln")
    checked = run_paribus("check", plan())
    assert checked.code == 2
    assert "no trial would count now" in checked.err or "raid.drive_252_3 is Offln" in checked.err
