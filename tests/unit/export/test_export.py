"""Exported files read back: nothing lost, every number of the report found again, nobody's file replaced."""

import csv
import json
import math
import re
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

from paribus.cli.main import app
from paribus.errors import StoreError, UsageError
from paribus.export import folder
from paribus.export.forms import writer
from paribus.export.tables import TABLES, ColumnType, ExportColumn, ExportTable, FileFormat, select_tables
from paribus.lab.results import exporting, reporting
from paribus.model import Experiment, FailureClass, TrialState
from paribus.store import read, write
from paribus.store.open import open_engine, store_url

ROOT = Path(__file__).parent.parent.parent.parent
HOSTILE = 'the kernel said "no",\nand\tthen; =1+1 — µs'
Rows = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def experiment_in_store(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Experiment]:
    """An experiment in which one level is 6 % better, with a trial that failed in special characters."""
    store = open_engine(store_url(str(tmp_path_factory.mktemp("store") / "s.db")), create=True)
    plan = checked(simple('"vm.swappiness" = [60, 1]', FILEIO, '[protocol]\nbudget = "2h"'))
    done = scripted.carry_out(store, plan, lambda trial: 0.06 * (trial.arm == "1"), wobble=0.01)
    last = read.trials(store, done.id)[-1]
    failed = replace(last, order=last.order + 1, block=last.block + 1, state=TrialState.FAILED, started=1.1)
    failure = {"failure": FailureClass.LOAD_ERROR, "failure_message": HOSTILE, "invalid_because": (HOSTILE,)}
    write.add_trials(store, done.id, [replace(failed, **failure)], done.schedule_hash)  # type: ignore[arg-type]
    return store, done


def _number(text: str, kind: ColumnType) -> object:
    if kind in (ColumnType.BOOLEAN, ColumnType.ORDERS):
        return json.loads(text)
    return int(text) if kind is ColumnType.INTEGER else float(text)


def _read_csv(path: Path, table: ExportTable) -> list[dict[str, Any]]:
    types = {column.name: column.type for column in table.columns}
    texts = (ColumnType.TEXT, ColumnType.JSON)
    with path.open(encoding="utf-8", newline="") as file:
        return [
            {n: v if types[n] in texts else _number(v, types[n]) if v else None for n, v in row.items()}
            for row in csv.DictReader(file)
        ]


def _read_parquet(path: Path, _table: ExportTable) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    return rows


READERS: dict[FileFormat, Callable[[Path, ExportTable], list[dict[str, Any]]]] = {
    FileFormat.CSV: _read_csv,
    FileFormat.PARQUET: _read_parquet,
}


@pytest.fixture(params=list(READERS))
def exported(request: pytest.FixtureRequest, experiment_in_store: tuple[Store, Experiment], tmp_path: Path) -> Rows:
    """Every table as read back from its file."""
    form: FileFormat = request.param
    document = exporting.export(*experiment_in_store, form, select_tables(""), tmp_path / "out", force=False)
    rows_by_table = {name: READERS[form](tmp_path / "out" / f"{name}.{form}", table) for name, table in TABLES.items()}
    assert {file.table: file.rows for file in document.files} == {
        name: len(rows) for name, rows in rows_by_table.items()
    }
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(f"{n}.{form}" for n in TABLES)
    return rows_by_table


def test_every_number_of_an_effect_is_traced_to_the_measurements_of_its_trials(exported: Rows) -> None:
    (whole,) = (row for row in exported["effects"] if row["load"] is None)
    assert whole["verdict"] == "better"
    trials = {row["trial"]: row for row in exported["trials"]}
    values = {row["trial"]: row["mean"] for row in exported["measurements"] if row["metric"] == whole["response"]}
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


def test_a_text_is_no_formula_in_csv(tmp_path: Path) -> None:
    table = ExportTable("t", tuple(ExportColumn(name, ColumnType.TEXT) for name in "abc"))
    path = tmp_path / "t.csv"
    writer(FileFormat.CSV)(table, [("=1+1", "-1.5", "noop"), ("@SUM(A1)", "+3", "-x"), (None, "- 5", "a=b")], path)
    assert path.read_text() == "a,b,c\n'=1+1,-1.5,noop\n'@SUM(A1),+3,'-x\n,'- 5,a=b\n"


def test_every_mean_is_that_of_its_trials(exported: Rows) -> None:
    values = {(row["trial"], row["metric"]): row["mean"] for row in exported["measurements"]}
    assert exported["cells"]
    for cell in exported["cells"]:
        assert cell["mean"] == pytest.approx(fmean(values[order, cell["metric"]] for order in cell["trials"]))


