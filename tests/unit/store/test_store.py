"""The store: records are read as written, and damaged files are reported."""

import dataclasses
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from paribus.errors import StoreError, UsageError
from paribus.i18n import StoredMessage, stored_message
from paribus.model import (
    Change,
    ChangeState,
    Experiment,
    ExperimentState,
    LoadHost,
    Look,
    Measurement,
    Plan,
    Protocol,
    Purpose,
    Target,
    Trial,
    TrialState,
)
from paribus.store import migrations, read, schema, write
from paribus.store.ids import new_id
from paribus.store.open import file_of, open_engine, store_url
from paribus.units import LoadLevel, LoadUnit

PLAN = Plan(
    name="n",
    question="?",
    target=Target(address="local", path="/", device=None),
    hold={"a": True, "b": 1, "c": 1.5, "d": "1"},
    baseline={},
    factors=(),
    combinations=(),
    workloads=(),
    protocol=Protocol(trial_s=1, settle_s=1, budget_s=1, confidence=0.95, seed=1, margins={}, rounds=None),
    digest="d",
    text="t",
)
EXPERIMENT = Experiment(
    id="20260101-000000-abcd",
    name="n",
    plan_digest="d",
    plan_text="t",
    overrides={"k": "v"},
    seed=1,
    schedule_hash="h",
    rounds=2,
    state=ExperimentState.PLANNED,
    started=1.0,
    ended=None,
    versions={"paribus": "0"},
    fingerprint={"host": "x"},
    notes=("note",),
)


def _trial(order: int) -> Trial:
    return Trial(
        experiment=EXPERIMENT.id,
        order=order,
        round=1,
        block=1,
        position=order,
        attempt=1,
        factor="k",
        arm="a",
        baseline=order == 1,
        purpose=Purpose.COMPARE,
        settings={"k": False, "m": "x"},
        workload="w",
        load=LoadLevel(4),
    )


@pytest.fixture
def store(tmp_path: Path) -> sa.engine.Engine:
    opened = open_engine(store_url(str(tmp_path / "s.db")), create=True)
    write.begin(opened, EXPERIMENT, PLAN, [_trial(1), _trial(2)])
    return opened


def test_records_are_read_as_written(store: sa.engine.Engine) -> None:
    assert read.experiments(store) == [EXPERIMENT]
    assert read.trials(store, EXPERIMENT.id) == [_trial(1), _trial(2)]
    plan = read.plan(store, EXPERIMENT.id)
    assert plan == PLAN
    assert [type(value) for value in plan.hold.values()] == [bool, int, float, str]


def test_the_load_host_of_an_older_plan_is_the_first_of_several(store: sa.engine.Engine) -> None:
    table = schema.experiment
    with store.begin() as connection:
        stored = dict(connection.scalar(sa.select(table.c.plan)))
        del stored["load_hosts"]
        old = {**stored, "load_host": {"address": "ssh://gen", "become": True, "credential": {"file": "/secret"}}}
        connection.execute(sa.update(table).values(plan=old))
    host = LoadHost(address="ssh://gen", become=True, credential={"file": "/secret"})
    assert read.plan(store, EXPERIMENT.id) == dataclasses.replace(PLAN, load_hosts=(host,))


def test_a_load_level_keeps_its_unit(tmp_path: Path) -> None:
    opened = open_engine(store_url(str(tmp_path / "r.db")), create=True)
    paced = dataclasses.replace(_trial(1), load=LoadLevel(2000, LoadUnit.RATE_PER_S))
    write.begin(opened, EXPERIMENT, PLAN, [paced])
    assert read.trials(opened, EXPERIMENT.id) == [paced]


