"""A user's own transactions: what a plan may say, what is told where, what reaches engine and store."""

import dataclasses
import json

import pytest
from pydantic import TypeAdapter

from paribus.engine.protocol import SqliteFile, SqlMixJob
from paribus.model import Workload
from paribus.plan.form.file import plan_form
from paribus.plan.form.parse import parse
from paribus.plan.workloads import workloads_of
from paribus.registry import data_of, parameters_of
from paribus.workloads.jobs import job
from paribus.workloads.sqlmix import StatementTable

PLAN = """
name = "n"

[database]
kind = "sqlite"

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

[[workload.transactions]]
name = "look"
transaction = false
statements = [{sql = "SELECT 1", repeat = 5}]
"""


def _problems(old: str, new: str) -> list[str]:
    assert old in PLAN
    return [str(one) for one in parse("plan.toml", PLAN.replace(old, new, 1), {}).problems]


def _workload(text: str = PLAN) -> Workload:
    found = parse("plan.toml", text, {})
    assert not found.problems
    return workloads_of(found.table.workload[0], ["throughput_per_s"], "sqlite")[0]


def _job(text: str = PLAN) -> SqlMixJob:
    made = job(_workload(text), {}, "/d", "run").workload
    assert isinstance(made, SqlMixJob)
    return made


def test_all_of_it_reaches_the_engine() -> None:
    made = _job()
    assert isinstance(made.database, SqliteFile)
    told = json.loads(made.model_dump_json())
    assert told["schema"][0].startswith("CREATE TABLE account")
    assert [one["draw"] for one in told["rows"][0]["arguments"]] == ["sequence", "text", "int"]
    transfer, look = told["transactions"]
    assert (transfer["weight"], transfer["rollback"], transfer["transaction"]) == (3, 0.01, True)
    assert (look["transaction"], look["statements"][0]["repeat"]) == (False, 5)
    arguments = [argument for statement in transfer["statements"] for argument in statement["arguments"]]
    assert arguments == [
        {"draw": "int", "low": 1, "high": 1000, "distribution": "zipf", "zipf_exponent": 0.8, "pareto_h": 0.2},
        {"draw": "int", "low": 1, "high": 10, "distribution": "uniform", "zipf_exponent": 0.8, "pareto_h": 0.2},
        {"draw": "same", "argument": 1},
        {"draw": "float", "low": 0.5, "high": 1.0},
        {"draw": "digits", "pattern": "#-#"},
        {"draw": "choice", "values": [1, 2.5, "x"]},
        {"draw": "null"},
    ]


def test_parameters_are_the_same_when_they_come_back_from_the_store() -> None:
    workload = _workload()
    plans = TypeAdapter(Workload)
    back = plans.validate_python(json.loads(plans.dump_json(workload)))
    assert parameters_of(back, {}) == parameters_of(workload, {})
    assert job(back, {}, "/d", "run") == job(workload, {}, "/d", "run")
    text = job(back, {"sqlmix.prepared": False}, "/d", "run").workload
    assert isinstance(text, SqlMixJob)
    assert not text.prepared


def test_data_is_told_apart_by_what_it_is_made_of() -> None:
    one = data_of(_workload(), {})
    assert one.size_bytes == 1000 * (40 + 3 * 12 + 20)
    assert (one.made, one.written) == (True, True)
    assert data_of(_workload(PLAN.replace("weight = 3", "weight = 2")), {}).shape == one.shape
    for old, new in (("count = 1000", "count = 1001"), ("VARCHAR(40)", "VARCHAR(41)"), ("text = 20", "text = [1, 20]")):
        assert data_of(_workload(PLAN.replace(old, new)), {}).shape != one.shape
    assert not data_of(_workload(PLAN.replace('"UPDATE account SET balance =', '"SELECT')), {}).written


