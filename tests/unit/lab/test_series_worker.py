"""The points of a large experiment, read by a process aside: the same as read here, whatever becomes of it."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import scripted
from plan_samples import FILEIO, checked, simple
from sqlalchemy.engine import Engine as Store
from typer.testing import CliRunner

from paribus.cli.main import app
from paribus.experiment.time_series import response_series
from paribus.lab.results import series_worker
from paribus.model import Experiment, ExperimentState, Plan, Trial
from paribus.store import read, write
from paribus.store.open import open_engine, store_url
from paribus.worker_process import WorkerFailed, WorkerProcess

Made = tuple[Store, Experiment, Plan, list[Trial]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    store = open_engine(store_url(str(tmp_path_factory.mktemp("secret") / "s.db")), create=True)
    plan = checked(simple('"vm.swappiness" = [60, 1]', FILEIO, '[protocol]\nbudget = "2h"'))
    done = scripted.carry_out(store, plan, lambda trial: 0.06 * (trial.arm == "1"), wobble=0.01)
    yield store, done, plan, read.trials(store, done.id)
    store.dispose()


@pytest.fixture
def _aside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series_worker, "_MANY", 1)


def _forbid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail the test if this process reads series."""

    def each_series(*_: object) -> None:
        pytest.fail("read here")

    monkeypatch.setattr(read, "each_series", each_series)


@pytest.mark.usefixtures("_aside")
def test_they_are_the_same_as_read_here(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    store, done, plan, trials = made
    here = response_series(store, done.id, plan, trials), series_worker.read_drawn_data(store, done.id, plan, trials)
    assert any(course.points for course in here[0]["throughput_per_s"].values())
    assert any(course.points for course in here[1].series["throughput_per_s"].values())
    _forbid(monkeypatch)
    with series_worker.Points(store, done, response_series, series_worker.read_drawn_data) as reading:
        assert reading.of(response_series, plan, trials) == here[0]
        assert reading.of(series_worker.read_drawn_data, plan, trials) == here[1]
    with series_worker.Points(store, done, response_series, series_worker.read_drawn_data) as reading:
        assert reading.of(series_worker.read_drawn_data, plan, trials) == here[1], (
            "nothing is lost of what was not wanted"
        )


@pytest.mark.usefixtures("_aside")
def test_series_are_read_here_if_the_worker_ends(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    store, done, plan, trials = made
    begun: list[WorkerProcess] = []

    def killed(module: str) -> WorkerProcess:
        begun.append(WorkerProcess(module))
        begun[0].end()
        return begun[0]

    monkeypatch.setattr(series_worker, "WorkerProcess", killed)
    with series_worker.Points(store, done, response_series, series_worker.read_drawn_data) as reading:
        assert reading.of(response_series, plan, trials) == response_series(store, done.id, plan, trials)
        assert reading.of(series_worker.read_drawn_data, plan, trials) == series_worker.read_drawn_data(
            store, done.id, plan, trials
        )
    assert begun


@pytest.mark.usefixtures("_aside")
def test_abandoned_worker_ends_and_hides_the_path(made: Made) -> None:
    store, done, _, _ = made
    children = Path(f"/proc/self/task/{threading.get_native_id()}/children")
    before = set(children.read_text().split())
    with pytest.raises(KeyError), series_worker.Points(store, done, response_series):
        (reader,) = set(children.read_text().split()) - before
        assert b"secret" not in Path(f"/proc/{reader}/cmdline").read_bytes()
        raise KeyError("something else failed")
    assert set(children.read_text().split()) <= before


@pytest.mark.usefixtures("_aside")
def test_series_are_read_here_if_no_worker_starts(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    store, done, plan, trials = made

    def none(module: str) -> None:
        raise WorkerFailed(module)

    monkeypatch.setattr(series_worker, "WorkerProcess", none)
    with series_worker.Points(store, done, response_series) as reading:
        assert reading.of(response_series, plan, trials) == response_series(store, done.id, plan, trials)


@pytest.mark.usefixtures("_aside")
def test_of_what_goes_on_and_what_has_no_trial_nothing_is_read_aside(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, done, plan, _ = made
    empty = replace(done, id="20260101-000000-0000")
    write.begin(store, empty, plan, ())
    monkeypatch.setattr(series_worker, "WorkerProcess", lambda _: pytest.fail("a process was started"))
    for one in (empty, replace(done, state=ExperimentState.RUNNING)):
        with series_worker.Points(store, one, response_series):
            pass


@pytest.mark.parametrize("form", ["json", "text", "markdown"])
def test_a_report_is_the_same(made: Made, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    asked = ["report", made[1].id, "--format", form, "--store", str(made[0].url.database)]
    here = CliRunner().invoke(app, asked, catch_exceptions=False)
    monkeypatch.setattr(series_worker, "_MANY", 1)
    _forbid(monkeypatch)
    aside = CliRunner().invoke(app, asked, catch_exceptions=False)
    assert (here.exit_code, aside.exit_code) == (0, 0)
    assert aside.output == here.output