def test_a_store_of_the_first_release_is_brought_up_to_this_one(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    opened = open_engine(store_url(str(path)), create=True)
    write.begin(opened, EXPERIMENT, PLAN, [_trial(1)])
    opened.dispose()
    with sqlite3.connect(path) as connection:  # as the first release left it
        for table in ("trial", "calibration"):
            connection.execute(f"ALTER TABLE {table} DROP COLUMN load_unit")
        connection.execute("ALTER TABLE change DROP COLUMN not_taken")
        connection.execute("ALTER TABLE calibration DROP COLUMN freedom")
        for column in ("application", "applied"):
            connection.execute(f"ALTER TABLE trial DROP COLUMN {column}")
        for table in ("device", "drive_counter", "conditions", "origin", "source"):
            connection.execute(f"DROP TABLE {table}")
        connection.execute("DROP INDEX look_once")
        for column in ("verdict", "purpose"):
            connection.execute(f"ALTER TABLE look DROP COLUMN {column}")
        once = "experiment, factor, arm, workload, response, number"
        connection.execute(f"CREATE UNIQUE INDEX look_once ON look ({once})")
        connection.execute("UPDATE alembic_version SET version_num = '0001'")
    assert read.trials(open_engine(store_url(str(path)), create=False), EXPERIMENT.id) == [_trial(1)]


def test_conditions_are_stored_once_and_read_by_trial(store: sa.engine.Engine) -> None:
    facts = {"vm.swappiness": "60", "boot": "x"}
    for order, name in ((1, "one"), (2, "one")):
        write.save_trial(store, dataclasses.replace(_trial(order), fingerprint=name), conditions=facts)
    assert read.conditions(store, EXPERIMENT.id) == {1: facts, 2: facts}
    assert [trial.fingerprint for trial in read.trials(store, EXPERIMENT.id)] == ["one", "one"]
    write.save_trial(store, dataclasses.replace(_trial(2), fingerprint="two"), conditions=facts | {"boot": "y"})
    assert read.conditions(store, EXPERIMENT.id)[2]["boot"] == "y"
    assert read.conditions(store, "another") == {}


def test_a_trial_is_kept_with_what_came_of_it(store: sa.engine.Engine) -> None:
    done = dataclasses.replace(_trial(1), state=TrialState.DONE, started=1.0, ended=2.0)
    change = Change(knob="k", address="/k", before=1, wanted="x", observed=None, state=ChangeState.VERIFIED)
    points = (1.0, 2.5, 4.0)
    measurement = Measurement(
        phase="measure",
        metric="m",
        unit="s",
        source="engine",
        n=3,
        mean=2.5,
        low=1.0,
        high=4.0,
        total=7.5,
        start_s=0.0,
        step_s=1.0,
        points=points,
        histogram=b"\x00h",
    )
    write.save_trial(store, done, [change], [measurement])
    assert read.trials(store, EXPERIMENT.id)[0] == done
    assert read.changes(store, EXPERIMENT.id) == [(1, change)]
    assert read.summaries(store, EXPERIMENT.id)[1]["m"] == dataclasses.replace(
        measurement, points=(), histogram=b"", start_s=None, step_s=None
    )
    assert read.series(store, EXPERIMENT.id, "m", [1]) == {1: measurement}


def test_the_series_of_a_trial_is_that_of_its_measured_time(store: sa.engine.Engine) -> None:
    measured = Measurement.of_series("m", "1/s", (3.0, 4.0), "measure", "engine", total=7.0, start_s=0.0, step_s=1.0)
    settling = Measurement.of_series("m", "1/s", (), "settle", "engine", mean=2.0, total=4.0)
    write.save_trial(store, dataclasses.replace(_trial(1), state=TrialState.DONE), [], [measured, settling])
    assert read.series(store, EXPERIMENT.id, "m", [1]) == {1: measured}


def test_a_rerun_takes_the_place_of_a_block_in_one_step(store: sa.engine.Engine) -> None:
    reruns = [dataclasses.replace(_trial(n), order=n + 2, attempt=2, supersedes=n) for n in (1, 2)]
    write.rerun(store, [_trial(1), _trial(2)], reruns)
    states = [trial.state for trial in read.trials(store, EXPERIMENT.id)]
    assert states == [TrialState.SUPERSEDED] * 2 + [TrialState.PLANNED] * 2
    with pytest.raises(StoreError):
        write.rerun(store, reruns, reruns)
    assert [trial.state for trial in read.trials(store, EXPERIMENT.id)] == states


def test_a_look_is_kept_once(store: sa.engine.Engine) -> None:
    look = Look(
        factor="k",
        arm="b",
        workload="w",
        response="r",
        number=1,
        pairs=16,
        alpha_spent=0.05,
        low=0.0,
        high=1.0,
        estimate=0.5,
    )
    write.add_looks(store, EXPERIMENT.id, [look])
    assert read.looks(store, EXPERIMENT.id) == [look]
    with pytest.raises(StoreError):
        write.add_looks(store, EXPERIMENT.id, [look])


def test_notes_and_states_are_kept(store: sa.engine.Engine) -> None:
    write.add_note(store, EXPERIMENT.id, stored_message("more"))
    write.add_note(store, EXPERIMENT.id, stored_message("more"))
    write.set_state(store, EXPERIMENT.id, ExperimentState.DONE, ended=9.0)
    write.save_trial(store, dataclasses.replace(_trial(1), invalid_because=("spoilt", stored_message("more"))))
    experiment = read.find(store, "last")
    assert (experiment.notes, experiment.state, experiment.ended) == (("note", "more"), ExperimentState.DONE, 9.0)
    for messages in (experiment.notes, read.trials(store, EXPERIMENT.id)[0].invalid_because):
        assert [isinstance(message, StoredMessage) for message in messages] == [False, True]


@pytest.mark.parametrize("name", ["last", EXPERIMENT.id, "2026", "n"])
def test_an_experiment_is_found_by_any_of_its_names(store: sa.engine.Engine, name: str) -> None:
    assert read.find(store, name) == EXPERIMENT


def test_an_unknown_or_ambiguous_name_lists_what_there_is(store: sa.engine.Engine) -> None:
    with pytest.raises(UsageError, match=EXPERIMENT.id):
        read.find(store, "nothing")
    other = dataclasses.replace(EXPERIMENT, id="20260102-000000-ffff", name="other")
    write.begin(store, other, PLAN, [dataclasses.replace(_trial(1), experiment=other.id)])
    with pytest.raises(UsageError, match="2 experiments start with '2026'"):
        read.find(store, "2026")


def _differences(store: sa.engine.Engine) -> list[object]:
    with store.connect() as connection:
        return list(compare_metadata(MigrationContext.configure(connection), schema.metadata))


def test_the_migrations_make_the_tables_of_a_new_store(store: sa.engine.Engine, tmp_path: Path) -> None:
    url = store_url(str(tmp_path / "old.db"))
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    with sa.create_engine(url).begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    old = open_engine(url, create=False)
    assert _differences(old) == _differences(store) == []
    write.begin(old, EXPERIMENT, PLAN, [_trial(1)])
    assert read.find(open_engine(url, create=False), "last") == EXPERIMENT


def test_a_store_that_many_open_first_is_made_once(tmp_path: Path) -> None:
    for attempt in range(5):
        url = store_url(str(tmp_path / f"{attempt}.db"))
        with ThreadPoolExecutor(8) as pool:
            engines = list(pool.map(partial(open_engine, create=True), [url] * 8))
        assert _differences(engines[0]) == []


def test_the_newest_migration_is_the_one_known() -> None:
    scripts = ScriptDirectory(str(Path(migrations.__file__).parent))
    assert scripts.get_current_head() == migrations.HEAD


def test_a_missing_store_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="run a plan first"):
        open_engine(store_url(str(tmp_path / "none.db")), create=False)


