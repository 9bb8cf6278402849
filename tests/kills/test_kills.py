"""SIGKILL at every kind of moment of a real experiment on a real loop device: the machine comes back, no trial is
lost and none counts twice."""

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from ceteris.model import ExperimentState, TrialState
from ceteris.store import read
from ceteris.store.open import open_engine, store_url

KILLS = 60
HERE = Path(__file__).parent

PLAN = """
name = "kills"
[target]
device = "{device}"
path   = "{path}"
[factors]
"block.scheduler" = ["mq-deadline", "none"]
"vm.swappiness"   = ["current", 33]
[[workload]]
kind       = "fileio"
total_size = "64KiB"
files      = 1
block_size = "4KiB"
threads    = [1]
data       = "keep"
[protocol]
trial  = "20ms"
settle = "5ms"
rounds = 2
margin = "50%"
"""

pytestmark = [pytest.mark.kills, pytest.mark.root, pytest.mark.usefixtures("as_root")]


@pytest.fixture
def device(tmp_path: Path) -> Iterator[str]:
    """A loop device with settings of its own, as a person might have tuned it."""
    image = tmp_path / "disk.img"
    with image.open("wb") as file:
        file.truncate(64 * 2**20)
    made = subprocess.run(["losetup", "--find", "--show", str(image)], capture_output=True, text=True, check=True)
    name = made.stdout.strip()
    queue = Path("/sys/block") / Path(name).name / "queue"
    for path, value in (("scheduler", "mq-deadline"), ("nr_requests", "100"), ("iosched/read_expire", "770")):
        (queue / path).write_text(value)
    yield name
    _ceteris("undo")  # also where the test failed half-way
    subprocess.run(["losetup", "--detach", name], check=True)


def _values(device: str) -> dict[str, str]:
    """Every setting under the device's queue, and the sysctl, as it is now."""
    queue = Path("/sys/block") / Path(device).name / "queue"
    found = {"swappiness": Path("/proc/sys/vm/swappiness").read_text()}
    for path in sorted(queue.rglob("*")):
        if path.is_file():
            try:
                found[str(path)] = path.read_text()
            except OSError:
                found[str(path)] = "unreadable"
    return found


def _ceteris(*arguments: str, victim: tuple[str, ...] = ()) -> int:
    program = [str(HERE / "victim.py"), *victim, "--"] if victim else ["-m", "ceteris.cli.main"]
    done = subprocess.run(
        [sys.executable, *program, *arguments], capture_output=True, text=True, timeout=300, check=False
    )
    print(arguments[0], *victim[1:], "->", done.returncode, done.stderr[-300:].replace("\n", " | "))
    return done.returncode


def _open_changes() -> list[dict[str, object]]:
    done = subprocess.run(
        [sys.executable, "-m", "ceteris.cli.main", "status", "--json"], capture_output=True, text=True, check=True
    )
    changes: list[dict[str, object]] = json.loads(done.stdout)["open_changes"]
    return changes


def _choose(moments: Path, rng: random.Random) -> list[tuple[str, int]]:
    """Moments to kill at, as (sort, number of it): every sort, and more of them while settings are changed."""
    counted = Counter(moments.read_text().splitlines())
    sorts = sorted(counted) * 2
    while len(sorts) < KILLS:
        sorts.append(rng.choice([sort for sort in counted if "Journal" in sort or "LocalHost.write" in sort]))
    chosen = [(sort, rng.randint(1, min(counted[sort], 40))) for sort in sorts]
    rng.shuffle(chosen)
    return chosen


def _is_unfinished() -> bool:
    """Whether the newest experiment can be resumed."""
    if not Path(os.environ["CETERIS_STORE"]).exists():
        return False
    store = open_engine(store_url(None), create=False)
    state = read.experiments(store)[0].state
    store.dispose()
    return state is not ExperimentState.DONE


def _assert_each_arm_counts_once() -> None:
    store = open_engine(store_url(None), create=False)
    trials = read.trials(store, read.find(store, "last").id)
    store.dispose()
    counting = [trial for trial in trials if trial.state is not TrialState.SUPERSEDED]
    planned = {(trial.block, trial.arm) for trial in trials if trial.attempt == 1}
    assert Counter((trial.block, trial.arm) for trial in counting) == dict.fromkeys(planned, 1)
    assert len(planned) == 64
    states: dict[int, set[TrialState]] = {}
    for trial in counting:
        states.setdefault(trial.block, set()).add(trial.state)
    whole = [block for block, found in states.items() if found == {TrialState.DONE}]
    spoilt = [block for block, found in states.items() if TrialState.INVALID in found]  # another load on this machine
    assert sorted(whole + spoilt) == sorted(states)
    assert len(whole) >= len(states) / 2


def test_the_machine_comes_back_from_any_kill(tmp_path: Path, device: str) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.format(device=device, path=tmp_path))
    before = _values(device)
    assert _ceteris("run", str(plan), victim=(str(tmp_path / "moments"), "none", "0", "spare")) in (0, 3)
    assert _values(device) == before
    kills = _choose(tmp_path / "moments", random.Random(20260101))
    killed = left_open = finished = 0
    verb = ["run", str(plan)]
    for number, (sort, occurrence) in enumerate(kills):
        keeper = "too" if number % 2 else "spare"
        if sort.endswith("write.begin"):
            verb = ["run", str(plan)]
        code = _ceteris(*verb, victim=(str(tmp_path / "none"), sort, str(occurrence), keeper))
        killed += code == -9
        if any(not change["running"] for change in _open_changes()):
            left_open += 1
            assert _ceteris("run", str(plan)) == 4, "run must refuse while a journal is open"
            assert _ceteris("resume") in (2, 4), "resume must refuse while a journal is open, or when all is done"
        assert _ceteris("undo") == 0
        assert _values(device) == before, f"after kill {number}: {sort}, {occurrence}"
        if code != -9:
            finished += 1
            _assert_each_arm_counts_once()
        verb = ["resume", "last"] if code == -9 and _is_unfinished() else ["run", str(plan)]
    assert _ceteris(*verb) in (0, 3)
    _assert_each_arm_counts_once()
    assert _values(device) == before
    print(f"{killed} kills, {left_open} of them left a journal open; {finished + 1} experiments came to their end")
    assert killed >= 50
    assert left_open >= 10
