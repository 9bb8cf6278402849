"""Knobs of the user, whose values a program prints and sets: a RAID controller's, here a double with a state."""

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import PYTHON, RUN_ENDED, Done, Running, run_paribus
from processes import keepers_of

from paribus.lab.store.stores import open_experiment
from paribus.model import ChangeState
from paribus.store.read import changes, trials

DOUBLE = Path(__file__).parents[2] / "doubles" / "controller.py"
ROWS = """
["raid.write_policy"]
get = ["{program}", "show"]
json = "/Controllers/0/Policy/Write Cache"
set = ["{program}", "set", "wrcache={{value}}"]
levels = ["WT", "WB", "AWB"]
written = {{ WT = "wt", WB = "wb", AWB = "awb" }}
summary = "Write cache of the controller"
danger = "data_loss"
documentation = "WB loses what is in the cache where power fails and there is no battery."

[raid.rebuild_rate]
get = ["{program}", "rate"]
pattern = "Rebuild Rate : ([0-9]+) %"
set = ["{program}", "set", "rate={{value}}"]
minimum = 0
maximum = 100
unit = "%"
summary = "Share of the controller's time for a rebuild"
"""
HEALTH = """
["raid.battery"]
get = ["{program}", "show"]
json = "/Controllers/0/Battery"
sound = ["Optimal"]
summary = "The battery of the controller's memory"
"""
PLAN = """
name = "controller"
[target]
path = "{path}"
[hold]
"raid.rebuild_rate" = 60
[factors]
"raid.write_policy" = ["WT", "WB"]
[[workload]]
kind = "fileio"
mode = "rndwr"
files = 1
total_size = "4MiB"
threads = [1]
[protocol]
trial = "50ms"
settle = "10ms"
rounds = 2
margin = "50%"
"""


@pytest.fixture
def controller(tmp_path: Path) -> Path:
    """The program of a controller of this test, with its state beside it."""
    program = tmp_path / "controller.py"
    _, _, text = DOUBLE.read_text(encoding="utf-8").partition("\n")
    program.write_text(f"#!{PYTHON} -IS\n{text}", encoding="utf-8")
    program.chmod(0o755)
    return program


def _state(controller: Path) -> dict[str, Any]:
    state = controller.with_suffix(".json")
    return json.loads(state.read_text()) if state.exists() else {}


@pytest.fixture
def plan(tmp_path: Path, controller: Path, as_root: None) -> Callable[..., str]:
    """A plan with a folder of knobs beside it."""

    def write(rows: str = ROWS, text: str = PLAN) -> str:
        folder = tmp_path / "knobs"
        folder.mkdir(mode=0o755, exist_ok=True)
        (folder / "raid.toml").write_text(rows.format(program=controller), encoding="utf-8")
        path = tmp_path / "plan.toml"
        path.write_text(text.format(path=tmp_path), encoding="utf-8")
        return str(path)

    return write


@pytest.mark.gate
def test_a_setting_of_a_controller_is_compared_and_restored(plan: Callable[..., str], controller: Path) -> None:
    checked = run_paribus("check", plan())
    assert checked.code == 0, checked.err
    assert f"set:  {controller} set wrcache=wb" in checked.out
    assert f"undo: {controller} set wrcache=wt" in checked.out
    done = run_paribus("run", plan())
    assert done.code in RUN_ENDED, done.err
    store, experiment = open_experiment(None, "last")
    found = changes(store, experiment.id)
    assert {(change.knob, change.observed) for _, change in found} == {
        ("raid.rebuild_rate", 60),
        ("raid.write_policy", "WT"),
        ("raid.write_policy", "WB"),
    }
    assert {change.state for _, change in found} == {ChangeState.VERIFIED}
    assert _state(controller) == {"wrcache": "wt", "rdcache": "ra", "rate": 30, "battery": "Optimal"}


@pytest.mark.parametrize("fault", [pytest.param("controller and keeper", marks=pytest.mark.gate), "interruption"])
def test_setting_is_restored_after_a_kill_and_the_experiment_resumes(
    plan: Callable[..., str], controller: Path, fault: str
) -> None:
    running = Running("run", plan(text=PLAN.replace("50ms", "300ms")))
    running.wait_for("trial ")
    while _state(controller).get("rate") != 60:
        assert running.goes_on()
    if fault == "interruption":
        running.signal(signal.SIGINT)
        assert running.end().code == 130
    else:
        keepers = keepers_of(running.pid)
        assert keepers
        os.kill(running.pid, signal.SIGSTOP)
        for keeper in keepers:
            os.kill(keeper, signal.SIGKILL)
        os.kill(running.pid, signal.SIGKILL)
        running.end()
        assert _state(controller)["rate"] == 60
        undone = run_paribus("undo")
        assert undone.code == 0, undone.err
    assert (_state(controller)["rate"], _state(controller)["wrcache"]) == (30, "wt")
    (controller.parent / "knobs" / "raid.toml").unlink()  # the experiment has its own copy
    assert run_paribus("resume", "last").code in RUN_ENDED
    assert (_state(controller)["rate"], _state(controller)["wrcache"]) == (30, "wt")


def test_a_value_that_falls_back_is_told(plan: Callable[..., str], controller: Path) -> None:
    state = {"wrcache": "wt", "battery": "Learning"}
    controller.with_suffix(".json").write_text(json.dumps(state))
    done = run_paribus("run", plan())
    assert "raid.write_policy" in done.out + done.err
    report = run_paribus("report", "last").out
    assert "raid.write_policy = WB" in report
    assert "WT" in report
    assert _state(controller)["wrcache"] == "wt"


