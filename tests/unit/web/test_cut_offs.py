"""Experiments that were cut off: when they are taken for that, and what the pages say."""

import socket
import time
from collections.abc import Callable, Collection
from dataclasses import replace

import pytest
import sqlalchemy as sa
import web_samples as samples
from sqlalchemy.engine import Engine as Store

from paribus.errors import NotInspected
from paribus.i18n import Language
from paribus.knobs.journals import Folders, Inspection
from paribus.lab import status
from paribus.model import Experiment, ExperimentState
from paribus.store import read, schema, write
from paribus.web.cut_offs import CutOffs

Page = Callable[..., str]
LONG_AGO_S = 60.0  # trials take 10 s


def begin(store: Store, name: str = "scheduler", experiment: str = "20260101-000000-abcd") -> str:
    """An experiment of this machine whose last trial ended a minute ago."""
    samples.begin(store, 4, name, experiment)
    made = samples.make(store, experiment)
    moment = time.time() - LONG_AGO_S
    write.save_trial(store, replace(made, started=moment, applied=moment, ended=moment + 5))
    table = schema.experiment
    here = {"host": socket.gethostname()}
    with store.begin() as connection:
        connection.execute(sa.update(table).where(table.c.id == experiment).values(started=moment, fingerprint=here))
    return experiment


def is_cut_off(store: Store, running: Collection[str] | None, **changes: object) -> bool:
    experiment = replace(read.find(store, "last"), **changes)  # type: ignore[arg-type]
    moment = time.time() - LONG_AGO_S
    return CutOffs(lambda: running).has(experiment, samples.plan(), (moment, 5.0), time.time())


def test_running_experiments_without_an_owner_were_cut_off(store: Store) -> None:
    experiment = begin(store)
    assert is_cut_off(store, ())
    assert is_cut_off(store, ("another",))
    assert not is_cut_off(store, (experiment,))


def test_unknown_owners_cut_nothing_off(store: Store) -> None:
    begin(store)
    assert not is_cut_off(store, None)


@pytest.mark.parametrize("state", [state for state in ExperimentState if state is not ExperimentState.RUNNING])
def test_only_running_experiments_can_be_cut_off(store: Store, state: ExperimentState) -> None:
    begin(store)
    assert not is_cut_off(store, (), state=state)


def test_experiments_of_other_machines_are_not_taken_for_cut_off(store: Store) -> None:
    begin(store)
    assert not is_cut_off(store, (), fingerprint={"host": "elsewhere"})
    far = replace(samples.plan(), target=replace(samples.plan().target, address="ssh://db1"))
    experiment: Experiment = read.find(store, "last")
    assert not CutOffs(lambda: ()).has(experiment, far, (0.0, 5.0), time.time())


def test_no_journal_is_read_while_a_trial_may_still_run(store: Store) -> None:
    begin(store)

    def never() -> Collection[str]:
        raise AssertionError("a trial may be running")

    cut_offs, experiment = CutOffs(never), read.find(store, "last")
    last_event_s = experiment.started
    assert not cut_offs.has(experiment, samples.plan(), (last_event_s, 10.0), last_event_s + 25)


def test_one_inspection_serves_all_experiments_for_some_seconds(store: Store) -> None:
    begin(store)
    inspections: list[float] = []

    def running() -> Collection[str]:
        inspections.append(0.0)
        return ()

    cut_offs, experiment, now = CutOffs(running), read.find(store, "last"), time.time()
    for moment in (now, now + 1, now + 9, now + 11):
        assert cut_offs.has(experiment, samples.plan(), (0.0, 0.0), moment)
    assert len(inspections) == 2


def test_cut_off_experiments_are_marked_with_the_command_that_continues_them(store: Store, page: Page) -> None:
    lost = begin(store, "lost")
    command = f"<code>paribus resume {lost}</code>"
    for address in ("/", "/experiments/last"):
        text = page(address, running_here=lambda: ())
        assert '<span class="state cut-off">was cut off</span>' in text
        assert command in text
        alive = page(address, running_here=lambda: (lost,))
        assert "was cut off" not in alive
        assert command not in alive
        assert "Nothing was written since" not in text
        assert "已被切断" in page(address, language=Language.ZH, running_here=lambda: ())
    assert "lost is running" not in page("/", running_here=lambda: ())
    text = page(running_here=lambda: ())
    assert "The experiment was cut off" in text
    assert "Nothing works on it since" in text
    assert "Read the report" in text


def test_names_of_cut_off_experiments_are_escaped(store: Store, page: Page) -> None:
    begin(store, "<b>x</b>", "20260101-000000-<i>")
    text = page("/", running_here=lambda: ())
    assert "<b>x" not in text
    assert "paribus resume 20260101-000000-&lt;i&gt;" in text


def test_journals_that_cannot_be_read_leave_owners_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> Inspection:
        raise NotInspected("no", "")

    monkeypatch.setattr(status, "inspect", refuse)
    assert status.running_here() is None
    for of_root, running in (("", frozenset({"a"})), ("/var/lib/paribus/journal", None)):
        inspection = Inspection((), (), Folders("j", of_root, ()), ("a",))
        monkeypatch.setattr(status, "inspect", lambda *_, inspection=inspection: inspection)
        assert status.running_here() == running
