"""The contract with the engine: it decodes the jobs kept in `golden/jobs`, and its kept events are decoded here.

After a change that is meant, `UPDATE_GOLDEN=1 pytest tests/unit/engine/test_contract.py` writes the jobs anew.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paribus.engine.protocol import Job, Load, MysqlServer, OltpJob, PostgresServer, SqliteFile
from paribus.engine.run import understand
from paribus.errors import EngineError
from paribus.plan.form.parse import parse
from paribus.plan.workloads import workloads_of
from paribus.workloads.jobs import job

GOLDEN = Path(__file__).parents[3] / "engine" / "tests" / "golden"
UNMASKED = {"<number>": 1, "<number or null>": None, "<bool>": True, "<text>": "text"}

FILES = """
name = "files"

[[workload]]
kind = "fileio"
mode = "rndrw"
block_size = "16KiB"
total_size = "1GiB"
files = 4
direct = true
threads = [8]

[[workload]]
kind = "iomatrix"
total_size = "1GiB"
direct = true
threads = [4]
"""

TRANSACTIONS = """
name = "transactions"

[database]
kind = "sqlite"

[[workload]]
kind = "oltp_read_write"
tables = 2
table_size = 1000
threads = [4]

[[workload]]
kind = "tpcc"
warehouses = 3
home = "fixed"
threads = [4]

[[workload]]
kind = "sqlmix"
threads = [4]
schema = ["CREATE TABLE account (id INTEGER PRIMARY KEY, owner VARCHAR(40), balance INTEGER)"]

[[workload.rows]]
count = 1000
insert = "INSERT INTO account VALUES (?, ?, ?)"
arguments = [{sequence = 1}, {text = 20}, {int = [0, 1000]}]

[[workload.transactions]]
name = "transfer"
weight = 3
rollback = "1%"
statements = [
  {sql = "SELECT balance FROM account WHERE id = ?", arguments = [{int = [1, 1000], distribution = "zipf"}]},
  {sql = "UPDATE account SET balance = balance - ? WHERE id = ?", arguments = [{int = [1, 10]}, {same = 1}]},
  {sql = "SELECT ?, ?", arguments = [{float = [0.5, 1]}, {digits = "#-#"}]},
  {sql = "SELECT ?, ?", arguments = [{choice = [1, 2.5, "x"]}, {null = true}]},
]
"""


def _jobs() -> Iterator[tuple[str, Job]]:
    for text in (FILES, TRANSACTIONS):
        parsed = parse("plan.toml", text, {})
        assert not parsed.problems
        for table in parsed.table.workload:
            for workload in workloads_of(table, ["throughput_per_s"], "sqlite"):
                yield f"run-{workload.name}", job(workload, {}, "/data", "run")
    servers = {
        "sqlite": SqliteFile(path="/data/db.sqlite", pragmas={"synchronous": "FULL"}),
        "mysql": MysqlServer(socket="/run/mysqld.sock", user="bench", database="paribus", credential={"env": "SECRET"}),
        "postgres": PostgresServer(host="db1", port=5433, user="bench", database="paribus", tls="required"),
    }
    for driver, database in servers.items():
        oltp = OltpJob(database=database, mix="read_only")
        yield f"prepare-{driver}", Job(phase="prepare", workload=oltp)
        open_loop = Load(outstanding=8, rate_per_s=500.0, arrivals="poisson")
        yield f"run-{driver}", Job(phase="run", workload=oltp, load=open_loop, settle_s=1.0, measure_s=2.5)


JOBS = dict(_jobs())


@pytest.mark.parametrize("name", JOBS)
def test_a_kept_job_is_what_is_sent(name: str) -> None:
    path = GOLDEN / "jobs" / f"{name}.json"
    text = JOBS[name].model_dump_json(indent=2) + "\n"
    if "UPDATE_GOLDEN" in os.environ:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()


def test_every_kept_job_is_sent() -> None:
    assert {path.stem for path in (GOLDEN / "jobs").iterdir()} == set(JOBS)


def _unmasked(value: Any) -> Any:
    match value:
        case dict():
            return {key: 2 if key == "protocol" else _unmasked(item) for key, item in value.items()}
        case list():
            return [_unmasked(item) for item in value]
        case str():
            return UNMASKED.get(value, value)
        case _:
            return value


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.jsonl")), ids=lambda path: path.stem)
def test_a_kept_event_of_the_engine_is_decoded(path: Path) -> None:
    for line in path.read_text().splitlines():
        event = _unmasked(json.loads(line))
        if event["event"] == "error":
            with pytest.raises(EngineError, match="text"):
                understand(json.dumps(event))
        else:
            understand(json.dumps(event))
