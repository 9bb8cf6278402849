"""Data preconditioned before the first trial, by the real engine: what is written, what is told, what is resumed."""

import os
import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from command import RUN_ENDED, Done, Running
from results import counting_arms, schema

from paribus.model import FailureClass, Purpose, Trial, TrialState
from paribus.store import read
from paribus.store.open import open_engine, store_url

PLAN = """
name = "conditioned"
[target]
path = "{path}"
{target}
[factors]
"w.fsync_every" = [0, 100]
[[workload]]
name       = "w"
kind       = "fileio"
block_size = "4KiB"
threads    = [1, 2]
{workload}
precondition = {{ {precondition} }}
[protocol]
trial  = "50ms"
settle = "10ms"
rounds = 2
margin = "50%"
"""
STEADY = 'fills = 2, round = "50ms", most_rounds = 60, window = 2, spread = "99%", drift = "99%"'
NEVER_STEADY = 'fills = 1, round = "50ms", most_rounds = 3, window = 2, spread = "0.0001%"'
LONG = 'fills = 1, round = "100ms", most_rounds = 40, window = 2, spread = "0.0001%"'
ON_FILES = 'total_size = "4MiB"'


@pytest.fixture
def conditioned(tmp_path: Path) -> Callable[..., str]:
    """Write a plan whose data is preconditioned, and return its path."""

    def write(precondition: str = STEADY, workload: str = ON_FILES, target: str = "") -> str:
        path = tmp_path / "plan.toml"
        path.write_text(PLAN.format(path=tmp_path, precondition=precondition, workload=workload, target=target))
        return str(path)

    return write


def _trials() -> list[Trial]:
    store = open_engine(store_url(None), create=False)
    found = read.trials(store, read.find(store, "last").id)
    store.dispose()
    return found


def _first() -> list[Trial]:
    return [trial for trial in _trials() if trial.purpose is Purpose.PRECONDITION]


def _interrupted(running: Running) -> str:
    running.signal(signal.SIGINT)
    ended = running.end()
    assert ended.code == 130, ended.err
    return ended.err


def test_data_is_preconditioned_first_and_the_report_says_how(paribus: Callable[..., Done], conditioned) -> None:
    done = paribus("run", conditioned(), "--json")
    assert done.code in RUN_ENDED, done.err
    jsonschema.validate(done.json, schema("report"))
    (first,) = _first()
    others = [trial for trial in _trials() if trial.purpose is not Purpose.PRECONDITION]
    assert (first.order, first.state) == (1, TrialState.DONE)
    assert first.ended is not None
    assert all(trial.started is None or trial.started >= first.ended for trial in others)
    (found,) = done.json["preconditioned"]
    assert found["steady"]
    assert found["spread"] <= 0.99
    assert 2 <= len(found["course"]) <= 60
    assert min(found["course"]) > 0
    assert sum(found["course"][-2:]) / 2 == pytest.approx(found["average_per_s"])
    assert {effect["factor"] for effect in done.json["effects"]} <= {"w.fsync_every"}
    assert f"preconditioning w: round {len(found['course'])}, " in done.err
    assert f"w was steady after 2 fills and {len(found['course'])} rounds of 50 ms" in " ".join(
        paribus("report").out.split()
    )


def test_unsteady_device_continues_with_a_loud_warning(paribus, conditioned, tmp_path: Path) -> None:
    done = paribus("run", conditioned(NEVER_STEADY))
    assert done.code in RUN_ENDED, done.err
    told = "w was NOT STEADY after 1 fill and 3 rounds of 50 ms"
    assert told in " ".join(done.out.split())
    for form in ("text", "markdown", "html"):
        target = tmp_path / f"report.{form}"
        assert paribus("report", "--format", form, "--output", str(target)).code == 0
        assert told in " ".join(target.read_text().split()), form
    assert set(counting_arms().values()) == {1}


