"""Tools of the user on servers, private and in use by others: real sysbench, pgbench and mysqlslap."""

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
from command import RUN_ENDED, Done
from served import changes, experiment, measured, nothing_is_left, plan_on, trials

from paribus.model import ChangeState, ExperimentState, TrialState

Paribus = Callable[..., Done]

SYSBENCH = """
kind = "sysbench"
test = "oltp_insert"
prepare = true
threads = [2]
data = "{data}"
options = {{ {connection}, tables = 1, table-size = 1000 }}
"""
CONNECTION = {
    "mariadb": 'db-driver = "mysql", mysql-socket = "{socket}", mysql-user = "{user}", mysql-db = "{database}"',
    "postgres": 'db-driver = "pgsql", pgsql-host = "{host}", pgsql-port = "{port}", pgsql-user = "{user}", '
    'pgsql-db = "{database}"',
}
LIVE = {
    "mariadb": '"mariadb.innodb_io_capacity" = [200, 2000]',
    "postgres": '"postgres.commit_delay" = [0, 100]',
}
AT_A_START = {
    "mariadb": '"mysql.innodb_read_io_threads" = [4, 8]',
    "postgres": '"postgres.shared_buffers" = ["16MB", "32MB"]',
}
# Prints the rows of a table and adds to them, with the client of the server; a file in its folder grows, too.
GROWING = """
import subprocess, sys, time
client, until = sys.argv[2:], time.monotonic() + float(sys.argv[1])
def ask(statement):
    return subprocess.run([*client, statement], check=True, capture_output=True, text=True).stdout.strip()
with open("runs", "a") as runs:
    print(ask("SELECT COUNT(*) FROM grown"), file=runs)
lines = len(open("runs").read().splitlines())
with open(f"{__file__}.seen", "a") as seen:
    print(ask("SELECT COUNT(*) FROM grown"), lines, file=seen)
while time.monotonic() < until:
    ask("INSERT INTO grown VALUES (1)")
print("rate:", 100)
"""
CLIENT = {
    "mariadb": ["mariadb", "--skip-column-names", "--socket={socket}", "--user={user}", "{database}", "--execute"],
    "postgres": ["psql", "--tuples-only", "--host={host}", "--port={port}", "--username={user}", "{database}", "-c"],
}


@pytest.mark.parametrize("kind", ["mariadb", "postgres"])
def test_sysbench_drives_a_private_server_whose_variables_are_factors(paribus: Paribus, place: Path, kind: str) -> None:
    workload = SYSBENCH.format(connection=CONNECTION[kind], data="keep")
    plan = plan_on(place, kind, AT_A_START[kind], workload, trial='"1s"', settle='"20ms"', design='"one-at-a-time"')
    checked = paribus("check", plan)
    assert checked.code == 0, checked.err
    assert "sysbench oltp_insert" in checked.out and "{database}" in checked.out
    done = paribus("run", plan)
    assert done.code in RUN_ENDED, done.err
    assert experiment().state is ExperimentState.DONE
    assert "verdict" in done.out
    _each_variable_was_read_back()
    counted = [found for order, found in measured().items() if order in _orders(TrialState.DONE)]
    assert counted and all("server_log_written_bytes_per_s" in found for found in counted)
    assert all(found["queries_per_s"].mean > 0 for found in counted)
    assert nothing_is_left(place)


def _orders(state: TrialState) -> set[int]:
    return {trial.order for trial in trials() if trial.state is state}


def _each_variable_was_read_back() -> None:
    """Every setting of every trial that counts was seen in the server as the trial asked for it."""
    by_trial = changes()
    for trial in trials():
        if trial.state is not TrialState.DONE:
            continue
        seen = {change.knob: change for change in by_trial[trial.order]}
        assert trial.settings.keys() <= seen.keys()
        for key in trial.settings:
            assert seen[key].state is ChangeState.VERIFIED
            assert seen[key].observed


