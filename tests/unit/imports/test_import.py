"""Imports are stored once, in order, without passwords, and can be extended."""

import csv
import gzip
import json
import os
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from logs import sysbench, write
from sqlalchemy.engine import Engine

from paribus.errors import UsageError
from paribus.experiment.evidence import evidence
from paribus.export.tables import FileFormat, select_tables
from paribus.imports import pipeline
from paribus.imports.measurements import measurements
from paribus.imports.reading import run_record
from paribus.lab.results import exporting, imported_reporting
from paribus.lab.store import importing
from paribus.model import Experiment, Measurement, Trial, TrialState
from paribus.parsers.log import LogReading, LogRun, LogSeries
from paribus.store import read, sources
from paribus.store.open import open_engine, store_url
from paribus.units import LoadUnit


@pytest.fixture
def store(tmp_path: Path) -> Engine:
    return open_engine(store_url(str(tmp_path / "s.db")), create=True)


def bring(
    store: Engine, names: Sequence[Path], level: str, *, into: Experiment | None = None, **options: str
) -> tuple[Experiment | None, list[pipeline.ImportOutcome]]:
    """Import files as a level of `x`."""
    outcomes: list[pipeline.ImportOutcome] = []
    plain = {"name": "", "baseline": "", "file_format": ""} | options
    request = importing.import_request([str(path) for path in names], "x", level, None, **plain)
    _, experiment = pipeline.carry_out(
        request, store, into or pipeline.set_named(store, request.name), "0", outcomes.append
    )
    return experiment, outcomes


def trials(store: Engine, experiment: Experiment | None) -> list[Trial]:
    assert experiment is not None
    return read.trials(store, experiment.id)


def test_each_call_adds_a_level_to_the_set_of_its_name(store: Engine, tmp_path: Path) -> None:
    first, _ = bring(store, [write(tmp_path / "a.log", 100)], "noop")
    second, _ = bring(store, [write(tmp_path / "b.log", 110)], "cfq")
    assert first is not None
    assert second is not None
    assert first.id == second.id
    assert len(read.experiments(store)) == 1
    plan = read.plan(store, first.id)
    assert [(f.key, f.labels) for f in plan.factors] == [("x", ("noop", "cfq"))]
    assert [(t.arm, t.baseline, t.load.n, t.workload) for t in trials(store, first)] == [
        ("noop", True, 8, "oltp"),
        ("cfq", False, 8, "oltp"),
    ]


def test_time_series_are_read_only_for_unrepeated_trials(
    store: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(store, [write(tmp_path / f"a{n}.log", 100 + n) for n in range(3)], "noop")
    experiment, _ = bring(store, [write(tmp_path / "b.log", 110)], "cfq")
    assert experiment is not None
    requested: list[Sequence[int]] = []
    original = read.each_series

    def each_series(
        opened: Engine, experiment_id: str, metric: str, orders: Sequence[int]
    ) -> Iterator[tuple[int, Measurement]]:
        requested.append(list(orders))
        return original(opened, experiment_id, metric, orders)

    monkeypatch.setattr(read, "series", lambda *arguments: dict(each_series(*arguments)))
    stored_evidence = evidence(store, experiment.id)
    imported_reporting.judgement(store, experiment, stored_evidence)
    assert {tuple(orders) for orders in requested if orders} == {(stored_evidence.done_orders[-1],)}
    requested.clear()
    imported_reporting.breaches(store, experiment, ())
    assert not any(requested), "logs are no published table"


def test_the_same_bytes_count_once_under_whatever_name(store: Engine, tmp_path: Path) -> None:
    path = write(tmp_path / "a.log", 100)
    experiment, _ = bring(store, [path], "noop")
    copy = tmp_path / "copy.log"
    copy.write_bytes(path.read_bytes())
    repeated, outcomes = bring(store, [path, copy], "cfq")
    assert [outcome.duplicate_path for outcome in outcomes] == [str(path), str(path)]
    assert len(trials(store, repeated)) == 1
    assert experiment is not None
    assert len(sources.sources(store, experiment.id)) == 1


def test_one_run_in_two_files_counts_once(store: Engine, tmp_path: Path) -> None:
    path = write(tmp_path / "a.log", 100)
    (tmp_path / "b.log").write_text("# another copy\n" + path.read_text())
    experiment, _ = bring(store, [path, tmp_path / "b.log"], "noop")
    states = [(trial.state, trial.round, trial.invalid_because) for trial in trials(store, experiment)]
    assert states[0] == (TrialState.DONE, 1, ())
    assert states[1][0] is TrialState.INVALID
    assert "same figures as trial 1" in states[1][2][0]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (sysbench(100).replace("SQL statistics:", "FATAL: error 1205\nSQL statistics:"), "FATAL: error 1205"),
        (
            "scaling factor: 1\nnumber of clients: 1\nnumber of transactions actually processed: 0\n"
            "latency average = 0.000 ms\ntps = 0.000000 (without initial connection time)\n",
            "states 0 operations",
        ),
    ],
)
def test_a_failed_or_empty_run_is_no_trial_with_a_result(store: Engine, tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "a.log").write_text(text)
    experiment, _ = bring(store, [tmp_path / "a.log"], "noop")
    (trial,) = trials(store, experiment)
    assert trial.state is TrialState.INVALID
    assert reason in trial.invalid_because[0]


