"""Plans with the workload of a server: real statements on a real server, recorded, and made into a workload."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import RUN_ENDED, Done
from others import Others
from served import experiment, measured, trials

from paribus.model import ExperimentState, TrialState
from paribus.plan.form.write import toml_text

Paribus = Callable[..., Done]
TABLES = [
    "CREATE DATABASE shop",
    "CREATE TABLE shop.account (id INT AUTO_INCREMENT PRIMARY KEY, email VARCHAR(60) NOT NULL, balance DECIMAL(10,2),"
    " state ENUM('open','closed') NOT NULL DEFAULT 'open', created DATETIME, note TEXT, UNIQUE KEY (email),"
    " KEY by_creation (created))",
    "CREATE TABLE shop.history (account INT NOT NULL, number INT NOT NULL, amount INT, note CHAR(20),"
    " PRIMARY KEY (account, number))",
    "INSERT INTO shop.account SELECT seq, CONCAT('someone', seq, '@example.org'), seq, IF(seq % 10, 'open', 'closed'),"
    " '2026-01-01' + INTERVAL seq HOUR, REPEAT(MD5(seq), 3) FROM seq_1001_to_3000",
    "INSERT INTO shop.history SELECT 1001 + seq DIV 5, seq % 5, seq, 'private words' FROM seq_0_to_9999",
]
PRIVATE_TEXT = "someone1500@example.org"


USABLE = {  # by a part of the statement in the plan: the statement, and how often it is carried out
    "SELECT balance FROM account WHERE id = ?": ("SELECT balance FROM shop.account WHERE id = {id}", 60),
    "JOIN history AS h ON h.account = a.id WHERE a.id = ?": (
        "SELECT h.amount, a.state FROM shop.account a JOIN shop.history h ON h.account = a.id WHERE a.id = {id}", 20,
    ),
    "WHERE email = RPAD(?": ("SELECT id FROM shop.account WHERE email = 'someone{id}@example.org'", 10),
    "WHERE id BETWEEN ? AND ? + 20": ("SELECT COUNT(*) FROM shop.account WHERE id BETWEEN {id} AND {end}", 4),
    "SET balance = balance + 5 WHERE id = ?": ("UPDATE shop.account SET balance = balance + 5 WHERE id = {id}", 40),
    "INSERT IGNORE INTO history": (
        "INSERT INTO shop.history (account, number, amount, note) VALUES ({id}, {number}, 7, 'private words')", 20,
    ),
    "INSERT INTO account": (
        "INSERT INTO shop.account (email, balance, created) VALUES ('new{number}@example.org', 1, NOW())", 8,
    ),
    "DELETE FROM history": ("DELETE FROM shop.history WHERE account = {id} AND number = 3", 6),
    "ORDER BY created LIMIT 10": (
        "SELECT id, created FROM shop.account WHERE created >= '2026-02-01' ORDER BY created LIMIT 10", 12,
    ),
}  # fmt: skip
UNUSABLE = [("CREATE TABLE shop.other (a INT)", 1), ("SELECT CONCAT(email, 'private words') FROM shop.account", 5)]
SHORT = {"trial": "300ms", "settle": "50ms", "rounds": 2, "method": "fixed", "placebo": False, "margin": "50%"}


def _record(others: Others, log: Path) -> None:
    ask = others.instance.query
    for statement in TABLES:
        ask(statement)
    for setting in (
        f"GLOBAL slow_query_log_file = '{log}'",
        "SESSION long_query_time = 0",
        "GLOBAL slow_query_log = 1",
    ):
        ask(f"SET {setting}")
    ask("SET SESSION slow_query_log = 1")
    for statement, count in [*USABLE.values(), *UNUSABLE]:
        for number in range(count):
            account = 1001 + 37 * number % 2000
            ask(statement.format(id=account, end=account + 20, number=1000 + number))
    ask("SET GLOBAL slow_query_log = 0")


def _audit(paribus: Paribus, others: Others, *more: str) -> Done:
    password = "MYSQL_PWD" if others.kind == "mariadb" else "PGPASSWORD"
    return paribus("audit", "--database", others.dsn, "--plan", *more, **{password: others.password})


def _run(paribus: Paribus, document: dict[str, Any], plan: Path) -> None:
    """Carry out the workload of a plan with a setting that changes no result."""
    document["factors"] = {"sqlmix.prepared": [True, False]}
    document["workload"][0]["threads"] = [2]
    document["protocol"] = SHORT
    plan.write_text(toml_text(document, {}))
    done = paribus("run", str(plan))
    assert done.code in RUN_ENDED, done.err
    assert experiment().state is ExperimentState.DONE, done.err
    assert not [trial.failure_message for trial in trials() if trial.state is TrialState.FAILED]
    for metrics in measured().values():
        assert metrics["queries_per_s"].mean
        assert not metrics["errors_per_s"].mean


@pytest.mark.parametrize("others", ["mariadb"], indirect=True)
def test_a_slow_log_becomes_a_workload_with_its_shares(
    paribus: Paribus, others: Others, place: Path, tmp_path: Path
) -> None:
    log = others.folder / "db/data/slow.log"
    _record(others, log)
    done = _audit(paribus, others, "--like", str(log), "--path", str(place / "data"))
    assert done.code == 0, done.err
    assert "private words" not in done.out and PRIVATE_TEXT not in done.out
    document = tomllib.loads(done.out)
    (workload,) = document["workload"]
    weights = {each["statements"][0]["sql"]: each["weight"] for each in workload["transactions"]}
    assert len(weights) == len(USABLE)
    calls = sum(count for _, count in USABLE.values())
    for part, (_, count) in USABLE.items():
        (weight,) = [weight for sql, weight in weights.items() if part in sql]
        assert weight == pytest.approx(100 * count / calls, abs=0.01)
    assert f"{calls / (calls + 6):.1%} of its {calls + 6} calls" in done.err
    assert "5 calls: a text" in done.err and "1 calls: CREATE" in done.err
    assert [rows["count"] for rows in workload["rows"]] == [2008, 10014]

    plan = tmp_path / "plan.toml"
    plan.write_text(done.out)
    checked = paribus("check", str(plan), "--no-trials")
    assert checked.code == 0, checked.err
    _run(paribus, document, plan)


def test_files_that_hold_no_statement_are_refused_with_the_cause(paribus: Paribus, tmp_path: Path) -> None:
    log = tmp_path / "slow.log"
    dsn = ("--database", "mysql://root@localhost/?socket=/nowhere")
    for content, cause in ((b"", "is empty"), (b"\x00\xff\x7fELF" * 99, "is not a slow query log")):
        log.write_bytes(content)
        done = paribus("audit", "--plan", "--like", str(log), *dsn)
        assert done.code == 2
        assert f"--like {log} {cause}" in done.err and "Traceback" not in done.err
    done = paribus("audit", "--plan", "--like", str(tmp_path), *dsn)
    assert done.code == 2 and "Is a directory" in done.err
    done = paribus("audit", "--plan", "--like", str(log))
    assert done.code == 2 and "needs --plan and --database" in done.err
