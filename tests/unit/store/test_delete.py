"""Deletion of experiments: no row of any table of the schema is left, and no row of others is lost."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from paribus.errors import StoreError, StoreLocked
from paribus.model import ExperimentState
from paribus.store import delete, schema, spool
from paribus.store.message_column import StoredMessages
from paribus.store.open import open_engine, store_url
from paribus.store.write import TrialRows

FIRST, SECOND = "20260101-000000-aaaa", "20260102-000000-bbbb"
SHARED = "conditions of both"
OF_THE_MACHINE = {"calibration"}  # no rows of experiments


def _value(column: sa.Column[Any], experiment: str) -> object:
    """A value for a column of a row of this experiment."""
    is_name = column.name == "experiment" or (column.table is schema.experiment and column.name == "id")
    if is_name or column.name in ("digest", "fingerprint"):
        return experiment
    if isinstance(column.type, StoredMessages):
        return []
    match column.type:
        case sa.JSON():
            return {}
        case sa.LargeBinary():
            return b"x" * 10_000
        case sa.Integer() | sa.Float():
            return 1
        case _:
            return ExperimentState.DONE.value


def _row(table: sa.Table, experiment: str) -> dict[str, object]:
    generated = {"id"} if isinstance(table.c.get("id", sa.column("")).type, sa.Integer) else set()
    return {column.name: _value(column, experiment) for column in table.c if column.name not in generated}


def _rows_of(store: sa.engine.Engine, experiment: str) -> dict[str, int]:
    """The number of rows of each table that name the experiment in any column."""
    with store.connect() as connection:
        return {
            table.name: sum(experiment in map(str, row) for row in connection.execute(sa.select(table)))
            for table in schema.metadata.sorted_tables
        }


@pytest.fixture
def store(tmp_path: Path) -> Iterator[sa.engine.Engine]:
    """A store in which two experiments have a row in every table."""
    opened = open_engine(store_url(str(tmp_path / "s.db")), create=True)
    with opened.begin() as connection:
        for table in schema.metadata.sorted_tables:
            for experiment in (FIRST, SECOND):
                connection.execute(sa.insert(table), _row(table, experiment))
        connection.execute(sa.insert(schema.conditions).values(digest=SHARED, facts={}))
        for experiment in (FIRST, SECOND):
            second = _row(schema.trial, experiment) | {"order": 2, "fingerprint": SHARED}
            connection.execute(sa.insert(schema.trial), second)
    yield opened
    opened.dispose()


def test_no_table_keeps_a_row_of_a_deleted_experiment(store: sa.engine.Engine) -> None:
    before, others = _rows_of(store, FIRST), _rows_of(store, SECOND)
    assert {name for name, rows in before.items() if not rows} == OF_THE_MACHINE
    delete.delete(store, {FIRST: ExperimentState.DONE})
    assert not any(_rows_of(store, FIRST).values())
    assert _rows_of(store, SECOND) == others
    with store.connect() as connection:
        assert connection.scalar(sa.select(sa.func.count()).select_from(schema.calibration)) == 2
        assert connection.exec_driver_sql("PRAGMA foreign_key_check").all() == []


def test_shared_conditions_stay_until_the_last_trial_is_deleted(store: sa.engine.Engine) -> None:
    delete.delete(store, {FIRST: ExperimentState.DONE})
    assert _rows_of(store, SHARED)["conditions"] == 1
    delete.delete(store, {SECOND: ExperimentState.DONE})
    assert _rows_of(store, SHARED)["conditions"] == 0


@pytest.mark.parametrize(
    "states",
    [
        {FIRST: ExperimentState.DONE, "20260103-000000-cccc": ExperimentState.DONE},
        {FIRST: ExperimentState.DONE, SECOND: ExperimentState.INTERRUPTED},
    ],
)
def test_missing_or_resumed_experiment_prevents_every_deletion(
    store: sa.engine.Engine, states: dict[str, ExperimentState]
) -> None:
    before = _rows_of(store, FIRST)
    with pytest.raises(StoreError, match=r"nothing was deleted: .* is (gone|done) now"):
        delete.delete(store, states)
    assert _rows_of(store, FIRST) == before


def test_trials_in_the_spool_are_deleted(store: sa.engine.Engine) -> None:
    paths = [
        spool.put(store, TrialRows({"experiment": name, "order": 1, "invalid_because": []}, [], [], {}))
        for name in (FIRST, SECOND)
    ]
    delete.delete(store, {FIRST: ExperimentState.DONE})
    assert [path.exists() for path in paths] == [False, True]


def test_the_store_gives_its_space_back(store: sa.engine.Engine, tmp_path: Path) -> None:
    with store.begin() as connection:
        large = _row(schema.measurement, FIRST) | {"points": b"x" * 2_000_000, "source": "large"}
        connection.execute(sa.insert(schema.measurement), large)
    before = delete.size_bytes(store)
    delete.delete(store, {FIRST: ExperimentState.DONE})
    delete.compact(store)
    after = delete.size_bytes(store)
    assert before is not None
    assert after == (tmp_path / "s.db").stat().st_size < before - 2_000_000


def test_a_store_in_use_is_not_compacted(store: sa.engine.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paribus.store.open._LOCK_TIMEOUT_S", 0.05)
    other = open_engine(store.url.render_as_string(), create=False)
    store.dispose()
    with other.connect() as connection:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        with pytest.raises(StoreLocked):
            delete.compact(store)
    other.dispose()
