"""The rows for MegaRAID controllers on a double that prints, takes and refuses what StorCLI's manual says."""

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from command import RUN_ENDED, Running, run_paribus
from processes import keepers_of
from storcli import Storcli

from paribus.lab.store.stores import open_experiment
from paribus.store.read import trials

KNOBS = Path(__file__).parents[3] / "examples" / "knobs"
EXAMPLE = KNOBS / "megaraid.toml"
AS_IT_WAS = {"wrcache": "wb", "rdcache": "ra", "iopolicy": "direct", "rebuildrate": "30", "autobgi": "on"}
KILLS = 60
ONE_OF_MANY = (
    '"raid.rebuild_rate"',
    '"raid.background_initialisation"',
)  # without which a program that hangs costs less
PLAN = """
name = "storcli"
[target]
path = "{path}"
[hold]
"raid.rebuild_rate" = 60
[factors]
"raid.write_policy" = ["WB", "WT"]
"raid.background_initialisation" = ["On", "Off"]
[[workload]]
kind = "fileio"
mode = "rndwr"
files = 1
total_size = "4MiB"
threads = [1]
[protocol]
trial = "200ms"
settle = "10ms"
rounds = 2
margin = "50%"
"""


@pytest.fixture
def plan(tmp_path: Path, storcli: Storcli, as_root: None) -> Callable[[str], str]:
    """A plan with the example's rows beside it."""

    def write(text: str = PLAN) -> str:
        folder = tmp_path / "knobs"
        folder.mkdir(mode=0o755, exist_ok=True)
        (folder / "megaraid.toml").write_text(EXAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
        path = tmp_path / "plan.toml"
        path.write_text(text.format(path=tmp_path), encoding="utf-8")
        return str(path)

    return write


def _invalid_because() -> list[str]:
    """Reasons why trials of the last experiment do not count."""
    store, experiment = open_experiment(None, "last")
    return [str(reason) for trial in trials(store, experiment.id) for reason in trial.invalid_because]


def _is_as_it_was(storcli: Storcli) -> bool:
    return {key: storcli.state.get(key, value) for key, value in AS_IT_WAS.items()} == AS_IT_WAS


@pytest.mark.gate
def test_every_row_is_read_set_and_restored(storcli: Storcli, as_root: None) -> None:
    done = run_paribus("knobs", "check", str(EXAMPLE))
    assert done.code == 0, done.out + done.err
    assert done.out.count("is read, set and restored") == 12
    assert done.out.count("a trial would count now") == 12
    assert _is_as_it_was(storcli)


def test_states_of_drives_tasks_and_battery_are_told(storcli: Storcli, as_root: None) -> None:
    battery = str(KNOBS / "megaraid-battery.toml")
    assert run_paribus("knobs", "check", battery).out.count("a trial would count now") == 4
    storcli.put(rebuild="yes", bgi="yes", media_errors="7", learning="Yes")
    printed = run_paribus("knobs", "check", str(EXAMPLE)).out + run_paribus("knobs", "check", battery).out
    assert "raid.volume_state is Dgrd, and not Optl" in printed
    assert "raid.drives is Onln, Rbld, and not Onln" in printed
    assert "raid.initialisation is In progress, and not Not in progress" in printed
    assert "raid.media_errors: 7: a trial would count now" in printed
    assert "raid.battery is Learning, and not Optimal" in printed
    assert "raid.battery_learning is Yes, and not No" in printed


def test_rows_are_for_the_program_of_dell_too(storcli: Storcli, as_root: None, tmp_path: Path) -> None:
    (storcli.folder / "storcli64").rename(storcli.folder / "perccli64")
    rows = tmp_path / "perc.toml"
    rows.write_text(EXAMPLE.read_text(encoding="utf-8").replace('"storcli64"', '"perccli64"'), encoding="utf-8")
    done = run_paribus("knobs", "check", str(rows))
    assert done.code == 0, done.out + done.err
    assert _is_as_it_was(storcli)


def test_policies_are_compared_and_restored(storcli: Storcli, plan: Callable[..., str]) -> None:
    checked = run_paribus("check", plan())
    assert "the row of raid.write_policy follows a manual" in " ".join(checked.out.split())
    done = run_paribus("run", plan())
    assert done.code in RUN_ENDED, done.err
    assert _is_as_it_was(storcli)


def test_a_volume_that_falls_back_in_a_trial_voids_it_without_a_row_on_the_battery(
    storcli: Storcli, plan: Callable[[str], str]
) -> None:
    path = Path(plan(PLAN.replace("200ms", "3s").replace('["WB", "WT"]', '["WB", "AWB"]')))
    rows = path.with_name("knobs") / "megaraid.toml"
    before, _, after = rows.read_text(encoding="utf-8").partition('["raid.cache_protection"]')
    rows.write_text(before + after[after.index('["raid.volume_state"]') :], encoding="utf-8")  # it is not watched
    running = Running("run", str(path))
    running.wait_for("trial ")
    while not _invalid_because():
        assert running.goes_on()
        time.sleep(1.5)
        storcli.put(capacitor="Failed")
        time.sleep(2.0)
        storcli.put(capacitor="Optimal")
    running.signal(signal.SIGINT)
    assert running.end().code == 130
    assert {reason.partition(" ")[0] for reason in _invalid_because()} == {"raid.write_policy"}
    assert _is_as_it_was(storcli)


def test_write_back_that_the_controller_does_not_do_is_told(storcli: Storcli, plan: Callable[..., str]) -> None:
    storcli.put(wrcache="wt", capacitor="Failed")
    text = PLAN.replace('["WB", "WT"]', '["WT", "WB"]')
    path = Path(plan(text))
    rows = path.with_name("knobs") / "megaraid.toml"
    before, _, after = rows.read_text(encoding="utf-8").partition('["raid.cache_protection"]')
    rows.write_text(before + after[after.index('["raid.volume_state"]') :], encoding="utf-8")  # it is not watched
    done = run_paribus("run", str(path))
    assert "wanted WB, found WT" in " ".join((done.out + done.err + run_paribus("report", "last").out).split())


@pytest.mark.parametrize(
    ("mood", "said"),
    [
        ("another form", "adapt its json or pattern"),
        ("asks", "storcli64"),
        ("refuses", "Controller is busy"),
    ],
)
def test_a_program_that_does_otherwise_is_told_and_nothing_is_left(
    storcli: Storcli, plan: Callable[..., str], mood: str, said: str
) -> None:
    storcli.put(mood=mood)
    done = run_paribus("run", plan())
    assert done.code != 4
    report = run_paribus("report", "last").out if mood == "refuses" else ""
    assert said in done.out + done.err + report
    assert _is_as_it_was(storcli)
    assert run_paribus("undo").code == 0


@pytest.mark.parametrize(
    ("mood", "said"),
    [
        ("another form", "raid.write_policy was ignored: wanted W"),
        ("asks", "no answer"),
        ("refuses", "Controller is busy"),
        ("hangs", "` did not end within 60 s"),
    ],
)
def test_a_program_that_does_otherwise_in_mid_experiment_is_told_and_nothing_is_left(
    storcli: Storcli, plan: Callable[[str], str], mood: str, said: str
) -> None:
    lines = (line for line in PLAN.splitlines(keepends=True) if not line.startswith(("[hold]", *ONE_OF_MANY)))
    running = Running("run", plan("".join(lines).replace("rounds = 2", "rounds = 8")))
    running.wait_for("trial ")
    storcli.put(when_set=mood)
    done = running.end(900.0)
    assert (done.code == 4) is not _is_as_it_was(storcli)  # where it was asked to restore, and did not
    storcli.put(when_set="")
    assert run_paribus("undo").code == 0
    assert said in " ".join((done.out + done.err + run_paribus("report", "last").out).split())
    assert _is_as_it_was(storcli)


def test_a_program_that_hangs_is_told(storcli: Storcli, plan: Callable[..., str]) -> None:
    storcli.put(mood="hangs")
    done = run_paribus("check", plan())
    assert done.code == 2
    assert "did not end within 60 s" in done.err
    assert "run it by hand: it may ask a question" in done.err


def test_a_program_that_is_missing_is_to_be_installed(storcli: Storcli, plan: Callable[..., str]) -> None:
    path = plan()
    (storcli.folder / "storcli64").unlink()
    done = run_paribus("check", path)
    assert done.code == 2
    assert "storcli64" in done.err and "install" in done.err


def test_after_each_of_many_kills_undo_restores_it(storcli: Storcli, plan: Callable[..., str]) -> None:
    moments, path = random.Random(20261128), plan()
    struck = 0
    for number in range(KILLS):
        running = Running("run", path)
        if number % 3:  # most wait until something is set
            while _is_as_it_was(storcli) and running.goes_on():
                time.sleep(0.01)
        time.sleep(moments.uniform(0.0, 2.0))
        struck += not _is_as_it_was(storcli)
        os.kill(running.pid, signal.SIGSTOP)
        if number % 2:
            for keeper in keepers_of(running.pid):
                os.kill(keeper, signal.SIGKILL)
        running.signal(signal.SIGKILL)
        running.end()
        while run_paribus("undo").code != 0:  # until a keeper that lives has restored it
            time.sleep(0.1)
        assert _is_as_it_was(storcli), (number, storcli.state)
    assert struck > KILLS // 3
