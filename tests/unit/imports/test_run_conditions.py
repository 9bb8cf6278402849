"""Runs of different tests are never repetitions, and runs of one test are."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from golden_logs import golden_text
from logs import sysbench
from sqlalchemy.engine import Engine

from paribus.imports import pipeline
from paribus.lab.store import importing
from paribus.parsers import formats
from paribus.parsers.log import LogRun
from paribus.parsers.run_conditions import conditions_of
from paribus.store import read
from paribus.store.open import open_engine, store_url

PGBENCH = """transaction type: <builtin: TPC-B (sort of)>
scaling factor: {scale}
query mode: simple
number of clients: 64
number of threads: 64
duration: {seconds} s
number of transactions actually processed: {operations}
latency average = 1.791 ms
tps = {rate:.6f} (excluding connections establishing)
"""


@pytest.fixture
def store(tmp_path: Path) -> Engine:
    return open_engine(store_url(str(tmp_path / "s.db")), create=True)


def _pgbench(scale: int = 3000, seconds: int = 600, rate: float = 35000.0) -> str:
    return PGBENCH.format(scale=scale, seconds=seconds, operations=round(rate * seconds), rate=rate)


def _read_only(tps: float) -> str:
    """The report of a read-only test: 14 reads, no write and 2 other statements for each transaction."""
    text = sysbench(tps)
    events = round(tps * 100)
    return (
        text.replace(f"write:                           {4 * events}", "write:                           0")
        .replace(f"total:                           {20 * events}", f"total:                           {16 * events}")
        .replace(
            f"queries:                             {20 * events} ",
            f"queries:                             {16 * events} ",
        )
    )


def _workloads(store: Engine, folder: Path, texts: Sequence[str], level: str = "a") -> list[str]:
    names = []
    for number, text in enumerate(texts):
        path = folder / f"{level}{number}.log"
        path.write_text(text)
        names.append(str(path))
    request = importing.import_request(names, "x", level, None, name="", baseline="", file_format="")
    target = pipeline.set_named(store, request.name)
    outcomes: list[pipeline.ImportOutcome] = []
    _, experiment = pipeline.carry_out(request, store, target, "0", outcomes.append)
    assert experiment is not None
    trials = read.trials(store, experiment.id)
    names = [name for outcome in outcomes for name in outcome.workloads]
    assert names == [trial.workload for trial in trials[-len(names) :]]
    return [trial.workload for trial in trials]


@pytest.mark.parametrize(
    ("first", "second", "suffix"),
    [
        (_pgbench(3000), _pgbench(7000), ", scale 7000"),
        (_pgbench(seconds=600), _pgbench(seconds=60), ", duration (s) 60"),
        (sysbench(100), _read_only(100), ", writes per transaction 0"),
        (sysbench(100.37), sysbench(101.37, seconds=600), ", duration (s) 600"),
        (
            sysbench(100),
            "sysbench oltp_read_write --threads=8 --tables=4 run\n" + sysbench(101),
            "",  # a test that one of two does not name is unknown, not different; the script's name is another workload
        ),
    ],
    ids=["scale", "duration", "statements", "sysbench's duration", "unknown options"],
)
def test_runs_of_different_conditions_are_two_workloads(
    store: Engine, tmp_path: Path, first: str, second: str, suffix: str
) -> None:
    names = _workloads(store, tmp_path, [first, second])
    assert names[1] == (f"{names[0]}{suffix}" if suffix else "oltp_read_write")


def test_runs_of_equal_conditions_are_repetitions(store: Engine, tmp_path: Path) -> None:
    texts = [_pgbench(rate=35000.0 + n) for n in range(3)] + [sysbench(100 + n) for n in range(3)]
    assert _workloads(store, tmp_path, texts) == ["TPC-B (sort of)"] * 3 + ["oltp"] * 3


@pytest.mark.parametrize("head", ["run", "rep", "Iteration #", "no.", "round"])
def test_numbers_of_repetitions_are_no_conditions(store: Engine, tmp_path: Path, head: str) -> None:
    rows = "".join(f"noop,{number},8,10{number}.5\n" for number in range(1, 4))
    assert set(_workloads(store, tmp_path, [f"scheduler,{head},threads,TPS\n{rows}"])) == {"table"}


def test_a_variant_keeps_its_name_in_later_imports_and_for_other_levels(store: Engine, tmp_path: Path) -> None:
    _workloads(store, tmp_path, [_pgbench(3000), _pgbench(7000)])
    names = _workloads(store, tmp_path, [_pgbench(7000, rate=36000.0), _pgbench(3000, rate=37000.0)], "b")
    assert names[2:] == [names[1], names[0]]


@pytest.mark.parametrize(
    ("line", "conditions"),
    [
        ("--file-block-size=16K", {"block size": "16384"}),
        ("--file-extra-flags=direct", {"file-extra-flags": "direct"}),
        ("--oltp-table-size=10 --oltp_tables_count=4", {"table-size": "10", "tables": "4"}),
        ("--max-time=60 --max-requests=0", {"time": "60", "events": "0"}),
        ("--mysql-host=db1 --mysql-password=x --report-interval=1 --threads=8 --percentile=99", {}),
    ],
)
def test_options_are_conditions_in_one_notation(line: str, conditions: dict[str, str]) -> None:
    (run,) = formats.read(f"sysbench {line} run\n[ 1s ] thds: 8 tps: 1.00\n{golden_text('sysbench/mutex-0.4')}").runs
    assert conditions_of(run) == conditions


def test_an_option_never_replaces_an_implied_figure() -> None:
    run = LogRun(tool="table", options={"duration (s)": "a minute", "kernel": "6.1"}, lines=(1, 2))
    assert conditions_of(run) == {"kernel": "6.1"}


def test_the_script_is_a_condition_of_pgbench() -> None:
    report = _pgbench().replace("<builtin: TPC-B (sort of)>", "Custom query")
    runs = formats.read("".join(f"pgbench -f /tmp/{name}.sql -c 64\n{report}" for name in ("a", "b"))).runs
    assert [conditions_of(run)["script"] for run in runs] == ["a.sql", "b.sql"]


def test_the_block_size_is_that_of_options_or_title() -> None:
    sizes = [
        conditions_of(run)["block size"]
        for name in ("fio/normal-3.28", "fio/normal-1.22", "fio/json-plus-3.33")
        for run in formats.read(golden_text(name)).runs
    ]
    assert sizes == ["4096", "65536", "4096"]
    table = "| scheduler | threads | TPS |\n|---|---|---|\n| noop | 8 | 100.5 |\n| cfq | 8 | 101.5 |\n"
    runs = formats.read(f"## 16 KB writes\n\n{table}\n## 4 KB writes\n\n{table.replace('0', '9')}").runs
    assert [conditions_of(run)["block size"] for run in runs] == ["16384"] * 2 + ["4096"] * 2
