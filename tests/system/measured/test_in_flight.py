"""Settings that take effect at once are changed while the load continues: one load carries a block."""

import contextlib
import itertools
import os
import re
import signal
import subprocess
from collections import Counter, defaultdict
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
    """Return the log of the engine's commands, a line for each start of it."""
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


@pytest.mark.parametrize("in_flight", ["true", "false"])
def test_throughput_while_settling_is_stored(paribus, plan, in_flight: str) -> None:
    path = Path(plan(LIVE, trial="100ms"))
    text = re.sub('settle *= *"[^"]*"', 'settle = "400ms"', path.read_text())
    path.write_text(f"{text}in_flight = {in_flight}\n")
    assert paribus("run", str(path)).code in RUN_ENDED
    experiment, trials = _last()
    store = open_engine(store_url(None), create=False)
    settling = read.settling_rates(store, experiment.id)
    store.dispose()
    done = {trial.order for trial in trials if trial.state is TrialState.DONE}
    assert done == done & settling.keys()
    assert min(settling.values()) > 0


def test_one_load_carries_the_mirrored_trials_of_toggled_settings(paribus, plan, loads: Path) -> None:
    before = PROACTIVENESS.read_text()
    done = paribus("run", _toggled(plan(LIVE)))
    assert done.code in RUN_ENDED, done.err
    assert PROACTIVENESS.read_text() == before
    experiment, trials = _last()
    blocks: dict[tuple[int, int], list[str]] = defaultdict(list)
    for trial in sorted(trials, key=lambda trial: trial.order):
        if trial.started is not None:
            blocks[trial.block, trial.attempt].append(trial.arm)
    assert Counter(loads.read_text().split())["run"] == len(blocks) + ON_DATA
    whole = {tuple(arms) for arms in blocks.values() if len(arms) == 4}
    old = before.strip()
    assert whole == {(old, "33", "33", old), ("33", old, old, "33")}
    store = open_engine(store_url(None), create=False)
    assert max(look.pairs for look in read.looks(store, experiment.id)) == len({block for block, _ in blocks})
    store.dispose()


def _toggled(path: str) -> str:
    Path(path).write_text(Path(path).read_text() + 'segment = "200ms"\nwash_out = false\n')
    return path


@pytest.mark.parametrize("in_flight", ["true", "false"])
def test_a_load_that_follows_another_setting_first_runs_one_trial_longer(paribus, plan, in_flight: str) -> None:
    path = Path(plan(LIVE, trial="200ms"))  # with a settle time of 10 ms, the sum is no number of decimals
    path.write_text(path.read_text() + f"in_flight = {in_flight}\n")
    assert paribus("run", str(path)).code in RUN_ENDED
    trials = sorted((t for t in _last()[1] if t.started is not None), key=lambda trial: trial.started)
    washed = [
        later
        for earlier, later in itertools.pairwise(trials)
        if later.position == 1 and later.factor and earlier.settings != later.settings
    ]
    assert washed
    assert min(trial.took_s for trial in washed) >= 2 * 0.2
    assert not [reason for trial in trials for reason in trial.invalid_because if "instead of" in reason]


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


@pytest.mark.parametrize("is_toggled", [False, True])
def test_ctrl_c_in_flight_puts_everything_back(plan, tmp_path: Path, is_toggled: bool) -> None:
    before = PROACTIVENESS.read_text()
    path = plan(LIVE, trial="400ms")
    running = Running("run", _toggled(path) if is_toggled else path)
    running.wait_for("trial 2")
    running.signal(signal.SIGINT)
    assert running.end().code == 130
    assert PROACTIVENESS.read_text() == before
    assert not (tmp_path / "paribus-data").exists()