def test_rows_are_tried(plan: Callable[..., str], controller: Path) -> None:
    plan()
    file = str(controller.parent / "knobs" / "raid.toml")
    done = run_paribus("knobs", "check", file)
    assert done.code == 0, done.out + done.err
    assert "raid.write_policy: WT → WB → WT: is read, set and restored" in done.out
    assert "raid.rebuild_rate: 30 → 0 → 30: is read, set and restored" in done.out
    plan(ROWS.replace('WB = "wb"', 'WB = "bw"').replace("Rebuild Rate : ", "Rate of Rebuild : "))
    wrong = run_paribus("knobs", "check", file)
    assert wrong.code == 1
    assert "syntax error, unexpected wrcache=bw" in wrong.out
    assert "raid.rebuild_rate: not read: " in wrong.out


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (ROWS.replace('get = ["{program}", "show"]', 'get = "{program} show"'), "get"),
        (ROWS.replace('json = "/Controllers/0/Policy/Write Cache"', ""), "write either json"),
        (ROWS.replace("wrcache={{value}}", "wrcache=wb"), "set has no {value}"),
        (ROWS.replace("minimum = 0\nmaximum = 100", ""), "name its levels"),
        (ROWS.replace("([0-9]+)", "[0-9]+"), "has no group"),
        (ROWS.replace('"raid.write_policy"', '"block.scheduler"'), "block.scheduler is a knob of Paribus"),
        (ROWS.replace('"raid.write_policy"', '"policy"'), "no name of a knob"),
        (ROWS + "\nsurplus = 1", "surplus"),
        ("[", "raid.toml"),
    ],
)
def test_nonsense_is_told_with_its_file(plan: Callable[..., str], rows: str, said: str) -> None:
    done = run_paribus(
        "check",
        plan(
            rows.replace("{program}", "/bin/true")
            .replace("{{", "{")
            .replace("}}", "}")
            .replace("{", "{{")
            .replace("}", "}}")
        ),
    )
    assert done.code == 2
    assert said in done.err
    assert "raid.toml" in done.err or "knob of Paribus" in done.err


def test_a_file_that_others_may_write_is_not_read(plan: Callable[..., str], controller: Path) -> None:
    path = plan()
    (controller.parent / "knobs" / "raid.toml").chmod(0o666)
    done: Done = run_paribus("check", path)
    assert done.code == 2
    assert "can be written by" in done.err


def test_a_plan_may_have_knobs_itself(plan: Callable[..., str], controller: Path) -> None:
    rows = ROWS.replace('["raid', '[knob."raid').replace("[raid.rebuild_rate]", '[knob."raid.rebuild_rate"]')
    text = PLAN + rows.replace("{program}", str(controller))
    done = run_paribus("check", plan("", text))
    assert done.code == 0, done.err
    assert f"set:  {controller} set wrcache=wb" in done.out


def _set_battery(controller: Path, state: str) -> None:
    part = controller.with_suffix(".part")
    part.write_text(state)
    part.replace(controller.with_suffix(".battery"))


def test_a_battery_that_falls_back_voids_the_trials_in_which_it_does(
    plan: Callable[..., str], controller: Path
) -> None:
    rows = ROWS + HEALTH
    running = Running("run", plan(rows, PLAN.replace("50ms", "2s").replace("rounds = 2", "rounds = 8")))
    told = running.wait_for("trial ")
    while not (told.startswith("trial ") and "raid.battery is Learning" in told):
        time.sleep(1.0)
        _set_battery(controller, "Learning")
        told = running.wait_for("trial ", "waiting until trials count again")  # where a trial begins only now, it waits
        _set_battery(controller, "Optimal")
    while not running.wait_for("trial ").rstrip().endswith(": done"):
        assert running.goes_on()
    running.signal(signal.SIGINT)
    assert running.end().code == 130
    [battery] = run_paribus("report", "last", "--format", "json").json["health"]
    assert battery["name"] == "raid.battery"
    store, experiment = open_experiment(None, "last")
    voided = [
        trial.order
        for trial in trials(store, experiment.id)
        if "raid.battery is Learning, and not Optimal" in trial.invalid_because
    ]
    assert voided == battery["voided"] != []


def test_a_battery_that_is_not_well_is_told_before_anything_is_changed(
    plan: Callable[..., str], controller: Path
) -> None:
    _set_battery(controller, "Failed")
    done = run_paribus("check", plan(ROWS + HEALTH))
    assert done.code == 2
    assert "no trial would count now: raid.battery is Failed, and not Optimal" in done.err
    _set_battery(controller, "Optimal")
    assert "watched in every trial: raid.battery" in run_paribus("check", plan(ROWS + HEALTH)).out
    file = str(controller.parent / "knobs" / "raid.toml")
    assert "raid.battery: Optimal: a trial would count now" in run_paribus("knobs", "check", file).out


def test_doctor_tells_the_states_of_the_users_rows(
    controller: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "paribus" / "knobs"
    folder.mkdir(parents=True, mode=0o755)
    (folder / "raid.toml").write_text(HEALTH.format(program=controller), encoding="utf-8")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    _set_battery(controller, "Charging")
    conditions = {each["name"]: each for each in run_paribus("doctor", "--json").json["conditions"]}
    assert conditions["raid.battery"]["fitness"] == "unfit"
    assert "raid.battery is Charging, and not Optimal" in conditions["raid.battery"]["found"]
