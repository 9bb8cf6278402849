"""A store in PostgreSQL: a whole experiment, a server that is lost under it, and several writers."""

import json
import shutil
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
import scripted
import sqlalchemy as sa
from command import RUN_ENDED, Done, Running
from plan_samples import FILEIO, checked, simple
from waiting import wait_for

from paribus.databases import Instance
from paribus.engine.find import binary
from paribus.hosts.local import LocalHost
from paribus.model import TrialState
from paribus.store import read, schema
from paribus.store.open import default_file, open_engine, store_url

Paribus = Callable[..., Done]
ENDED = {TrialState.DONE, TrialState.INVALID, TrialState.SPARED, TrialState.SUPERSEDED}
PLAN = """
name = "stored"
[target]
path = "{path}"
[factors]
"fileio.fsync_every" = [100, 10]
[[workload]]
kind = "fileio"
mode = "rndwr"
total_size = "1MiB"
files = 1
threads = [1]
[protocol]
trial = "300ms"
settle = "20ms"
rounds = {rounds}
placebo = false
"""


@pytest.fixture
def server() -> Iterator[Instance]:
    folder = Path(tempfile.mkdtemp(prefix="paribus-store-", dir="/var/tmp"))
    folder.chmod(0o755)
    instance = Instance(LocalHost(), binary(), str(folder / "db"), "postgres")
    instance.create()
    try:
        instance.start()
        yield instance
    finally:
        instance.remove()
        shutil.rmtree(folder)


@pytest.fixture
def url(server: Instance, monkeypatch: pytest.MonkeyPatch) -> str:
    """The store in its database, which commands use by default."""
    at = server.address()
    password = at.password.get_secret_value() if at.password else ""
    folder, _, port = str(at.socket).rpartition("/.s.PGSQL.")
    text = f"postgresql://{at.user}:{quote(password)}@/{at.database}?host={folder}&port={port}"
    monkeypatch.setenv("PARIBUS_STORE", text)
    return text


@pytest.fixture
def plan(tmp_path: Path) -> Callable[..., str]:
    def write(rounds: int = 2) -> str:
        path = tmp_path / "plan.toml"
        path.write_text(PLAN.format(path=tmp_path, rounds=rounds))
        return str(path)

    return write


def _states(url: str) -> Counter[TrialState]:
    store = open_engine(store_url(url), create=False)
    try:
        return read.tallies(store)[read.find(store, "last").id]
    finally:
        store.dispose()


def _measured_once(url: str) -> bool:
    """Whether each trial that is done has its measurements, each of them once."""
    store = open_engine(store_url(url), create=False)
    c = schema.measurement.c
    twice = sa.select(c.trial).group_by(c.experiment, c.trial, c.phase, c.metric, c.source).having(sa.func.count() > 1)
    try:
        experiment = read.find(store, "last").id
        done = [trial.order for trial in read.trials(store, experiment) if trial.state is TrialState.DONE]
        summaries = read.summaries(store, experiment)
        with store.connect() as connection:
            assert connection.execute(twice).first() is None
        return bool(done) and all(summaries[order]["throughput_per_s"].mean > 0 for order in done)
    finally:
        store.dispose()


def _in_spool(experiment: str) -> list[Path]:
    """The files of its trials that no store has taken, beside the default store."""
    return sorted(default_file().with_name("paribus.db.spool").glob(f"{experiment}-*.json"))


@pytest.mark.gate
def test_an_experiment_is_stored_read_and_deleted(
    paribus: Paribus, url: str, plan: Callable[..., str], tmp_path: Path
) -> None:
    done = paribus("run", plan())
    assert done.code in RUN_ENDED, done.err
    status = paribus("status", "--json")
    (listed,) = status.json["experiments"]
    assert (listed["state"], listed["done"]) == ("done", _states(url)[TrialState.DONE])
    assert ":…@" not in status.json["store"] and status.json["store"].startswith("postgresql://")
    assert _measured_once(url)
    assert "fileio.fsync_every" in paribus("report", "last", "--format", "text").out
    exported = paribus("export", "last", "-o", str(tmp_path / "tables"))
    assert exported.code == 0, exported.err
    deleted = paribus("delete", "last", "--yes")
    assert deleted.code == 0, deleted.err
    assert paribus("status", "--json").json["experiments"] == []


