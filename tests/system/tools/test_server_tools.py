"""Tools of the user on servers, private and in use by others: real sysbench, pgbench and mysqlslap."""

import itertools
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from command import RUN_ENDED, Done, Running
from others import VARIABLE, Others
from processes import shown_until_end
from served import changes, done_count, experiment, measured, nothing_is_left, plan_on, trials

from paribus.model import ChangeState, ExperimentState, FailureClass, TrialState

Paribus = Callable[..., Done]
FEW, STOPPED = 4, 130  # trials that show enough of a tool; the exit code of an experiment that was then interrupted

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
    "mariadb": '"mariadb.innodb_spin_wait_delay" = [4, 8]',
    "postgres": '"postgres.commit_delay" = [0, 100]',
}
# Prints the rows of a table and adds to them, with the client of the server; a file in its folder grows, too.
GROWING = """
import subprocess, sys, time
client, until = sys.argv[3:], time.monotonic() + float(sys.argv[1]) + float(sys.argv[2])
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


@pytest.mark.parametrize("example", ["sysbench-mariadb", "pgbench-postgres"])
def test_an_example_drives_a_private_server_whose_variable_needs_a_restart(
    paribus: Paribus, place: Path, example: str
) -> None:
    plan = Path(__file__).parents[3] / f"examples/{example}.toml"
    sets = {
        "target.path": f"{place}/data",
        "protocol.trial": "1s",
        "protocol.settle": "20ms",
        "workload.0.threads": "[2]",
    }
    sets |= {"protocol.placebo": "false", "protocol.margin": "50%"}
    arguments = [part for key, value in sets.items() for part in ("--set", f"{key}={value}")]
    checked = paribus("check", str(plan), *arguments)
    assert checked.code == 0, checked.err
    assert f"{example.partition('-')[0]} " in checked.out and "{database}" in checked.out
    _stopped_after_few("run", str(plan), *arguments)
    _each_variable_was_read_back()
    counted = [found for order, found in measured().items() if order in _orders(TrialState.DONE)]
    assert counted and all("server_log_written_bytes_per_s" in found for found in counted)
    further = "queries_per_s" if example == "sysbench-mariadb" else "response_p99_s"
    assert all(found[further].mean > 0 for found in counted)
    assert nothing_is_left(place)


def _stopped_after_few(*arguments: str) -> None:
    """Run an experiment, and interrupt it when a few of its trials are done."""
    running = Running(*arguments)
    while running.goes_on() and done_count() < FEW:
        time.sleep(0.2)
    running.signal(signal.SIGINT)
    done = running.end(120)
    assert done.code == STOPPED, done.err


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


@pytest.mark.parametrize(("kind", "data"), [("mariadb", "application"), ("postgres", "round")])
def test_a_table_that_a_tool_grows_and_its_files_are_put_back(
    paribus: Paribus, place: Path, kind: str, data: str
) -> None:
    script = place / "data" / "grow.py"
    script.write_text(GROWING)
    run = ["python3", str(script), "{settle}", "{seconds}", *CLIENT[kind]]
    prepare = [*CLIENT[kind], "CREATE TABLE grown (id INT)"]
    workload = f'kind = "command"\nrun = {run}\nprepare = {prepare}\ndata = "{data}"\nsettle_in_command = true\n'
    workload += "throughput = 'rate: (?P<value>[0-9]+)'"
    done = paribus("run", plan_on(place, kind, LIVE[kind], workload, settle='"20ms"', trial='"200ms"'))
    assert done.code in RUN_ENDED, done.err
    script.unlink()
    seen_file = Path(f"{script}.seen")
    seen = [(int(rows), int(lines)) for rows, lines in map(str.split, seen_file.read_text().splitlines())]
    seen_file.unlink()
    carried_out = sorted((trial for trial in trials() if trial.started is not None), key=lambda one: one.started or 0)
    assert len(seen) == len(carried_out)
    key = (lambda trial: trial.round) if data == "round" else (lambda trial: (trial.block, trial.attempt))
    ages = [list(group) for _, group in itertools.groupby(zip(carried_out, seen, strict=True), lambda one: key(one[0]))]
    assert len(ages) >= 2
    for age in ages:
        rows = [rows for _, (rows, _) in age]
        assert [rows[0], age[0][1][1]] == [0, 1]  # the table and the file are as prepare left them
        assert rows == sorted(rows)  # within a round or a block they grow
    assert max(rows for rows, _ in seen) > 0
    assert nothing_is_left(place)


def test_a_held_variable_with_a_tool_as_the_only_workload(place: Path) -> None:
    workload = SYSBENCH.format(connection=CONNECTION["mariadb"], data="keep")
    factors = '"process.load.nofile" = ["default", 512]\n[hold]\n"mysql.innodb_io_capacity" = 500'
    _stopped_after_few("run", plan_on(place, "mariadb", factors, workload, trial='"1s"', settle='"20ms"'))
    observed = {change.observed for found in changes().values() for change in found if "io_capacity" in change.knob}
    assert observed == {"500"}
    assert nothing_is_left(place)


def test_mysqlslap_is_a_command(paribus: Paribus, place: Path) -> None:
    text = (Path(__file__).parents[3] / "docs/how-to/server-tool.md").read_text()
    example = next(block for block in text.split("```toml\n") if block.startswith('name = "mysqlslap"'))
    plan = place / "plan.toml"
    plan.write_text(example.partition("```")[0].replace("20000", "1000"))
    sets = {"target.path": f"{place}/data", "protocol.trial": "50ms", "protocol.settle": "20ms", "protocol.rounds": "2"}
    arguments = [part for key, value in sets.items() for part in ("--set", f"{key}={value}")]
    done = paribus("run", str(plan), *arguments)
    assert done.code in RUN_ENDED, done.err
    assert not [trial for trial in trials() if trial.state is TrialState.FAILED], done.err
    assert all(found["throughput_per_s"].mean > 0 for found in measured().values())
    assert nothing_is_left(place)


BY_NETWORK = {
    "mariadb": 'db-driver = "mysql", mysql-host = "{host}", mysql-port = "{port}", mysql-user = "{user}", '
    'mysql-db = "{database}"',
    "postgres": CONNECTION["postgres"],
}
CLIENT_BY_NETWORK = {
    "mariadb": ["mariadb", "--defaults-extra-file={password_file}", "--skip-column-names", "--host={host}",
                "--port={port}", "--user={user}", "{database}", "--execute"],
    "postgres": CLIENT["postgres"],
}  # fmt: skip
# Fails where others can read the password file, or where it is outside the tool's own folder.
GUARDED = """
import os, stat, sys
password_file = sys.argv.pop(1)
assert stat.S_IMODE(os.stat(password_file).st_mode) == 0o600
assert os.path.dirname(password_file) == os.environ["HOME"]
"""


def _on_others(others: Others, tmp_path: Path, workload: str) -> str:
    """A plan of seconds for a server in use by others; sysbench counts whole seconds."""
    trial = "1s" if "sysbench" in workload else "300ms"
    path = tmp_path / "plan.toml"
    path.write_text(
        f'name = "live"\n[target]\npath = "{tmp_path}"\nallow_live = true\n[database]\nkind = "{others.kind}"\n'
        f'dsn = "{others.dsn}"\npassword_env = "{VARIABLE}"\n[factors]\n{LIVE[others.kind]}\n[[workload]]\n{workload}\n'
        f'[protocol]\ntrial = "{trial}"\nsettle = "20ms"\nrounds = 2\nplacebo = false\nmargin = "50%"\n'
    )
    return str(path)


@pytest.mark.parametrize("tool", ["sysbench", "command"])
def test_a_tool_drives_a_running_server_and_the_password_is_seen_nowhere(
    others: Others, tmp_path: Path, tool: str
) -> None:
    workload = SYSBENCH.format(connection=BY_NETWORK[others.kind], data="keep")
    if tool == "command":
        script = tmp_path / "grow.py"
        script.write_text(
            GUARDED + GROWING.replace("sys.argv[2:]", "sys.argv[3:]").replace("sys.argv[1]", "sys.argv[2]")
        )
        run = ["python3", str(script), "{password_file}", "{settle}", "{seconds}", *CLIENT_BY_NETWORK[others.kind]]
        prepare = [*CLIENT_BY_NETWORK[others.kind], "CREATE TABLE grown (id INT)"]
        workload = f'kind = "command"\nrun = {run}\nprepare = {prepare}\ndata = "round"\nsettle_in_command = true\n'
        workload += "throughput = 'rate: (?P<value>[0-9]+)'"
    is_sysbench = tool == "sysbench"  # its trials are long: some of them are enough
    running = Running("run", _on_others(others, tmp_path, workload))
    programs, showing = shown_until_end(running, others.password, lambda: is_sysbench and done_count() >= FEW)
    done = running.end()
    assert done.code == STOPPED if is_sysbench else done.code in RUN_ENDED, done.err
    assert experiment().state is (ExperimentState.INTERRUPTED if is_sysbench else ExperimentState.DONE)
    failed = [trial for trial in trials() if trial.state is TrialState.FAILED]
    assert {trial.failure for trial in failed} <= {FailureClass.INTERRUPTED}, done.err
    assert ("sysbench" if tool == "sysbench" else "python3") in programs
    assert showing == []
    _each_variable_was_read_back()
    assert others.is_as_before()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {".db", ".jsonl"} <= {path.suffix for path in files}
    assert [path for path in files if others.password.encode() in path.read_bytes()] == []
    assert others.password not in done.out + done.err
    assert not (tmp_path / "paribus-data").exists()
    if tool == "command":
        seen = [line.split()[0] for line in Path(f"{tmp_path}/grow.py.seen").read_text().splitlines()]
        assert seen.count("0") == len({trial.round for trial in trials() if trial.started is not None})


@pytest.mark.parametrize("others", ["postgres"], indirect=True)
def test_a_database_of_the_dsn_that_is_missing_is_told_before_a_tool_is_started(
    paribus: Paribus, others: Others, tmp_path: Path
) -> None:
    plan = Path(_on_others(others, tmp_path, 'kind = "pgbench"'))
    plan.write_text(plan.read_text().replace(others.dsn, f"{others.dsn}nowhere"))
    refused = paribus("check", str(plan))
    assert refused.code == 2
    assert 'database "nowhere" does not exist' in refused.err


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
def test_missing_requirements_of_a_tool_are_plan_errors(
    paribus: Paribus, place: Path, database: str, workload: str, words: str
) -> None:
    plan = place / "plan.toml"
    table = f"[database]\n{database}\n" if database else ""
    plan.write_text(f'name = "t"\n[target]\npath = "{place}/data"\n{table}[[workload]]\n{workload}\n')
    refused = paribus("check", str(plan))
    assert refused.code == 2
    assert words in refused.err


# Behaves as hammerdbcli does: reads the settings of a script, builds the schema, runs for whole minutes.
HAMMERDBCLI = r"""#!/usr/bin/env python3
import os, subprocess, sys, time
assert sys.argv[1:3] == ["tcl", "auto"] and os.path.exists("hammerdbcli"), "started elsewhere"
lines = [line.split() for line in open(sys.argv[3])]
told = {words[2].partition("_")[2]: words[3] for words in lines if words and words[0] == "diset"}
def ask(statement):
    client = ["mariadb", "--skip-column-names", f"--socket={told['socket']}", f"--user={told['user']}", told["dbase"]]
    done = subprocess.run([*client, "--execute", statement], check=True, capture_output=True, text=True)
    return int(done.stdout or 0)