@pytest.mark.parametrize("name", ["what?.db", "50%25.db", "a # b.db", "sqlite.db?mode=ro"])
def test_a_store_is_in_the_file_that_was_named(tmp_path: Path, name: str) -> None:
    open_engine(store_url(str(tmp_path / name)), create=True).dispose()
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert file_of(store_url(str(tmp_path / name))) == tmp_path / name


def test_a_store_of_a_newer_release_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    open_engine(store_url(str(path)), create=True).dispose()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(StoreError, match="newer Paribus"):
        open_engine(store_url(str(path)), create=True)


def test_a_file_of_another_program_keeps_its_content_and_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "passwd"
    file.write_text("root:x:0:0\n")
    file.chmod(0o644)
    with pytest.raises(StoreError, match="file is not a database"):
        open_engine(store_url(str(file)), create=True)
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("root:x:0:0\n", 0o644)


@pytest.mark.parametrize(
    "content", [b"garbage that is no database at all, and long enough to be read as a header....." * 20]
)
def test_a_damaged_store_is_reported_and_kept(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "s.db"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="is damaged"):
        open_engine(store_url(str(path)), create=True)
    assert path.read_bytes() == content


def test_a_store_cut_short_is_reported(tmp_path: Path, store: sa.engine.Engine) -> None:
    path = tmp_path / "s.db"
    store.dispose()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StoreError, match=r"damaged|failed"):
        read.trials(open_engine(store_url(str(path)), create=False), EXPERIMENT.id)


def test_a_store_where_none_can_be_made_is_reported() -> None:
    with pytest.raises(StoreError, match="cannot make"):
        open_engine(store_url("/proc/nowhere/s.db"), create=True)


@pytest.mark.parametrize("url", ["nonsense://x", "://"])
def test_an_invalid_url_is_reported(url: str) -> None:
    with pytest.raises(UsageError, match="is not a store"):
        open_engine(store_url(url), create=True)


def test_an_id_is_never_given_twice(store: sa.engine.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    suffixes = iter(["7f3a", "7f3a", "0001"])
    monkeypatch.setattr("secrets.token_hex", lambda _: next(suffixes))
    first = new_id(store, 0.0)
    assert first == "19700101-000000-7f3a"
    write.begin(store, dataclasses.replace(EXPERIMENT, id=first), PLAN, [])
    assert new_id(store, 0.0) == "19700101-000000-0001"