def test_the_check_tells_what_it_writes_and_how_long_it_takes(paribus, conditioned) -> None:
    done = paribus("check", conditioned(NEVER_STEADY))
    assert "preconditioning w writes at least 4 MiB to" in done.out
    assert "32 trials in 16 blocks and 2 rounds" in done.out
    assert "preconditioning, 4 MiB in order, then at most 150 ms at random" in " ".join(done.out.split())
    document = paribus("check", conditioned(), "--json").json
    jsonschema.validate(document, schema("check"))
    (one,) = document["preconditioning"]
    assert (one["fills"], one["least_bytes"], one["most_s"]) == (2, 8 * 2**20, 3.0)


def test_verified_data_stays_verifiable(paribus, conditioned) -> None:
    done = paribus("run", conditioned(workload='total_size = "1MiB"\nverify = true'))
    assert done.code in RUN_ENDED, done.err
    assert not [trial for trial in _trials() if trial.state is TrialState.FAILED]


def test_ctrl_c_leaves_nothing_and_resuming_preconditions_from_the_start(paribus, conditioned, tmp_path: Path) -> None:
    running = Running("run", conditioned(LONG))
    running.wait_for("preconditioning w: round 3")
    assert "continue with: paribus resume" in _interrupted(running)
    assert not (tmp_path / "paribus-data").exists()
    (cut,) = _first()
    assert (cut.state, cut.failure) == (TrialState.FAILED, FailureClass.INTERRUPTED)
    assert "w was not preconditioned (failed: stopped" in " ".join(paribus("report").out.split())
    resumed = paribus("resume")
    assert resumed.code in RUN_ENDED, resumed.err
    assert resumed.err.count("preconditioning w: round ") == 40
    assert [(t.state, t.supersedes) for t in _first()] == [(TrialState.SUPERSEDED, None), (TrialState.DONE, 1)]
    assert set(counting_arms().values()) == {1}


def test_preconditioning_is_repeated_after_an_interruption(paribus, conditioned) -> None:
    running = Running("run", conditioned(NEVER_STEADY))
    running.wait_for("trial 6")
    _interrupted(running)
    resumed = paribus("resume", "--json")
    assert resumed.code in RUN_ENDED, resumed.err
    before, again = _first()
    assert (before.state, again.state, again.supersedes) == (TrialState.SUPERSEDED, TrialState.DONE, before.order)
    assert again.ended is not None
    later = [t for t in _trials() if t.order > again.order or (t.started or 0) > (again.started or 0)]
    assert all(t.started is None or t.started >= again.ended for t in later)
    assert [one["trial"] for one in resumed.json["preconditioned"]] == [before.order, again.order]
    assert set(counting_arms().values()) == {1}


def test_an_engine_killed_meanwhile_begins_again(paribus, conditioned) -> None:
    running = Running("run", conditioned(LONG))
    running.wait_for("preconditioning w: round 2")
    found = subprocess.run(
        ["pgrep", "--parent", str(running.pid), "--full", "paribus-engine run"],
        capture_output=True,
        text=True,
        check=True,
    )
    os.kill(int(found.stdout.split()[0]), signal.SIGKILL)
    ended = running.end(timeout_s=120)
    assert ended.code in RUN_ENDED, ended.err
    assert Counter(trial.state for trial in _first()) == {TrialState.SUPERSEDED: 1, TrialState.DONE: 1}


def _written_bytes(device: str) -> int:
    return 512 * int(Path(f"/sys/block/{Path(device).name}/stat").read_text().split()[6])


def test_a_device_that_is_only_read_is_overwritten_as_often_as_asked(
    paribus, conditioned, loop: str, tmp_path: Path
) -> None:
    """The kernel's own count of what was written, against the size of the data."""
    reading = f'device = "{loop}"\ntotal_size = "16MiB"\nmode = "rndrd"\ndirect = true'
    refused = paribus("check", conditioned(workload=reading))
    assert refused.code == 2
    assert "may_destroy" in refused.err
    before = _written_bytes(loop)
    allowed = f'may_destroy = ["{tmp_path / "disk.img"}"]'
    done = paribus("run", conditioned(STEADY.replace("fills = 2", "fills = 20"), reading, allowed), "--json")
    assert done.code in RUN_ENDED, done.err
    (found,) = done.json["preconditioned"]
    at_random = 4096 * 0.05 * sum(found["course"])
    assert _written_bytes(loop) - before - at_random >= 0.9 * 21 * 2**24, "made once, overwritten twenty times"