print("HammerDB CLI v4.12")
if ["buildschema"] in lines:
    print("Vuser 1:RUNNING")
    ask("CREATE TABLE orders (id INT AUTO_INCREMENT PRIMARY KEY)")
else:
    users = next(int(words[2]) for words in lines if words[:2] == ["vuset", "vu"])
    minutes = int(told["duration"])
    print(f"Vuser 1:Beginning rampup time of {told['rampup']} minutes")
    time.sleep(2 * int(told["rampup"]))  # a minute here is of two seconds
    print(f"Vuser 1:Timing test period of {minutes} in minutes", flush=True)
    before, until = ask("SELECT COUNT(*) FROM orders"), time.monotonic() + 2 * minutes
    while time.monotonic() < until:
        ask("INSERT INTO orders VALUES ()")
    nopm = (ask("SELECT COUNT(*) FROM orders") - before) // minutes
    print(f"Vuser 1:{users} Active Virtual Users configured")
    print(f"Vuser 1:TEST RESULT : System achieved {nopm} NOPM from {2 * nopm} MariaDB TPM")
    with open(f"{os.environ['TMPDIR']}/hdbxtprofile.log", "w") as log:
        print(f">>>>> SUMMARY OF {users} ACTIVE VIRTUAL USERS : MEDIAN ELAPSED TIME : 60000ms", file=log)
        print(">>>>> PROC: NEWORD", file=log)
        print("CALLS: 9\tMIN: 1.000ms\tAVG: 2.000ms\tMAX: 9.000ms\tTOTAL: 18.000ms", file=log)
        print("P99: 8.000ms\tP95: 7.000ms\tP50: 2.000ms\tSD: 1.000ms\tRATIO: 50.000%", file=log)
print("Vuser 1:FINISHED SUCCESS")
"""


def test_a_program_that_behaves_as_hammerdb_is_measured(paribus: Paribus, place: Path) -> None:
    home = place / "hammerdb"
    home.mkdir()
    program = home / "hammerdbcli"
    program.write_text(HAMMERDBCLI)
    workload = f'kind = "hammerdb"\nhome = "{home}"\nthreads = [2]\nresponse = ["throughput_per_s", "response_p95_s"]'
    plan = plan_on(place, "mariadb", LIVE["mariadb"], workload)
    missing = paribus("check", plan)
    assert (missing.code, f"has no program '{program}'" in missing.err) == (2, True), missing.err
    program.chmod(0o755)
    running = Running("run", plan)
    running.wait_for("trial ")
    running.signal(signal.SIGINT)
    assert running.end(timeout_s=200).code == 130
    measures = [found for found in measured().values() if "throughput_per_s" in found]
    assert measures
    for found in measures:
        assert found["transactions_per_s"].mean == pytest.approx(2 * found["throughput_per_s"].mean)
        assert (found["response_p95_s"].mean, found["response_mean_s"].mean) == (0.007, 0.002)
    assert nothing_is_left(place)