def test_data_does_not_depend_on_the_transactions() -> None:
    reads = dataclasses.replace(_workload(), parameters=_workload(PLAN.replace("weight = 3", "")).parameters)
    assert job(reads, {}, "/d", "prepare").workload.data == _job().data
    assert _job(PLAN.replace("count = 1000", "count = 1001")).data != _job().data


@pytest.mark.parametrize(
    ("sql", "reads"),
    [
        ("-- x\n /* y */ (select 1)", True),
        ("WITH a AS (SELECT 1) SELECT * FROM a", True),
        ("UPDATE t SET a = 1 -- SELECT", False),
        ("SAVEPOINT a", False),
    ],
)
def test_the_first_word_says_whether_a_statement_reads(sql: str, reads: bool) -> None:
    assert StatementTable(sql=sql).reads == reads


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("weight = 3", "weigth = 3", "line 19, workload[0].transactions[0].weigth: unknown key; did you mean"),
        ("weight = 3", "weight = 0", "line 19, workload[0].transactions[0].weight: should be greater than"),
        ("{same = 1}", "{same = 3}", "workload[0].transactions[0]: same = 3 in argument 3 is not an earlier argument"),
        (
            ", {same = 1}",
            "",
            "line 23, workload[0].transactions[0].statements[1]: the statement has 2 parameters and 1",
        ),
        ("[{sequence = 1}, ", "[", "workload[0].rows[0]: the statement has 3 parameters and 2 arguments: INSERT INTO"),
        ("{sequence = 1}", "{sequnce = 1}", "arguments[0].sequnce: unknown key; did you mean 'sequence'?"),
        (
            "{sequence = 1}",
            "{sequence = 1, null = true}",
            "rows[0].arguments[0]: sequence and null is given: write one",
        ),
        ("{sequence = 1}", "{}", "rows[0].arguments[0]: nothing is given: write one of int, float, text"),
        ("{int = [0, 1000]}", "{int = [5, 1]}", "rows[0].arguments[2]: int from 5 to 1 is not a range"),
        ("{int = [0, 1000]}", "{int = [5]}", "rows[0].arguments[2].int: List should have at least 2 items"),
        ("{int = [0, 1000]}", '{int = [0, "9"]}', "rows[0].arguments[2].int[1]: should be a valid integer"),
        ("{text = 20}", '{text = 20, distribution = "zipf"}', "arguments[1]: text has no distribution"),
        ('[1, 2.5, "x"]', "[1, true]", "arguments[0].choice[1]: choice must be a list of numbers and texts"),
        ('name = "look"', 'name = "transfer"', "workload[0]: two transactions have the name 'transfer'"),
        ('name = "look"', "", "workload[0].transactions[1].name: is missing"),
        ("transaction = false", 'transaction = false\nrollback = "5%"', "look: rollback needs a transaction"),
        ('rollback = "1%"', 'rollback = "120%"', "line 20, workload[0].transactions[0].rollback: should be less than"),
        ('statements = [{sql = "SELECT 1", repeat = 5}]', "", "transactions[1].statements: is missing; write for"),
        ('sql = "SELECT 1", ', "", "transactions[1].statements[0].sql: is missing"),
    ],
)
def test_a_mistake_is_told_at_its_place_and_alone(old: str, new: str, words: str) -> None:
    (problem,) = _problems(old, new)
    assert words in problem


def test_a_workload_without_transactions_is_told_once() -> None:
    text = PLAN[: PLAN.index("[[workload.transactions]]")]
    (problem,) = parse("plan.toml", text, {}).problems
    assert "workload[0].transactions: is missing; add a [[workload.transactions]]" in str(problem)


def test_the_schema_names_what_a_plan_may_write() -> None:
    whole = plan_form().model_json_schema()["$defs"]
    assert {"schema", "rows", "transactions", "prepared"} <= whole["SqlmixWorkload"]["properties"].keys()
    assert {"int", "float", "text", "same"} <= whole["Argument"]["properties"].keys()
