"""Exported files read back: nothing lost, every number of the report found again, nobody's file replaced."""

import csv
import json
import math
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import scripted
from plan_samples import FILEIO, checked, simple
from pyarrow import parquet
from sqlalchemy.engine import Engine as Store
from typer.testing import CliRunner, Result

from paribus.cli import exporting, reporting
from paribus.cli.main import app
from paribus.errors import StoreError, UsageError
from paribus.export import folder
from paribus.export.tables import TABLES, Form, Table, Type, chosen
from paribus.model import Experiment, FailureClass, Trial, TrialState
from paribus.store import read, write
from paribus.store.open import open_engine, store_url

ROOT = Path(__file__).parent.parent.parent.parent
HOSTILE = 'the kernel said "no",\nand\tthen; =1+1 — µs'
Rows = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Experiment]:
    """An experiment in which one level is 6 % better, with a trial that failed in strange words."""
    store = open_engine(store_url(str(tmp_path_factory.mktemp("store") / "s.db")), create=True)
    plan = checked(simple('"vm.swappiness" = [60, 1]', FILEIO, '[protocol]\nbudget = "2h"'))
    done = scripted.carry_out(store, plan, lambda trial: 0.06 * (trial.arm == "1"), wobble=0.01)
    last = read.trials(store, done.id)[-1]
    failed = replace(last, order=last.order + 1, block=last.block + 1, state=TrialState.FAILED, started=1.1)
    words = {"failure": FailureClass.LOAD_ERROR, "failure_message": HOSTILE, "invalid_because": (HOSTILE,)}
    write.add_trials(store, done.id, [replace(failed, **words)], done.schedule_hash)  # type: ignore[arg-type]
    return store, done


def _number(text: str, kind: Type) -> object:
    if kind in (Type.BOOLEAN, Type.ORDERS):
        return json.loads(text)
    return int(text) if kind is Type.INTEGER else float(text)


def _read_csv(path: Path, table: Table) -> list[dict[str, Any]]:
    types = {column.name: column.type for column in table.columns}
    texts = (Type.TEXT, Type.JSON)
    with path.open(encoding="utf-8", newline="") as file:
        return [
            {n: v if types[n] in texts else _number(v, types[n]) if v else None for n, v in row.items()}
            for row in csv.DictReader(file)
        ]


def _read_parquet(path: Path, _table: Table) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    return rows


READERS: dict[Form, Callable[[Path, Table], list[dict[str, Any]]]] = {Form.CSV: _read_csv, Form.PARQUET: _read_parquet}


@pytest.fixture(params=list(Form))
def exported(request: pytest.FixtureRequest, made: tuple[Store, Experiment], tmp_path: Path) -> Rows:
    """Every table as read back from its file."""
    form: Form = request.param
    told = exporting.export(*made, form, chosen(""), tmp_path / "out", force=False)
    found = {name: READERS[form](tmp_path / "out" / f"{name}.{form}", table) for name, table in TABLES.items()}
    assert {file.table: file.rows for file in told.files} == {name: len(rows) for name, rows in found.items()}
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(f"{n}.{form}" for n in TABLES)
    return found


def test_every_number_of_an_effect_is_traced_to_what_its_trials_measured(exported: Rows) -> None:
    (whole,) = (one for one in exported["effects"] if one["load"] is None)
    assert whole["verdict"] == "better"
    trials = {one["trial"]: one for one in exported["trials"]}
    values = {one["trial"]: one["mean"] for one in exported["measurements"] if one["metric"] == whole["response"]}
    logs: dict[tuple[int, str], float] = {}
    for order in whole["trials"]:
        trial = trials[order]
        assert (trial["state"], trial["factor"], trial["workload"]) == ("done", whole["factor"], whole["workload"])
        assert json.loads(trial["settings"])[whole["factor"]] == int(trial["arm"])
        logs[trial["block"], trial["arm"]] = math.log(values[order])
    pairs = [logs[block, whole["arm"]] - logs[block, whole["baseline"]] for block, arm in logs if arm == whole["arm"]]
    assert len(pairs) == whole["pairs"]
    assert whole["log_ratio_low"] < fmean(pairs) < whole["log_ratio_high"]
    assert whole["log_ratio"] == pytest.approx(fmean(pairs), abs=0.002)
    assert exported["looks"][-1]["log_ratio"] == pytest.approx(whole["log_ratio"], abs=1e-12)


def test_every_mean_is_that_of_its_trials(exported: Rows) -> None:
    values = {(one["trial"], one["metric"]): one["mean"] for one in exported["measurements"]}
    assert exported["cells"]
    for cell in exported["cells"]:
        assert cell["mean"] == pytest.approx(fmean(values[order, cell["metric"]] for order in cell["trials"]))


def test_effects_and_means_are_those_of_the_report(exported: Rows, made: tuple[Store, Experiment]) -> None:
    document = reporting.report_document(*made)
    for effect, row in zip(document.effects, exported["effects"], strict=True):
        assert (row["percent"], row["percent_low"], row["percent_high"]) == tuple(effect.percent.model_dump().values())
        assert (row["trials"], row["confidence"]) == (effect.trials, effect.confidence)
        assert json.loads(row["checks"]) == [check.model_dump() for check in effect.checks]
    for cell, row in zip(document.cells, exported["cells"], strict=True):
        assert (row["mean"], row["low"], row["high"], row["trials"]) == (cell.mean, cell.low, cell.high, cell.trials)


