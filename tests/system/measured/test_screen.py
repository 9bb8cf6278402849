"""Many factors in the same trials on a real machine, and what they show tried alone; settling seen before all."""

import signal
from collections import Counter
from pathlib import Path

import pytest
from command import RUN_ENDED, Running

from paribus.model import Purpose, Tag, Trial, TrialState, Verdict
from paribus.store import read
from paribus.store.open import open_engine, store_url

SWAPPINESS = Path("/proc/sys/vm/swappiness")
FOUR = '"fileio.fsync_every" = [100, 1]\n"fileio.distribution" = ["uniform", "zipf"]\n'
FOUR += '"fileio.read_write_ratio" = [1.5, 1.6]\n"vm.swappiness" = ["current", 33]'
EIGHT_ROUNDS = {"trial": "30ms", "threads": "[4]"}


def _screening(plan, **kind: str) -> str:
    path = Path(plan(FOUR, **EIGHT_ROUNDS))
    path.write_text(path.read_text().replace("rounds = 2", "rounds = 8"))
    return str(path)


def _trials() -> list[Trial]:
    store = open_engine(store_url(None), create=False)
    found = read.trials(store, read.find(store, "last").id)
    store.dispose()
    return found


def _confirmed(trials: list[Trial]) -> set[str]:
    return {trial.factor for trial in trials if trial.purpose is Purpose.CONFIRM}


@pytest.mark.root
@pytest.mark.usefixtures("as_root")
def test_only_effects_of_a_screen_are_tried_alone(paribus, plan) -> None:
    before = SWAPPINESS.read_text()
    done = paribus("run", _screening(plan))
    assert done.code in RUN_ENDED, done.err
    assert SWAPPINESS.read_text() == before
    assert "the screen shows an effect of" in done.err
    trials = _trials()
    assert "fileio.fsync_every" in _confirmed(trials)
    assert len(_confirmed(trials)) < 4
    screened = [t for t in trials if t.purpose is Purpose.SCREEN and t.state is TrialState.DONE]
    assert {t.settings["vm.swappiness"] for t in screened} == {int(before), 33}
    effects = {effect["factor"]: effect for effect in paribus("report", "--format", "json").json["effects"]}
    assert set(effects) == {"fileio.fsync_every", "fileio.distribution", "fileio.read_write_ratio", "vm.swappiness"}
    fsync = effects["fileio.fsync_every"]
    assert fsync["verdict"] == Verdict.WORSE
    assert any("before, a screen showed" in reason for reason in fsync["reasons"])
    assert all("not confirmed" not in reason for reason in fsync["reasons"])
    assert Tag.MATERIAL in fsync["tags"] or fsync["percent"]["high"] > -50


@pytest.mark.root
@pytest.mark.usefixtures("as_root")
def test_a_confirmation_that_was_cut_off_goes_on_as_it_was_planned(paribus, plan) -> None:
    before = SWAPPINESS.read_text()
    running = Running("run", _screening(plan))
    running.wait_for("the screen shows an effect of")
    running.wait_for("trial 1", "trial 2")
    running.signal(signal.SIGKILL)
    running.end()
    cut = _trials()
    planned = [trial.order for trial in cut if trial.purpose is Purpose.CONFIRM]
    assert planned
    paribus("undo")
    assert SWAPPINESS.read_text() == before
    resumed = paribus("resume")
    assert resumed.code in RUN_ENDED, resumed.err
    trials = _trials()
    assert [t.order for t in trials if t.purpose is Purpose.CONFIRM and t.supersedes is None] == planned
    counting = [t for t in trials if t.state not in (TrialState.SUPERSEDED, TrialState.SPARED)]
    assert set(Counter((t.block, t.arm) for t in counting).values()) == {1}
    assert SWAPPINESS.read_text() == before


def test_settle_time_is_calibrated_before_any_comparison(paribus, plan) -> None:
    path = Path(plan(trial="50ms", threads="[1, 4]"))
    open_ended = path.read_text().replace("rounds = 2", 'budget = "30s"').replace('settle = "10ms"\n', "")
    path.write_text(open_ended)
    checked = paribus("check", str(path))
    assert "long runs show how long the load takes to settle" in checked.out, checked.err
    done = paribus("run", str(path))
    assert done.code in RUN_ENDED, done.err
    assert "to settle" in done.err
    store = open_engine(store_url(None), create=False)
    protocol = read.plan(store, read.find(store, "last").id).protocol
    store.dispose()
    assert protocol.settled == "calibrated"
    assert protocol.settle_s >= 0.004
    assert paribus("check", "--json", str(path)).json["settle_runs"] == 0
