"""The points of a large experiment, read by a process aside: the same as read here, whatever becomes of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import scripted
from plan_samples import FILEIO, checked, simple
from sqlalchemy.engine import Engine as Store
from typer.testing import CliRunner

from ceteris.cli import points
from ceteris.cli.main import app
from ceteris.experiment import evidence
from ceteris.model import Experiment, Plan, Trial
from ceteris.store import read
from ceteris.store.open import open_engine, store_url

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
    monkeypatch.setattr(points, "_MANY", 1)


def _forbid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is read here any more."""

    def courses(*_: object) -> None:
        pytest.fail("read here")

    monkeypatch.setattr(evidence, "courses", courses)
    monkeypatch.setattr(points.curves, "choose", courses)


@pytest.mark.usefixtures("_aside")
def test_they_are_the_same_as_read_here(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    store, done, plan, trials = made
    here = points.courses(store, done.id, plan, trials), points.drawn(store, done.id, plan, trials)
    assert any(course.points for course in here[0]["throughput_per_s"].values())
    assert any(course.points for course in here[1].series["throughput_per_s"].values())
    _forbid(monkeypatch)
    with points.Points(store, done.id, points.courses, points.drawn) as reading:
        assert reading.of(points.courses, plan, trials) == here[0]
        assert reading.of(points.drawn, plan, trials) == here[1]
    with points.Points(store, done.id, points.courses, points.drawn) as reading:
        assert reading.of(points.drawn, plan, trials) == here[1], "of what is not wanted after all nothing is lost"


@pytest.mark.usefixtures("_aside")
def test_where_the_process_is_killed_they_are_read_here(made: Made) -> None:
    store, done, plan, trials = made
    with points.Points(store, done.id, points.courses, points.drawn) as reading:
        assert reading._aside
        reading._aside._process.kill()
        assert reading.of(points.courses, plan, trials) == points.courses(store, done.id, plan, trials)
        assert reading.of(points.drawn, plan, trials) == points.drawn(store, done.id, plan, trials)


@pytest.mark.usefixtures("_aside")
def test_where_the_store_lies_is_told_to_nobody_else(made: Made) -> None:
    store, done, _, _ = made
    with points.Points(store, done.id, points.courses) as reading:
        assert reading._aside
        shown = Path(f"/proc/{reading._aside._process.pid}/cmdline").read_bytes()
        assert b"secret" not in shown


@pytest.mark.parametrize("form", ["json", "text", "markdown"])
def test_a_report_is_the_same(made: Made, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    asked = ["report", "--format", form, "--store", str(made[0].url.database)]
    here = CliRunner().invoke(app, asked, catch_exceptions=False)
    monkeypatch.setattr(points, "_MANY", 1)
    _forbid(monkeypatch)
    aside = CliRunner().invoke(app, asked, catch_exceptions=False)
    assert (here.exit_code, aside.exit_code) == (0, 0)
    assert aside.output == here.output
