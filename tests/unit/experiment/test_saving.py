"""Saving of a measured trial: a locked store is waited for, and the trial is in a file meanwhile."""

import contextlib
import dataclasses
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from plan_samples import FILEIO, checked, simple
from scripted import MACHINE, measured
from sqlalchemy.engine import Engine as Store
from sqlalchemy.engine import make_url

from paribus.errors import StoreError
from paribus.experiment import saving, walk
from paribus.i18n import stored_message
from paribus.model import Change, ChangeState, Experiment, Trial, TrialState
from paribus.store import open as opening
from paribus.store import read, spool, write
from paribus.store.open import open_engine, store_url

CHANGE = Change(knob="k", address="/k", before=1, wanted="x", observed=None, state=ChangeState.VERIFIED)
MEASURED = [dataclasses.replace(measured(5.0, [4.0, 6.0])[0], histogram=b"\x00h")]
FACTS = {"kernel": "k"}
ROWS = write.TrialRows({"experiment": "20260101-000000-abcd", "order": 1, "invalid_because": []}, [], [], {})


@pytest.fixture
def impatient(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store whose transactions hardly wait for a lock."""
    monkeypatch.setattr(opening, "_LOCK_TIMEOUT_S", 0.05)
    return open_engine(store_url(str(tmp_path / "s.db")), create=True)


@pytest.fixture
def begun(impatient: Store) -> Experiment:
    plan = checked(simple('"vm.swappiness" = [60, 1]', FILEIO, "[protocol]\nrounds = 2"))
    return walk.begin(plan, {}, MACHINE, {}, impatient)


@contextlib.contextmanager
def _locked(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(tmp_path / "s.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield other


def _done(store: Store, begun: Experiment) -> Trial:
    first = read.trials(store, begun.id)[0]
    why = (stored_message("{what} is odd", what="it"),)
    return dataclasses.replace(
        first, state=TrialState.DONE, started=1.0, ended=2.0, fingerprint="f", invalid_because=why
    )


def _kept(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "s.db.spool").glob("*"))


def _assert_stored_once(store: Store, done: Trial) -> None:
    stored = read.trials(store, done.experiment)[0]
    assert stored == done
    assert stored.invalid_because[0].values == {"what": "it"}  # type: ignore[attr-defined]
    assert read.changes(store, done.experiment) == [(done.order, CHANGE)]
    assert read.series(store, done.experiment, "throughput_per_s", [done.order]) == {done.order: MEASURED[0]}
    assert read.conditions(store, done.experiment) == {done.order: FACTS}


def test_a_locked_store_is_waited_for(impatient: Store, begun: Experiment, tmp_path: Path) -> None:
    done = _done(impatient, begun)
    with _locked(tmp_path) as other:

        def report(message: str) -> None:
            assert "is locked by another program" in message
            assert len(_kept(tmp_path)) == 1
            other.execute("COMMIT")

        saving.save(impatient, done, [CHANGE], MEASURED, FACTS, saving.wait_for_store(report, lambda: False))
    _assert_stored_once(impatient, done)
    assert not (tmp_path / "s.db.spool").exists()


def test_a_trial_that_the_store_could_not_take_is_in_a_file_until_it_can(
    impatient: Store, begun: Experiment, tmp_path: Path
) -> None:
    done = _done(impatient, begun)
    with _locked(tmp_path), pytest.raises(StoreError, match=r"trial 1 of .* is kept in .*s\.db\.spool"):
        saving.save(
            impatient, done, [CHANGE], MEASURED, FACTS, saving.wait_for_store(lambda _message: None, lambda: True)
        )
    (file,) = _kept(tmp_path)
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    content = file.read_text()
    spool.deliver(impatient, begun.id)
    _assert_stored_once(impatient, done)
    assert not _kept(tmp_path)
    spool.put(
        impatient, write.trial_rows(done, [CHANGE], MEASURED, FACTS)
    )  # the store had taken it before its program was killed
    spool.deliver(impatient, begun.id)
    _assert_stored_once(impatient, done)
    file.parent.mkdir()
    file.write_text(content[: len(content) // 2])
    spool.deliver(impatient, begun.id)
    _assert_stored_once(impatient, done)


def test_a_store_on_a_server_has_its_spool_beside_the_default_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = make_url("postgresql://paribus@db1/lab")
    monkeypatch.setenv("PARIBUS_STORE", str(url))
    user = os.geteuid() or 1000  # not root, whose store lies elsewhere
    monkeypatch.setattr(opening.os, "geteuid", lambda: user)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    path = spool.put(SimpleNamespace(url=url, dialect=SimpleNamespace(name="postgresql")), ROWS)  # type: ignore[arg-type]
    assert path == tmp_path / "paribus" / "paribus.db.spool" / "20260101-000000-abcd-1.json"