def test_an_export_names_the_file_and_the_line_of_each_trial(store: Engine, tmp_path: Path) -> None:
    (tmp_path / "b.log").write_text("# one\n" + sysbench(101) + sysbench(102))
    experiment, _ = bring(store, [write(tmp_path / "a.log", 100), tmp_path / "b.log"], "noop")
    assert experiment is not None
    exporting.export(store, experiment, FileFormat.CSV, select_tables("trials"), tmp_path / "out", force=False)
    with (tmp_path / "out" / "trials.csv").open(newline="") as file:
        rows = [(Path(row["file"]).name, int(row["line"])) for row in csv.DictReader(file)]
    assert rows == [("a.log", 1), ("b.log", 2), ("b.log", sysbench(101).count("\n") + 2)]


def test_a_file_name_in_another_coding_is_stored_readable(store: Engine, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode("测试结果".encode("gb18030") + b".log")
    path.write_text(sysbench(100))
    experiment, outcomes = bring(store, [path], "noop")
    assert experiment is not None
    assert sources.sources(store, experiment.id)[0].path == str(tmp_path / "测试结果.log")
    assert outcomes[0].file.source.printable_path.endswith("测试结果.log")


def test_a_failed_import_leaves_no_set(store: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: object) -> None:
        raise RuntimeError("full")

    monkeypatch.setattr(sources, "add", fail)
    with pytest.raises(RuntimeError, match="full"):
        bring(store, [write(tmp_path / "a.log", 100)], "noop")
    assert read.experiments(store) == []
    monkeypatch.undo()
    experiment, _ = bring(store, [write(tmp_path / "a.log", 100)], "noop")
    monkeypatch.setattr(sources, "add", fail)
    with pytest.raises(RuntimeError, match="full"):
        bring(store, [write(tmp_path / "b.log", 101)], "cfq")
    assert len(trials(store, experiment)) == 1


def test_repetitions_are_rounds_that_continue(store: Engine, tmp_path: Path) -> None:
    bring(store, [write(tmp_path / f"{n}.log", 100 + n) for n in range(3)], "noop")
    experiment, _ = bring(store, [write(tmp_path / f"{n}.log", 100 + n) for n in range(3, 5)], "noop")
    assert [(t.order, t.round) for t in trials(store, experiment)] == [(n, n) for n in range(1, 6)]


def test_another_baseline_reverses_the_comparison(store: Engine, tmp_path: Path) -> None:
    bring(store, [write(tmp_path / "a.log", 100)], "noop")
    experiment, _ = bring(store, [write(tmp_path / "b.log", 110)], "cfq", baseline="cfq")
    assert experiment is not None
    assert read.plan(store, experiment.id).factors[0].labels == ("cfq", "noop")
    assert {t.arm: t.baseline for t in trials(store, experiment)} == {"noop": False, "cfq": True}


def test_another_baseline_comes_first_with_the_next_level(store: Engine, tmp_path: Path) -> None:
    for number, level in enumerate(("a", "b", "c")):
        bring(store, [write(tmp_path / f"{level}.log", 100 + number)], level)
    experiment, _ = bring(store, [write(tmp_path / "d.log", 110)], "d", baseline="c")
    assert experiment is not None
    [factor] = read.plan(store, experiment.id).factors
    assert factor.labels == ("c", "a", "b", "d")


def test_no_password_is_stored(store: Engine, tmp_path: Path) -> None:
    text = "sysbench --mysql-password=s3cr3t --threads=8 oltp_read_write run\n" + sysbench(100)
    (tmp_path / "a.log").write_text(text)
    experiment, _ = bring(store, [tmp_path / "a.log"], "noop")
    assert experiment is not None
    assert b"--mysql-password=***" in sources.content(store, experiment.id, 1)
    for origin in sources.origins(store, experiment.id).values():
        assert "s3cr3t" not in str(origin)
    store.dispose()
    files = b"".join(path.read_bytes() for path in tmp_path.glob("s.db*"))
    assert b"s3cr3t" not in files
    assert zlib.compress(text.encode(), 1) not in files


def test_a_packed_file_and_its_content_are_two_files_of_one_run(store: Engine, tmp_path: Path) -> None:
    path = write(tmp_path / "a.log", 100)
    (tmp_path / "a.log.gz").write_bytes(gzip.compress(path.read_bytes()))
    experiment, _ = bring(store, [path, tmp_path / "a.log.gz"], "noop")
    assert [trial.state for trial in trials(store, experiment)] == [TrialState.DONE, TrialState.INVALID]


def test_many_files_are_read_by_several_processes_in_their_order(store: Engine, tmp_path: Path) -> None:
    names = [write(tmp_path / f"{n}.log", 100 + n) for n in range(120)]
    experiment, outcomes = bring(store, names, "noop")
    assert [outcome.file.source.path for outcome in outcomes] == [str(name) for name in names]
    assert experiment is not None
    rates = {
        order: summaries["throughput_per_s"].mean for order, summaries in read.summaries(store, experiment.id).items()
    }
    assert rates == {n + 1: pytest.approx(100 + n) for n in range(120)}


def test_a_file_that_is_no_log_is_refused_and_others_are_stored(store: Engine, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing of interest\n")
    experiment, outcomes = bring(store, [tmp_path / "notes.txt", write(tmp_path / "a.log", 100)], "noop")
    assert [bool(outcome.file.refused) for outcome in outcomes] == [True, False]
    assert len(trials(store, experiment)) == 1


def test_import_without_a_store_stores_nothing(tmp_path: Path) -> None:
    request = importing.import_request(
        [str(write(tmp_path / "a.log", 100))], "x", "a", None, name="", baseline="", file_format=""
    )
    outcomes: list[pipeline.ImportOutcome] = []
    contents, experiment = pipeline.carry_out(request, None, None, "0", outcomes.append)
    assert experiment is None
    assert contents.levels == {"x": ["a"]}
    tally = importing.ImportTally(every=False)
    tally.add(outcomes[0])
    document = importing.document(contents, experiment, tally)
    assert (document.experiment, document.kept, document.files) == (None, 1, [])


def test_a_set_is_no_experiment_and_the_other_way_round(store: Engine, tmp_path: Path) -> None:
    experiment, _ = bring(store, [write(tmp_path / "a.log", 100)], "noop")
    assert experiment is not None
    assert pipeline.find_set(store, "x").id == experiment.id
    with pytest.raises(UsageError, match="given together"):
        importing.import_request([str(tmp_path)], "x", "", None, name="", baseline="", file_format="")
    with pytest.raises(UsageError, match="did you mean 'sysbench'"):
        importing.import_request([str(tmp_path)], "", "", None, name="", baseline="", file_format="sysbensh")


def test_rules_place_each_file_of_a_folder(store: Engine, tmp_path: Path) -> None:
    for level in ("noop", "cfq"):
        for load in (16, 8):
            write(tmp_path / "logs" / f"{level}-t{load}.log", 100 + load + len(level), load)
    write(tmp_path / "logs" / "warmup.log", 5)
    rules = tmp_path / "rules.toml"
    rules.write_text(
        "name = 'ours'\nlevels = { scheduler = ['cfq', 'noop'] }\n"
        "[[rule]]\npath = '(?P<scheduler>noop|cfq)-t(?P<load>[0-9]+)'\nworkload = 'rw'\n"
        "[[rule]]\npath = 'warmup'\nskip = true\n"
    )
    request = importing.import_request([str(tmp_path / "logs")], "", "", rules, name="", baseline="", file_format="")
    assert request.name == "ours"
    _, experiment = pipeline.carry_out(request, store, None, "0", lambda _: None)
    assert {(t.arm, t.load.n, t.workload, t.baseline) for t in trials(store, experiment)} == {
        ("cfq", 8, "rw", True),
        ("cfq", 16, "rw", True),
        ("noop", 8, "rw", False),
        ("noop", 16, "rw", False),
    }


def test_an_impossible_load_is_not_stated(store: Engine, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text("[[rule]]\npath = 'a'\nlabels = { x = 'y' }\n")
    table = tmp_path / "a.csv"
    table.write_text("factor,level,workload,threads,metric,unit,value\nx,y,w,99999999999999999999,tps,1/s,5\n")
    request = importing.import_request([str(table)], "", "", rules, name="", baseline="", file_format="")
    _, experiment = pipeline.carry_out(request, store, None, "0", lambda _: None)
    assert all(t.load.unit is LoadUnit.NOT_STATED for t in (trials(store, experiment) if experiment else []))


def _reading(metric: str, value: float, subject: str = "") -> LogReading:
    return LogReading(metric=metric, value=value, unit="1/s", line=1, stated=str(value), subject=subject)


def test_a_metric_takes_its_first_value_with_series_and_subject() -> None:
    run = LogRun(
        tool="t",
        readings=(
            _reading("throughput_per_s", 5.0),
            _reading("throughput_per_s", 9.0),
            _reading("reads_per_s", 1, "sda"),
        ),
        courses=(LogSeries(metric="throughput_per_s", unit="1/s", at_s=(1.0, 2.0, 3.0), values=(4.0, 5.0, 7.0)),),
        lines=(1, 2),
    )
    by_metric = {measurement.metric: measurement for measurement in measurements(run)}
    assert by_metric["throughput_per_s"].mean == 5.0
    assert by_metric["throughput_per_s"].points == (4.0, 5.0, 7.0)
    assert (by_metric["throughput_per_s"].start_s, by_metric["throughput_per_s"].step_s) == (0.0, 1.0)
    assert by_metric["reads_per_s:sda"].mean == 1


def test_the_stored_record_of_a_run_has_everything_but_its_large_parts() -> None:
    run = LogRun(
        tool="t", options={"a": "1"}, labels={"x": "y"}, readings=(_reading("qps", 1.5),), lines=(3, 4), missing="m"
    )
    record = json.loads(json.dumps(run_record(run)))
    assert {"options": {"a": "1"}, "labels": {"x": "y"}, "lines": [3, 4], "missing": "m"}.items() <= record.items()
    assert [row[:2] for row in record["readings"]] == [["qps", 1.5]]
    assert not {"courses", "histogram"} & record.keys()
