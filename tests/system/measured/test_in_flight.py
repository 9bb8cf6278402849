"""Settings that take effect at once are changed while the load continues: one load carries a block."""

import contextlib
import os
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from command import RUN_ENDED, Running

from paribus.engine.find import binary
from paribus.model import Experiment, Trial, TrialState
from paribus.store import read
from paribus.store.open import open_engine, store_url

pytestmark = [pytest.mark.root, pytest.mark.usefixtures("as_root")]

PROACTIVENESS = Path("/proc/sys/vm/compaction_proactiveness")
ON_DATA = 4  # in two rounds: twice the old data goes and new is made
LIVE = '"vm.compaction_proactiveness" = ["current", 33]'


@pytest.fixture
def loads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the engine is asked for, a line for each start of it."""
    log, engine = tmp_path / "loads", tmp_path / "engine"
    engine.write_text(f'#!/bin/sh\necho "$1" >> {log}\nexec "{binary()}" "$@"\n')
    engine.chmod(0o755)
    monkeypatch.setenv("PARIBUS_ENGINE", str(engine))
    return log


def _last() -> tuple[Experiment, list[Trial]]:
    store = open_engine(store_url(None), create=False)
    found = read.find(store, "last")
    trials = read.trials(store, found.id)
    store.dispose()
    return found, trials


def test_one_load_carries_a_block_and_each_trial_has_its_window(paribus, plan, loads: Path) -> None:
    before = PROACTIVENESS.read_text()
    done = paribus("run", plan(LIVE, trial="200ms"))
    assert done.code in RUN_ENDED, done.err
    assert PROACTIVENESS.read_text() == before
    trials = _last()[1]
    blocks = {(trial.block, trial.attempt) for trial in trials if trial.started is not None}
    assert Counter(loads.read_text().split())["run"] == len(blocks) + ON_DATA
    store = open_engine(store_url(None), create=False)
    for order, measured in read.summaries(store, _last()[0].id).items():
        assert measured["throughput_per_s"].mean > 0, order
    store.dispose()


def test_a_load_of_its_own_for_each_trial_where_the_plan_says_so(paribus, plan, loads: Path) -> None:
    path = Path(plan(LIVE))
    path.write_text(path.read_text() + "in_flight = false\n")
    assert paribus("run", str(path)).code in RUN_ENDED
    started = [trial for trial in _last()[1] if trial.started is not None]
    assert Counter(loads.read_text().split())["run"] == len(started) + ON_DATA


def test_a_load_that_dies_in_flight_fails_its_trial_and_the_block_is_made_anew(plan) -> None:
    before = PROACTIVENESS.read_text()
    running = Running("run", plan(LIVE, trial="400ms"))
    running.wait_for("trial 3")
    asked = ["pgrep", "--parent", str(running.pid), "--full", "paribus-engine run"]
    for _ in range(20):  # one that is about to end anyway fails nothing
        found = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.split()
        if found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(found[0]), signal.SIGKILL)
        if "failed: the engine ended with code -9" in running.wait_for("trial"):
            break
    else:
        pytest.fail("no trial failed")
    ended = running.end()
    assert ended.code in RUN_ENDED, ended.err
    assert PROACTIVENESS.read_text() == before
    counting = [trial for trial in _last()[1] if trial.state is not TrialState.SUPERSEDED]
    assert set(Counter((trial.block, trial.arm) for trial in counting).values()) == {1}


def test_ctrl_c_in_flight_puts_everything_back(plan, tmp_path: Path) -> None:
    before = PROACTIVENESS.read_text()
    running = Running("run", plan(LIVE, trial="400ms"))
    running.wait_for("trial 2")
    running.signal(signal.SIGINT)
    assert running.end().code == 130
    assert PROACTIVENESS.read_text() == before
    assert not (tmp_path / "paribus-data").exists()