@pytest.mark.parametrize("kind", ["mariadb", "postgres"])
@pytest.mark.parametrize("data", ["round", "application"])
def test_a_table_that_a_tool_grows_and_its_files_are_put_back(
    paribus: Paribus, place: Path, tmp_path: Path, kind: str, data: str
) -> None:
    script = tmp_path / "grow.py"
    script.write_text(GROWING)
    run = ["python3", str(script), "{seconds}", *CLIENT[kind]]
    prepare = [*CLIENT[kind], "CREATE TABLE grown (id INT)"]
    workload = f'kind = "command"\nrun = {run}\nprepare = {prepare}\ndata = "{data}"\nthreads = [1]\n'
    workload += "throughput = 'rate: (?P<value>[0-9]+)'"
    done = paribus("run", plan_on(place, kind, LIVE[kind], workload, settle='"20ms"', trial='"200ms"'))
    assert done.code in RUN_ENDED, done.err
    seen = [(int(rows), int(lines)) for rows, lines in map(str.split, Path(f"{script}.seen").read_text().splitlines())]
    carried_out = [trial for trial in trials() if trial.started is not None]
    assert len(seen) == len(carried_out)
    key = (lambda trial: trial.round) if data == "round" else (lambda trial: (trial.block, trial.attempt))
    ages = [list(group) for _, group in itertools.groupby(zip(carried_out, seen, strict=True), lambda one: key(one[0]))]
    assert len(ages) >= 2
    for age in ages:
        rows = [rows for _, (rows, _) in age]
        assert [rows[0], age[0][1][1]] == [0, 1]  # the table and the file are as prepare left them
        assert rows == sorted(set(rows))  # within a round or a block they grow
    assert nothing_is_left(place)


def test_a_held_variable_with_a_tool_as_the_only_workload(paribus: Paribus, place: Path) -> None:
    workload = SYSBENCH.format(connection=CONNECTION["mariadb"], data="keep")
    factors = '"process.load.nofile" = ["default", 512]\n[hold]\n"mysql.innodb_io_capacity" = 500'
    done = paribus("run", plan_on(place, "mariadb", factors, workload, trial='"1s"', settle='"20ms"'))
    assert done.code in RUN_ENDED, done.err
    observed = {change.observed for found in changes().values() for change in found if "io_capacity" in change.knob}
    assert observed == {"500"}
    assert nothing_is_left(place)


def test_mysqlslap_is_a_command(paribus: Paribus, place: Path) -> None:
    run = ["mysqlslap", "--defaults-extra-file={password_file}", "--socket={socket}", "--user={user}"]
    run += ["--concurrency={threads}", "--iterations=1", "--auto-generate-sql", "--number-of-queries=200"]
    workload = f'kind = "command"\nrun = {[*run, "--create-schema={database}"]}\nthreads = [2]\n'
    workload += "throughput = 'Average number of queries per client: (?P<value>[0-9]+)'"
    plan = plan_on(place, "mariadb", LIVE["mariadb"], workload, trial='"100ms"', settle='"20ms"')
    done = paribus("run", plan)
    assert done.code in (*RUN_ENDED, 3), done.err
    assert not [trial for trial in trials() if trial.state is TrialState.FAILED], done.err
    assert nothing_is_left(place)


@pytest.mark.parametrize(
    ("database", "workload", "words"),
    [
        ("", SYSBENCH.format(connection=CONNECTION["mariadb"], data="keep"), "the plan has none"),
        ('kind = "sqlite"', SYSBENCH.format(connection=CONNECTION["mariadb"], data="keep"), "SQLite is a file"),
        (
            'kind = "mariadb"',
            SYSBENCH.format(connection='mysql-host = "{host}", mysql-port = "{port}"', data="keep"),
            "reached by its socket",
        ),
        (
            'kind = "mariadb"',
            'kind = "command"\nrun = ["no-such-tool", "{socket}"]\nthroughput = "(?P<value>.)"',
            "has no program 'no-such-tool'",
        ),
    ],
)
def test_what_is_missing_is_told_with_the_plan(
    paribus: Paribus, place: Path, database: str, workload: str, words: str
) -> None:
    plan = place / "plan.toml"
    table = f"[database]\n{database}\n" if database else ""
    plan.write_text(f'name = "t"\n[target]\npath = "{place}/data"\n{table}[[workload]]\n{workload}\n')
    refused = paribus("check", str(plan))
    assert refused.code == 2
    assert words in refused.err