def test_effects_and_means_are_those_of_the_report(
    exported: Rows, experiment_in_store: tuple[Store, Experiment]
) -> None:
    document = reporting.report_document(*experiment_in_store)
    for effect, row in zip(document.effects, exported["effects"], strict=True):
        assert (row["percent"], row["percent_low"], row["percent_high"]) == tuple(effect.percent.model_dump().values())
        assert (row["trials"], row["confidence"]) == (effect.trials, effect.confidence)
        assert json.loads(row["checks"]) == [check.model_dump() for check in effect.checks]
    for cell, row in zip(document.cells, exported["cells"], strict=True):
        assert (row["mean"], row["low"], row["high"], row["trials"]) == (cell.mean, cell.low, cell.high, cell.trials)


def test_a_time_series_is_exported_as_stored(exported: Rows, experiment_in_store: tuple[Store, Experiment]) -> None:
    store, experiment = experiment_in_store
    orders = sorted({row["trial"] for row in exported["series"]})
    stored = read.series(store, experiment.id, "throughput_per_s", orders)
    exported_points: dict[int, list[tuple[float, float]]] = {}
    for row in exported["series"]:
        assert (row["metric"], row["unit"], row["source"]) == ("throughput_per_s", "1/s", "engine")
        exported_points.setdefault(row["trial"], []).append((row["time_s"], row["value"]))
    assert exported_points == {order: list(enumerate(measurement.points)) for order, measurement in stored.items()}


def test_special_characters_round_trip(exported: Rows) -> None:
    row = exported["trials"][-1]
    assert (row["failure"], row["failure_message"]) == ("load-error", HOSTILE)
    assert json.loads(row["invalid_because"]) == [HOSTILE]
    assert (row["started_unix_s"], row["ended_unix_s"], row["supersedes"]) == (1.1, None, None)


def test_documents_describe_every_table_and_column() -> None:
    text = (ROOT / "docs/how-to/export.md").read_text(encoding="utf-8")
    described = {name: re.findall(r"`(\w+)`", cells) for name, cells in re.findall(r"^\| `(\w+)` \|(.*)$", text, re.M)}
    for name, table in TABLES.items():
        assert described[name] == [column.name for column in table.columns[1:]], name


def _export(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["export", *arguments])


def test_existing_files_are_refused_before_anything_is_written(
    experiment_in_store: tuple[Store, Experiment], tmp_path: Path
) -> None:
    (tmp_path / "trials.csv").write_text("mine")
    with pytest.raises(UsageError, match=r"trials.csv in .* would be overwritten"):
        exporting.export(*experiment_in_store, FileFormat.CSV, select_tables(""), tmp_path, force=False)
    assert [path.name for path in tmp_path.glob("*.csv")] == ["trials.csv"]
    assert (tmp_path / "trials.csv").read_text() == "mine"
    exporting.export(*experiment_in_store, FileFormat.CSV, select_tables("looks"), tmp_path, force=False)
    exporting.export(*experiment_in_store, FileFormat.CSV, select_tables("trials, looks"), tmp_path, force=True)
    assert (tmp_path / "trials.csv").read_text().startswith("experiment,trial,")
    assert sorted(path.name for path in tmp_path.glob("*.csv")) == ["looks.csv", "trials.csv"]


def test_a_failure_half_way_leaves_the_existing_file(tmp_path: Path) -> None:
    path = tmp_path / "looks.csv"
    path.write_text("before")

    def rows(_table: ExportTable):  # type: ignore[no-untyped-def]
        yield ("e",) + (None,) * 12
        raise StoreError("the store is gone")

    with pytest.raises(StoreError, match="gone"):
        folder.write(tmp_path, FileFormat.CSV, select_tables("looks"), rows, force=True)
    assert path.read_text() == "before"
    assert list(tmp_path.glob(".*part")) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write"):
        folder.write(tmp_path / "file", FileFormat.CSV, select_tables("looks"), lambda _table: [], force=False)


def test_a_missing_library_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, experiment_in_store: tuple[Store, Experiment], tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match="pip install pyarrow"):
        exporting.export(*experiment_in_store, FileFormat.PARQUET, select_tables(""), tmp_path / "out", force=False)
    assert not (tmp_path / "out").exists()


def test_a_table_that_is_not_there_is_reported_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"unknown table 'trial'(.|\n)*trials"):
        select_tables("trial")
    assert _export("--only", "nothing").exit_code != 0
