"""Plans with the workload of a server: real statements on a real server, recorded, and made into a workload."""

import os
import subprocess
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from command import RUN_ENDED, Done
from others import Others
from served import experiment, measured, trials

from paribus.model import ExperimentState, TrialState
from paribus.plan.form.write import toml_text

Paribus = Callable[..., Done]
Usable = Mapping[str, tuple[str, int]]
LOGGING = ["SET SESSION long_query_time = 0", "SET GLOBAL slow_query_log = 1", "SET SESSION slow_query_log = 1"]
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
    "JOIN history h ON h.account = a.id WHERE a.id = ?": (
        "SELECT h.amount, a.state FROM shop.account a JOIN shop.history h ON h.account = a.id WHERE a.id = {id}", 20,
    ),
    "WHERE email = RPAD(?": ("SELECT id FROM shop.account WHERE email = 'someone{id}@example.org'", 10),
    "WHERE id BETWEEN ? AND ? + 20": ("SELECT COUNT(*) FROM shop.account WHERE id BETWEEN {id} AND {end}", 4),
    "SET balance = balance + 5 WHERE id = ?": ("UPDATE shop.account SET balance = balance + 5 WHERE id = {id}", 40),
    "INSERT INTO history": (
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
POSTGRES_TABLES = [
    "CREATE TYPE condition AS ENUM ('open', 'closed')",
    "CREATE TABLE account (id serial PRIMARY KEY, email varchar(60) NOT NULL UNIQUE, balance numeric(10,2),"
    " state condition NOT NULL DEFAULT 'open', created timestamptz, note text, token uuid, tags text[])",
    "CREATE INDEX ON account (created)",
    'CREATE TABLE "History" (account int, number int, amount int, kind char(3), PRIMARY KEY (account, number))',
    "INSERT INTO account SELECT n, 'someone' || n || '@example.org', n, 'open', timestamptz '2026-01-01' + n * interval"
    " '1 hour', repeat(md5(n::text), 3), md5(n::text)::uuid FROM generate_series(1001, 3000) n",
    """INSERT INTO "History" SELECT 1001 + n / 5, n % 5, n, 'abc' FROM generate_series(0, 9999) n""",
    "SELECT setval('account_id_seq', 3000)",
    "CREATE FUNCTION price_of(integer) RETURNS integer LANGUAGE sql AS 'SELECT $1'",
]
POSTGRES_USABLE = {
    "SELECT balance FROM account WHERE id = ?": ("SELECT balance FROM account WHERE id = {id}", 60),
    'JOIN "History" h': (
        'SELECT h.amount FROM account a JOIN "History" h ON h.account = a.id WHERE a.id = {id}', 20,
    ),
    "WHERE email = rpad(": ("SELECT id FROM account WHERE email = 'someone{id}@example.org'", 10),
    "WHERE id BETWEEN ? AND": ("SELECT id FROM account WHERE id BETWEEN {id} AND {end}", 4),
    "created >= ": ("SELECT id FROM account WHERE created >= '2026-02-21' AND created < '2026-02-23'", 6),
    "SET balance = balance + 1": ("UPDATE account SET balance = balance + 5 WHERE id = {id}", 40),
    'INSERT INTO "History"': ("""INSERT INTO "History" VALUES ({id}, {number}, 7, 'abc')""", 20),
    "INSERT INTO account": (
        "INSERT INTO account (email, balance, created, token) VALUES"
        " ('new{number}@example.org', 1, now(), 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11') RETURNING id", 8,
    ),
    'DELETE FROM "History"': ('DELETE FROM "History" WHERE account = {id} AND number = 3', 6),
}  # fmt: skip
POSTGRES_UNUSABLE = [("SELECT price_of(5)", 3), ("SELECT * FROM account WHERE tags[1] = 'private words'", 2)]
UNUSABLE = [("CREATE TABLE shop.other (a INT)", 1), ("SELECT CONCAT(email, 'private words') FROM shop.account", 5)]
SHORT = {"trial": "300ms", "settle": "50ms", "rounds": 2, "method": "fixed", "placebo": False, "margin": "50%"}


def _carry_out(others: Others, statements: Iterable[tuple[str, int]]) -> None:
    for statement, count in statements:
        for number in range(count):
            account = 1001 + 37 * number % 2000
            others.instance.query(statement.format(id=account, end=account + 20, number=1000 + number))


def _carry_out_all(others: Others, statements: Iterable[str]) -> None:
    for statement in statements:
        others.instance.query(statement)


def _audit(paribus: Paribus, others: Others, *more: str) -> Done:
    password = "MYSQL_PWD" if others.kind == "mariadb" else "PGPASSWORD"
    return paribus("audit", "--database", others.dsn, "--plan", *more, **{password: others.password})


def _restart(others: Others, settings: dict[str, str]) -> None:
    """Restart the server, which gives it another password."""
    others.instance.restart(settings)
    password = others.instance.address().password
    others.password = password.get_secret_value() if password else ""


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


def _plain(sql: str) -> str:
    """A statement without the quotes, spaces and capitals that digests have."""
    return sql.replace("`", "").replace(" . ", ".").lower()


def _plan_like(
    paribus: Paribus, others: Others, source: Path, usable: Usable, plan: Path
) -> tuple[str, dict[str, Any]]:
    """Check the plan with the workload of a source, and the shares of its statements; the notes, and the plan."""
    done = _audit(paribus, others, "--like", str(source), "--path", str(plan.parent))
    assert done.code == 0, done.err
    assert "private words" not in done.out and PRIVATE_TEXT not in done.out
    plan.write_text(done.out)
    checked = paribus("check", str(plan), "--no-trials")
    assert checked.code == 0, checked.err
    document = tomllib.loads(done.out)
    (workload,) = document["workload"]
    weights = {each["statements"][0]["sql"]: each["weight"] for each in workload["transactions"]}
    calls = sum(count for _, count in usable.values())
    for part, (_, count) in usable.items():
        matching = [weight for sql, weight in weights.items() if part.lower() in _plain(sql)]
        assert matching == [pytest.approx(100 * count / calls, abs=0.01)], (part, weights, done.err)
    assert len(weights) == len(usable)
    assert [rows["count"] for rows in workload["rows"]] == [2008, 10014]
    return done.err, document


@pytest.mark.parametrize("others", ["mariadb"], indirect=True)
def test_a_slow_log_becomes_a_workload_with_its_shares(paribus: Paribus, others: Others, place: Path) -> None:
    log = others.folder / "db/data/slow.log"
    _carry_out_all(others, [*TABLES, f"SET GLOBAL slow_query_log_file = '{log}'", *LOGGING])
    _carry_out(others, [*USABLE.values(), *UNUSABLE])
    others.instance.query("SET GLOBAL slow_query_log = 0")
    notes, document = _plan_like(paribus, others, log, USABLE, place / "data/plan.toml")
    assert "9 statements" in notes and "96.8% of its 186 calls" in notes
    assert "5 calls: a text" in notes and "1 calls: CREATE" in notes
    _run(paribus, document, place / "data/plan.toml")


def _export(path: Path, command: Sequence[str], **environment: str) -> None:
    done = subprocess.run(command, check=True, capture_output=True, env=os.environ | environment)
    path.write_bytes(done.stdout)


@pytest.mark.parametrize("others", ["mariadb"], indirect=True)
def test_digests_of_performance_schema_become_a_workload(paribus: Paribus, others: Others, place: Path) -> None:
    _restart(others, {"performance_schema": "ON"})
    _carry_out_all(others, [*TABLES, "TRUNCATE performance_schema.events_statements_summary_by_digest"])
    _carry_out(others, [*USABLE.values(), *UNUSABLE])
    address = others.instance.address()
    query = "SELECT * FROM performance_schema.events_statements_summary_by_digest"
    at = ["-S", address.socket] if address.socket else ["-h", address.host or "", "-P", str(address.port)]
    export = place / "digests.tsv"
    _export(export, ["mariadb", "--no-defaults", "-B", "-u", address.user, *at, "-e", query], MYSQL_PWD=others.password)
    # Digests do not show the literals: a range is as wide as the rows that were read.
    usable = {part.replace("? + 20", "? +").replace("balance + 5", "balance + 1"): USABLE[part] for part in USABLE}
    _, document = _plan_like(paribus, others, export, usable, place / "data/plan.toml")
    _run(paribus, document, place / "data/plan.toml")


@pytest.mark.parametrize("others", ["postgres"], indirect=True)
def test_statistics_of_postgresql_become_a_workload(paribus: Paribus, others: Others, place: Path) -> None:
    _restart(others, {"shared_preload_libraries": "pg_stat_statements"})
    reset = "SELECT pg_stat_statements_reset()"
    _carry_out_all(others, ["CREATE EXTENSION pg_stat_statements", *POSTGRES_TABLES, reset])
    _carry_out(others, [*POSTGRES_USABLE.values(), *POSTGRES_UNUSABLE])
    address = others.instance.address()
    query = "\\copy (SELECT * FROM pg_stat_statements) TO STDOUT CSV HEADER"
    host = address.socket.partition("/.s.PGSQL")[0] if address.socket else address.host or ""
    at = ["-h", host, "-p", str(address.port or 5432), "-U", address.user, "-d", "postgres"]
    export = place / "statements.csv"
    _export(export, ["psql", "-X", *at, "-c", query], PGPASSWORD=others.password)
    notes, document = _plan_like(paribus, others, export, POSTGRES_USABLE, place / "data/plan.toml")
    assert "3 calls: function price_of" in notes and "Table account without column tags of type text[]" in notes
    _run(paribus, document, place / "data/plan.toml")


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
