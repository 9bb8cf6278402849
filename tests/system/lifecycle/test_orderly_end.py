"""Ends that nobody planned: told truthfully, with the machine restored."""

import contextlib
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import RUN_ENDED, Done, Running, run_paribus
from waiting import wait_for

from paribus.engine.find import binary
from paribus.model import TrialState
from paribus.store import read
from paribus.store.open import open_engine, store_url

A_USER = 60_123  # for this test alone: a limit counts all processes of a user


def _children(pid: int) -> list[int]:
    done = subprocess.run(["pgrep", "--parent", str(pid)], capture_output=True, text=True, check=False)
    return [int(one) for one in done.stdout.split()]


def _sampler_of(pid: int) -> int:
    """The process that samples for an experiment."""
    for child in _children(pid):
        if b"\0sample\0" in Path(f"/proc/{child}/cmdline").read_bytes():
            return child
    raise AssertionError("there is no sampler")


def test_a_sampler_that_dies_costs_one_trial(plan) -> None:
    run = Running("run", plan())
    run.wait_for("trial")
    os.kill(_sampler_of(run.pid), signal.SIGKILL)
    done = run.end(300.0)
    assert done.code in RUN_ENDED, done.err
    store = open_engine(store_url(None), create=False)
    ended = read.find(store, "last")
    trials = read.trials(store, ended.id)
    store.dispose()
    assert ended.state == "done"
    assert sum(trial.state is TrialState.FAILED for trial in trials) <= 1


@pytest.mark.parametrize("how", ["deleted", "replaced"])
def test_a_store_that_vanishes_is_noticed_at_the_next_write(plan, tmp_path: Path, how: str) -> None:
    store = tmp_path / "vanishing.db"
    run = Running("run", plan(), "--store", str(store))
    run.wait_for("trial")
    aside = tmp_path / "aside.db"
    if how == "replaced":  # at one stroke: between two strokes it is a deleted store
        aside.write_bytes(store.read_bytes())
        aside.replace(store)
    else:
        store.rename(aside)
    done = run.end()
    assert done.code == 3
    assert f"the store {store} was {how} while open" in done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "paribus-data").exists()
    assert "no setting is changed" in run_paribus("undo").out


def test_a_journal_that_is_deleted_meanwhile_is_told_and_all_is_restored(plan) -> None:
    run = Running("run", plan('"process.nofile" = ["default", 512]'))
    run.wait_for("trial")
    for journal in (Path(os.environ["PARIBUS_STATE"]) / "journal").glob("*.jsonl"):
        journal.unlink()
    done = run.end()
    assert done.code in RUN_ENDED, done.err
    store = open_engine(store_url(None), create=False)
    notes = list(map(str, read.find(store, "last").notes))
    store.dispose()
    assert "the journal file was deleted meanwhile; all settings are restored" in notes


@pytest.fixture
def users_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        os.chown(name, A_USER, A_USER)
        yield Path(name)


@pytest.mark.root
@pytest.mark.usefixtures("as_root")
def test_a_limit_of_threads_is_told_wherever_it_is_met(plan, users_folder: Path) -> None:
    """As a user whose processes are counted, which those of root are not; a capability lets it read Python."""
    path = users_folder / "plan.toml"
    path.write_text(Path(plan()).read_text().replace(str(Path(plan()).parent), str(users_folder)))
    rights = "+dac_override,+dac_read_search"
    user = [f"--reuid={A_USER}", "--clear-groups", f"--inh-caps={rights}", f"--ambient-caps={rights}"]
    engine = shutil.copy(binary(), users_folder)  # the clone may be in a folder that only root can pass
    own = {"HOME": str(users_folder), "PARIBUS_STATE": str(users_folder / "state"), "PARIBUS_ENGINE": engine}
    codes = set()
    for most in range(1, 60, 3):
        words = ["run", str(path), "--store", str(users_folder / f"{most}.db")]
        limited = ["setpriv", *user, "--", "prlimit", f"--nproc={most}", "--"]
        argv = [*limited, sys.executable, "-m", "paribus.cli.main", *words]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False, env=os.environ | own)
        codes.add(done.returncode)
        assert "Traceback" not in done.stderr
        assert "panicked" not in done.stderr
        if done.returncode in RUN_ENDED and "report: " in done.stdout:
            break
        assert done.returncode in (3, 4), done.stderr
        assert re.search("thread|Resource temporarily unavailable", done.stderr), done.stderr
    assert {3, 4} <= codes
    assert done.returncode in RUN_ENDED


def test_a_signal_during_the_report_is_told_as_such(plan) -> None:
    """The machine is restored by then, and all is measured."""
    for ended in range(5):
        run = Running("run", plan())
        wait_for(lambda ended=ended: _number_ended() > ended, "the experiment is done")  # type: ignore[misc]
        run.signal(signal.SIGTERM)
        done = run.end()
        assert "Traceback" not in done.err
        if done.code == 130:
            assert "all is measured" in done.err
            assert run_paribus("report", "last", "--format", "text").code == 0
            return
        assert done.code in RUN_ENDED, done.err  # the report was written already
    pytest.fail("no signal came in time")


def _number_ended() -> int:
    """The number of experiments of the store that are done."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{os.environ['PARIBUS_STORE']}?mode=ro", uri=True)) as store:
            return int(store.execute("SELECT count(*) FROM experiment WHERE state = 'done'").fetchone()[0])
    except sqlite3.OperationalError:  # it is not there yet
        return 0


def _into(words: str, plan: Path) -> Done:
    """The command in a shell, with its output led elsewhere."""
    command = f'"{sys.executable}" -m paribus.cli.main run "$1" {words}'
    done = subprocess.run(
        ["bash", "-c", command, "bash", str(plan)], capture_output=True, text=True, timeout=300, check=False
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    "words", ["> /dev/full", "2> /dev/full", ">&-", "2>&-", "2>&1 | head -n 1", "| head -c 1", "< /dev/null >&- 2>&-"]
)
def test_an_output_that_nobody_takes_ends_nothing_before_its_time(plan, words: str) -> None:
    done = _into(words, plan())
    assert "Traceback" not in done.err
    assert done.code in (*RUN_ENDED, 3, 141), "3: what could not be written is an error"
    store = open_engine(store_url(None), create=False)
    assert read.find(store, "last").state == "done"
    store.dispose()


@pytest.mark.parametrize("kind", ["device", "pipe", "folder", "endless", "long-key", "deep", "many"])
def test_unreadable_plans_are_refused_at_once(paribus, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "plan.toml"
    match kind:
        case "device":
            path = Path("/dev/zero")
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "endless":
            path.write_bytes(b"#" * 2_000_000)
        case "long-key":
            path.write_text("a" + ".a" * 20_000 + " = 1\n")
        case "deep":
            path.write_text("a" + ".a" * 500 + " = 1\n")
        case "many":
            path.write_text("".join(f"k{n} = 1\n" for n in range(20_000)))
    for verb in ("check", "run"):
        done = paribus(verb, str(path))
        assert done.code == 2, done
        assert "Traceback" not in done.err
        assert len(done.err.splitlines()) < 120
    if kind == "long-key":
        assert paribus("check", "examples/first.toml", "--set", "a" + ".a" * 20_000 + "=1").code == 2


def test_brackets_of_the_wrong_number_are_told_with_the_right_ones(paribus, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text('name = "x"\n[workload]\nkind = "fileio"\n[[target]]\npath = "."\n')
    done = paribus("check", str(plan))
    assert (done.code, "write [[workload]] with double brackets" in done.err) == (2, True), done.err
    assert "write [target] with single brackets" in done.err