def test_a_server_that_dies_is_waited_for_and_no_trial_is_lost(
    server: Instance, url: str, plan: Callable[..., str]
) -> None:
    running = Running("run", plan(rounds=6))
    running.wait_for("trial 2")
    server.kill()
    running.wait_for("cannot use the store postgresql://")
    server.start()
    assert running.end().code in RUN_ENDED
    states = _states(url)
    assert set(states) <= ENDED
    assert _measured_once(url)


def test_a_trial_that_no_server_takes_is_delivered_by_resume(
    paribus: Paribus, server: Instance, url: str, plan: Callable[..., str]
) -> None:
    running = Running("run", plan(rounds=6))
    running.wait_for("trial 2")
    (listed,) = paribus("status", "--json").json["experiments"]
    server.kill()
    running.wait_for("cannot use the store postgresql://")
    running.signal(2)
    assert running.end().code != 0
    (file,) = _in_spool(listed["id"])
    trial = json.loads(file.read_text())["trial"]
    server.start()
    done = paribus("resume", "last")
    assert done.code in RUN_ENDED, done.err
    assert not _in_spool(listed["id"])
    store = open_engine(store_url(url), create=False)
    assert read.trials(store, trial["experiment"])[trial["order"] - 1].started == trial["started"]
    store.dispose()
    assert set(_states(url)) <= ENDED
    assert _measured_once(url)


def test_several_writers_make_the_tables_and_share_conditions(url: str) -> None:
    experiments: list[str] = []
    failures: list[BaseException] = []

    def write() -> None:
        try:
            store = open_engine(store_url(url), create=True)
            plan = checked(simple('"vm.swappiness" = [60, 1]', FILEIO, '[protocol]\nbudget = "1h"'))
            experiments.append(scripted.carry_out(store, plan, lambda trial: 0.06 * (trial.arm == "1")).id)
            store.dispose()
        except BaseException as error:
            failures.append(error)

    writers = [threading.Thread(target=write) for _ in range(6)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert not failures
    store = open_engine(store_url(url), create=False)
    assert {each.id for each in read.experiments(store)} == set(experiments)
    assert all(states[TrialState.DONE] for states in read.tallies(store).values())
    store.dispose()


def test_a_server_that_lets_nobody_in_is_reported(paribus: Paribus, server: Instance, url: str) -> None:
    done = paribus("status", PARIBUS_STORE=url.replace("/postgres?", "/nowhere?"))
    assert done.code != 0
    assert '"nowhere" does not exist' in done.err and "Traceback" not in done.err
    server.stop()
    wait_for(lambda: not server.is_running(), "the server ends")
    assert "cannot use the store" in paribus("status").err


def test_a_password_on_the_command_line_is_refused(paribus: Paribus) -> None:
    done = paribus("status", "--store", "postgresql://lab:secret@db1/lab")
    assert done.code == 2
    assert "~/.pgpass" in done.err and "secret" not in done.err


def test_a_file_is_copied_to_the_server_and_back(paribus: Paribus, url: str, tmp_path: Path) -> None:
    file, back = tmp_path / "first.db", tmp_path / "back.db"
    store = open_engine(store_url(str(file)), create=True)
    plan = checked(simple('"vm.swappiness" = [60, 1]', FILEIO, '[protocol]\nbudget = "1h"'))
    experiment = scripted.carry_out(store, plan, lambda trial: 0.06 * (trial.arm == "1")).id
    store.dispose()
    for source, target, copied in ((file, url, 1), (file, url, 0), (url, back, 1)):
        done = paribus("store", "copy", str(source), str(target).replace(":@", "@"))
        assert done.code == 0, done.err
        assert f"copied: {copied}; there already: {1 - copied}" in done.out
    reports = [paribus("report", experiment, "--json", "--store", str(path)).json for path in (file, back)]
    assert reports[0] == reports[1] == paribus("report", experiment, "--json").json
    assert "is both stores" in paribus("store", "copy", str(file), str(file)).err
