"""What is imported is kept once, in order, without passwords, and can be added to."""

import gzip
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from logs import sysbench, write
from sqlalchemy.engine import Engine

from paribus.errors import UsageError
from paribus.experiment.evidence import evidence
from paribus.imports import pipeline
from paribus.imports.measurements import measurements
from paribus.imports.reading import run_from_record, run_record
from paribus.lab import imported_reporting, importing
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
    heard: list[pipeline.ImportOutcome] = []
    plain = {"name": "", "baseline": "", "file_format": ""} | options
    wanted = importing.import_request([str(one) for one in names], "x", level, None, **plain)
    _, kept = pipeline.carry_out(wanted, store, into or pipeline.set_named(store, wanted.name), "0", heard.append)
    return kept, heard


def trials(store: Engine, kept: Experiment | None) -> list[Trial]:
    assert kept is not None
    return read.trials(store, kept.id)


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


def test_only_of_what_nobody_repeated_the_course_is_read(
    store: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(store, [write(tmp_path / f"a{n}.log", 100 + n) for n in range(3)], "noop")
    kept, _ = bring(store, [write(tmp_path / "b.log", 110)], "cfq")
    assert kept is not None
    asked: list[Sequence[int]] = []
    known = read.each_series

    def each_series(opened: Engine, own: str, metric: str, orders: Sequence[int]) -> Iterator[tuple[int, Measurement]]:
        asked.append(list(orders))
        return known(opened, own, metric, orders)

    monkeypatch.setattr(read, "series", lambda *of: dict(each_series(*of)))
    found = evidence(store, kept.id)
    imported_reporting.judgement(store, kept, found)
    assert [one for one in asked if one] == [[found.done_orders[-1]]] * len(asked)
    asked.clear()
    imported_reporting.breaches(store, kept, ())
    assert not any(asked), "logs are no published table"


def test_the_same_bytes_count_once_under_whatever_name(store: Engine, tmp_path: Path) -> None:
    path = write(tmp_path / "a.log", 100)
    kept, _ = bring(store, [path], "noop")
    copy = tmp_path / "copy.log"
    copy.write_bytes(path.read_bytes())
    again, heard = bring(store, [path, copy], "cfq")
    assert [outcome.duplicate_path for outcome in heard] == [str(path), str(path)]
    assert len(trials(store, again)) == 1
    assert kept is not None
    assert len(sources.sources(store, kept.id)) == 1


def test_one_run_that_is_told_in_two_files_counts_once(store: Engine, tmp_path: Path) -> None:
    path = write(tmp_path / "a.log", 100)
    (tmp_path / "b.log").write_text("# another copy\n" + path.read_text())
    kept, _ = bring(store, [path, tmp_path / "b.log"], "noop")
    states = [(trial.state, trial.round, trial.invalid_because) for trial in trials(store, kept)]
    assert states[0] == (TrialState.DONE, 1, ())
    assert states[1][0] is TrialState.INVALID
    assert "same figures as trial 1" in states[1][2][0]


def test_repetitions_are_rounds_and_go_on_where_they_were(store: Engine, tmp_path: Path) -> None:
    bring(store, [write(tmp_path / f"{n}.log", 100 + n) for n in range(3)], "noop")
    kept, _ = bring(store, [write(tmp_path / f"{n}.log", 100 + n) for n in range(3, 5)], "noop")
    assert [(t.order, t.round) for t in trials(store, kept)] == [(n, n) for n in range(1, 6)]


def test_another_baseline_turns_the_comparison_round(store: Engine, tmp_path: Path) -> None:
    bring(store, [write(tmp_path / "a.log", 100)], "noop")
    kept, _ = bring(store, [write(tmp_path / "b.log", 110)], "cfq", baseline="cfq")
    assert kept is not None
    assert read.plan(store, kept.id).factors[0].labels == ("cfq", "noop")
    assert {t.arm: t.baseline for t in trials(store, kept)} == {"noop": False, "cfq": True}


def test_no_password_is_kept(store: Engine, tmp_path: Path) -> None:
    text = "sysbench --mysql-password=s3cr3t --threads=8 oltp_read_write run\n" + sysbench(100)
    (tmp_path / "a.log").write_text(text)
    kept, _ = bring(store, [tmp_path / "a.log"], "noop")
    assert kept is not None
    assert b"--mysql-password=***" in sources.content(store, kept.id, 1)
    for origin in sources.origins(store, kept.id).values():
        assert "s3cr3t" not in str(origin)
    store.dispose()
    files = b"".join(path.read_bytes() for path in tmp_path.glob("s.db*"))
    assert b"s3cr3t" not in files
    assert zlib.compress(text.encode(), 1) not in files


def test_a_packed_file_and_its_content_are_two_files_of_one_run(store: Engine, tmp_path: Path) -> None:
    path = write(tmp_path / "a.log", 100)
    (tmp_path / "a.log.gz").write_bytes(gzip.compress(path.read_bytes()))
    kept, _ = bring(store, [path, tmp_path / "a.log.gz"], "noop")
    assert [trial.state for trial in trials(store, kept)] == [TrialState.DONE, TrialState.INVALID]


def test_many_files_are_read_by_several_processes_in_their_order(store: Engine, tmp_path: Path) -> None:
    names = [write(tmp_path / f"{n}.log", 100 + n) for n in range(120)]
    kept, heard = bring(store, names, "noop")
    assert [outcome.file.source.path for outcome in heard] == [str(name) for name in names]
    assert kept is not None
    rates = {order: found["throughput_per_s"].mean for order, found in read.summaries(store, kept.id).items()}
    assert rates == {n + 1: pytest.approx(100 + n) for n in range(120)}


def test_what_is_no_log_is_told_and_the_rest_is_kept(store: Engine, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing of interest\n")
    kept, heard = bring(store, [tmp_path / "notes.txt", write(tmp_path / "a.log", 100)], "noop")
    assert [bool(outcome.file.refused) for outcome in heard] == [True, False]
    assert len(trials(store, kept)) == 1


def test_nothing_is_kept_without_a_store(tmp_path: Path) -> None:
    wanted = importing.import_request(
        [str(write(tmp_path / "a.log", 100))], "x", "a", None, name="", baseline="", file_format=""
    )
    heard: list[pipeline.ImportOutcome] = []
    found, kept = pipeline.carry_out(wanted, None, None, "0", heard.append)
    assert kept is None
    assert found.levels == {"x": ["a"]}
    tally = importing.ImportTally(every=False)
    tally.add(heard[0])
    document = importing.document(found, kept, tally)
    assert (document.experiment, document.kept, document.files) == (None, 1, [])


def test_a_set_is_no_experiment_and_the_other_way_round(store: Engine, tmp_path: Path) -> None:
    kept, _ = bring(store, [write(tmp_path / "a.log", 100)], "noop")
    assert kept is not None
    assert pipeline.find_set(store, "x").id == kept.id
    with pytest.raises(UsageError, match="belong together"):
        importing.import_request([str(tmp_path)], "x", "", None, name="", baseline="", file_format="")
    with pytest.raises(UsageError, match="did you mean 'sysbench'"):
        importing.import_request([str(tmp_path)], "", "", None, name="", baseline="", file_format="sysbensh")


def test_rules_say_what_each_file_of_a_folder_is_a_run_of(store: Engine, tmp_path: Path) -> None:
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
    wanted = importing.import_request([str(tmp_path / "logs")], "", "", rules, name="", baseline="", file_format="")
    assert wanted.name == "ours"
    _, kept = pipeline.carry_out(wanted, store, None, "0", lambda _: None)
    assert {(t.arm, t.load.n, t.workload, t.baseline) for t in trials(store, kept)} == {
        ("cfq", 8, "rw", True),
        ("cfq", 16, "rw", True),
        ("noop", 8, "rw", False),
        ("noop", 16, "rw", False),
    }


def test_a_load_that_nobody_can_have_run_with_is_not_stated(store: Engine, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text("[[rule]]\npath = 'a'\nlabels = { x = 'y' }\n")
    table = tmp_path / "a.csv"
    table.write_text("factor,level,workload,threads,metric,unit,value\nx,y,w,99999999999999999999,tps,1/s,5\n")
    wanted = importing.import_request([str(table)], "", "", rules, name="", baseline="", file_format="")
    _, kept = pipeline.carry_out(wanted, store, None, "0", lambda _: None)
    assert all(t.load.unit is LoadUnit.NOT_STATED for t in (trials(store, kept) if kept else []))


def _reading(metric: str, value: float, subject: str = "") -> LogReading:
    return LogReading(metric=metric, value=value, unit="1/s", line=1, stated=str(value), subject=subject)


def test_a_metric_counts_as_first_stated_with_its_course_and_subject() -> None:
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
    found = {one.metric: one for one in measurements(run)}
    assert found["throughput_per_s"].mean == 5.0
    assert found["throughput_per_s"].points == (4.0, 5.0, 7.0)
    assert (found["throughput_per_s"].start_s, found["throughput_per_s"].step_s) == (0.0, 1.0)
    assert found["reads_per_s:sda"].mean == 1


def test_a_run_comes_back_as_it_was_said() -> None:
    run = LogRun(
        tool="t", options={"a": "1"}, labels={"x": "y"}, readings=(_reading("qps", 1.5),), lines=(3, 4), missing="m"
    )
    assert run_from_record(run_record(run)) == run