def test_a_course_is_the_one_that_was_kept(exported: Rows, made: tuple[Store, Experiment]) -> None:
    store, experiment = made
    orders = sorted({row["trial"] for row in exported["series"]})
    kept = read.series(store, experiment.id, "throughput_per_s", orders)
    found: dict[int, list[tuple[float, float]]] = {}
    for row in exported["series"]:
        assert (row["metric"], row["unit"], row["source"]) == ("throughput_per_s", "1/s", "engine")
        found.setdefault(row["trial"], []).append((row["time_s"], row["value"]))
    assert found == {order: list(enumerate(one.points)) for order, one in kept.items()}


def test_strange_words_come_back_as_they_were(exported: Rows) -> None:
    row = exported["trials"][-1]
    assert (row["failure"], row["failure_message"]) == ("load-error", HOSTILE)
    assert json.loads(row["invalid_because"]) == [HOSTILE]
    assert (row["started_unix_s"], row["ended_unix_s"], row["supersedes"]) == (1.1, None, None)


def test_readme_describes_every_table_and_column() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    described = {name: re.findall(r"`(\w+)`", rest) for name, rest in re.findall(r"^\| `(\w+)` \|(.*)$", text, re.M)}
    for name, table in TABLES.items():
        assert described[name] == [column.name for column in table.columns[1:]], name


def _export(*more: str) -> Result:
    return CliRunner().invoke(app, ["export", *more])


def test_nobody_is_overwritten_unasked_and_nothing_is_written_then(
    made: tuple[Store, Experiment], tmp_path: Path
) -> None:
    (tmp_path / "trials.csv").write_text("mine")
    with pytest.raises(UsageError, match=r"trials.csv in .* would be overwritten"):
        exporting.export(*made, Form.CSV, chosen(""), tmp_path, force=False)
    assert [path.name for path in tmp_path.glob("*.csv")] == ["trials.csv"]
    assert (tmp_path / "trials.csv").read_text() == "mine"
    exporting.export(*made, Form.CSV, chosen("looks"), tmp_path, force=False)
    exporting.export(*made, Form.CSV, chosen("trials, looks"), tmp_path, force=True)
    assert (tmp_path / "trials.csv").read_text().startswith("experiment,trial,")
    assert sorted(path.name for path in tmp_path.glob("*.csv")) == ["looks.csv", "trials.csv"]


def test_what_fails_half_way_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    path = tmp_path / "looks.csv"
    path.write_text("before")

    def rows(_table: Table):  # type: ignore[no-untyped-def]
        yield ("e",) + (None,) * 12
        raise StoreError("the store is gone")

    with pytest.raises(StoreError, match="gone"):
        folder.write(tmp_path, Form.CSV, chosen("looks"), rows, force=True)
    assert path.read_text() == "before"
    assert list(tmp_path.glob(".*part")) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write"):
        folder.write(tmp_path / "file", Form.CSV, chosen("looks"), lambda _table: [], force=False)


def test_a_missing_library_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, made: tuple[Store, Experiment], tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"pip install 'paribus\[parquet\]'"):
        exporting.export(*made, Form.PARQUET, chosen(""), tmp_path / "out", force=False)
    assert not (tmp_path / "out").exists()


def test_a_table_that_is_not_there_is_told_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"no table 'trial'(.|\n)*trials"):
        chosen("trial")
    assert _export("--only", "nothing").exit_code != 0


MEMORY = """
import resource, sys
from pathlib import Path
from paribus.cli import exporting
from paribus.export.tables import Form, chosen
from paribus.store import read
from paribus.store.open import open_engine, store_url
store = open_engine(store_url(sys.argv[1]), create=False)
form, tables = Form(sys.argv[2]), chosen("trials,measurements,series")
told = exporting.export(store, read.find(store, "last"), form, tables, Path(sys.argv[3]), force=False)
print(told.files[-1].rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


@pytest.mark.parametrize("form", list(Form))
def test_a_long_experiment_needs_no_more_memory_than_a_short_one(form: Form, tmp_path: Path) -> None:
    """Held as rows of Python's numbers, 700,000 points take 150 MB."""
    used: dict[int, int] = {}
    for trials in (10, 1000):
        url = str(tmp_path / f"{trials}.db")
        _long(url, trials)
        arguments = [sys.executable, "-c", MEMORY, url, form, str(tmp_path / f"{form}-{trials}")]
        done = subprocess.run(arguments, capture_output=True, text=True, check=True)
        rows, peak = map(int, done.stdout.split())
        assert rows == trials * 700
        used[trials] = peak
    assert used[1000] - used[10] < 48 * 2**20, used


def _long(url: str, trials: int) -> None:
    """An experiment of so many trials, each with a course of 700 points."""
    store = open_engine(store_url(url), create=True)
    plan = checked(simple('"vm.swappiness" = [60, 1]', FILEIO, '[protocol]\nrounds = 2\nsettle = "1s"'))
    begun = scripted.walk.begin(plan, {}, scripted.MACHINE, {}, store)
    like: Trial = read.trials(store, begun.id)[0]
    (measured,) = scripted.measured(1.0, [float(number) for number in range(700)])
    own = [replace(like, order=1000 + number, block=1000 + number) for number in range(trials)]
    write.add_trials(store, begun.id, own, begun.schedule_hash)
    with store.begin() as connection:
        row = write.measurement_row(measured) | {"experiment": begun.id}
        rows = [row | {"trial": one.order} for one in own]
        connection.execute(write.schema.measurement.insert(), rows)
    store.dispose()
