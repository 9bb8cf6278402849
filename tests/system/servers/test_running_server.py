"""Experiments on a server that others use: what is changed there comes back, whatever happens; no secret is kept."""

import contextlib
import dataclasses
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from command import RUN_ENDED, Done, Running
from others import LIVE, VARIABLE, Others
from processes import programs_until_end

from paribus.databases import LiveServer, TakesEffect
from paribus.engine.find import binary
from paribus.errors import QueryRefused
from paribus.hosts.local import LocalHost
from paribus.model import ExperimentState, Plan, RunningServer, Trial, TrialState
from paribus.store import read
from paribus.store.open import open_engine, store_url

AT_A_START = {"mariadb": ("innodb_log_buffer_size", 16777216, 8388608), "postgres": ("shared_buffers", "16MB", "32MB")}
STATEMENT = {"mariadb": "SET GLOBAL innodb_io_capacity = 200", "postgres": 'ALTER SYSTEM RESET "work_mem"'}

TAKE_LOCK = {"mariadb": "SELECT GET_LOCK('paribus', 0)", "postgres": "SELECT pg_try_advisory_lock(1885434473)"}
FREE_LOCK = {"mariadb": "SELECT RELEASE_ALL_LOCKS()", "postgres": "SELECT pg_advisory_unlock_all()"}

Paribus = Callable[..., Done]


@pytest.fixture
def plan(others: Others, tmp_path: Path) -> Callable[..., str]:
    """Write a plan for it that takes seconds, and return its path."""

    def write(target: str = "allow_live = true", database: str = "", factor: str = "", trial: str = "150ms") -> str:
        name, one, other = LIVE[others.kind]
        family = "mysql" if others.kind == "mariadb" else "postgres"
        factor = factor or f'"{family}.{name}" = [{one!r}, {other!r}]'
        database = database or f'dsn = "{others.dsn}"\npassword_env = "{VARIABLE}"'
        path = tmp_path / "plan.toml"
        path.write_text(
            f'name = "live"\n[target]\npath = "{tmp_path}"\n{target}\n[database]\nkind = "{others.kind}"\n{database}\n'
            f'[factors]\n{factor}\n[[workload]]\nkind = "oltp_update_index"\ntable_size = 2000\nthreads = [2]\n'
            f'[protocol]\ntrial = "{trial}"\nsettle = "50ms"\nrounds = 2\nplacebo = false\n'
        )
        return str(path)

    return write


def _stored() -> tuple[ExperimentState, Plan, list[Trial]]:
    store = open_engine(store_url(None), create=False)
    found = read.find(store, "last")
    kept = found.state, read.plan(store, found.id), read.trials(store, found.id)
    store.dispose()
    return kept


def _counted() -> set[str]:
    """Return the metrics of the server's counters that every valid trial has; no reading was missed."""
    store = open_engine(store_url(None), create=False)
    found = read.find(store, "last")
    done = [trial.order for trial in read.trials(store, found.id) if trial.state is TrialState.DONE]
    measured = read.summaries(store, found.id)
    store.dispose()
    assert not [note for note in found.notes if "counters were read" in note]
    return set.intersection(*(set(measured[order]) for order in done))


def _journals(state: str) -> list[Path]:
    return list((Path(os.environ["PARIBUS_STATE"]) / "journal" / state).glob("*.jsonl"))


def _await_closed() -> None:
    deadline = time.monotonic() + 30
    while _journals("") and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _journals("")


def _under_load(plan: str, others: Others) -> Running:
    """An experiment that has made its data and changed the server."""
    running = Running("run", plan)
    running.wait_for("trial ")
    deadline = time.monotonic() + 30
    while others.value == str(LIVE[others.kind][1]) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert any(name.startswith("paribus_") for name in others.databases)
    return running


def _kill_with_its_keeper(running: Running) -> None:
    """As a crash of the machine that Paribus runs on: nobody is left who would put anything back."""
    found = subprocess.run(
        ["pgrep", "--parent", str(running.pid), "--full", "engine journal"], capture_output=True, text=True, check=True
    )
    os.kill(int(found.stdout), signal.SIGSTOP)
    running.signal(signal.SIGKILL)
    os.kill(int(found.stdout), signal.SIGKILL)
    running.end()


@pytest.mark.gate
def test_a_variable_is_tried_and_comes_back_and_the_secret_is_kept_nowhere(
    paribus: Paribus, others: Others, plan, tmp_path: Path
) -> None:
    checked = paribus("check", plan())
    assert checked.code == 0, checked.err
    assert "2000 rows" in checked.out and "dropped at the end" in checked.out
    assert STATEMENT[others.kind] in checked.out
    assert "in use by others" in checked.out and "was not found" not in checked.out
    done = paribus("run", plan(), with_report=True)
    assert done.code in RUN_ENDED, done.err
    state, kept, trials = _stored()
    assert state is ExperimentState.DONE, done.err
    assert TrialState.DONE in {trial.state for trial in trials}, done.err
    failures = [trial.failure_message for trial in trials if trial.state is TrialState.FAILED]
    assert all("completed no operation" in failure for failure in failures), done.err  # other tests took the time
    assert kept.database is not None and kept.database.running is not None
    assert kept.database.running.credential == {"env": VARIABLE}
    assert others.is_as_before()
    assert {"server_log_written_bytes_per_s", "server_started"} <= _counted()
    (closed,) = _journals("closed")
    assert VARIABLE in closed.read_text()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {".db", ".jsonl", ".html"} <= {path.suffix for path in files}
    assert [path for path in files if others.password.encode() in path.read_bytes()] == []
    assert others.password not in done.out + done.err + checked.out


def test_a_killed_controller_is_put_back_by_its_keeper_and_goes_on(paribus: Paribus, others: Others, plan) -> None:
    running = _under_load(plan(), others)
    running.signal(signal.SIGKILL)
    running.end()
    _await_closed()
    assert others.is_as_before()
    done = paribus("resume")
    assert done.code in RUN_ENDED, done.err
    assert _stored()[0] is ExperimentState.DONE
    assert others.is_as_before()


@pytest.mark.parametrize("others", ["postgres"], indirect=True)
def test_an_interrupted_one_is_put_back(others: Others, plan) -> None:
    running = _under_load(plan(trial="10s"), others)
    running.signal(signal.SIGINT)
    assert running.end().code == 130
    assert others.is_as_before()


@pytest.mark.gate
@pytest.mark.parametrize("loopback", [False])
def test_changes_left_by_a_crash_are_undone_once_the_server_is_back(paribus: Paribus, others: Others, plan) -> None:
    _kill_with_its_keeper(_under_load(plan(), others))
    assert not others.is_as_before()
    refused = paribus("run", plan())
    assert (refused.code, "paribus undo" in refused.err) == (4, True)
    (left,) = _journals("")
    others.instance.kill()
    away = paribus("undo")
    assert away.code == 4
    assert f"by hand: {STATEMENT[others.kind]}" in away.err and "DROP DATABASE" in away.err
    assert left.exists()
    others.instance.start()
    undone = paribus("undo")
    assert undone.code == 0, undone.err
    assert others.is_as_before()
    assert not _journals("")


@pytest.mark.parametrize("loopback", [False])
def test_values_set_by_others_since_a_restart_are_left_alone(paribus: Paribus, others: Others, plan) -> None:
    if others.kind == "postgres":
        others.instance.set_live("work_mem", "3MB")  # stands in postgresql.auto.conf, where it belongs again
    name, _, other = LIVE[others.kind]
    factor = f'"postgres.{name}" = ["current", {other!r}]' if others.kind == "postgres" else ""
    _kill_with_its_keeper(_under_load(plan(factor=factor), others))
    if others.kind == "mariadb":
        time.sleep(6)  # a server that was started a moment ago could be the same
        others.instance.restart({name: "777"})
    undone = paribus("undo")
    assert undone.code == 0, undone.err
    assert others.value == {"mariadb": "777", "postgres": "3MB"}[others.kind]
    assert ("gone with the last start" in undone.out) is (others.kind == "mariadb")
    assert not [database for database in others.databases if database.startswith("paribus")]


def _secret_file(folder: Path, name: str, text: str, mode: int = 0o600) -> Path:
    path = folder / name
    path.write_text(text)
    path.chmod(mode)
    return path


def test_the_password_is_found_where_people_keep_it(paribus: Paribus, others: Others, plan, tmp_path: Path) -> None:
    dsn, user = f'dsn = "{others.dsn}"\n', others.instance.address().user
    nobody = others.dsn.replace(f"{user}@", "")
    if others.kind == "mariadb":
        _secret_file(
            tmp_path, ".my.cnf", f"[mysqld]\npassword=no\n[client]\nuser={user}\npassword = '{others.password}'\n"
        )
        variable = "MYSQL_PWD"
        assert paribus("check", plan(database=f'dsn = "{nobody}"\n'), HOME=str(tmp_path)).code == 0
    else:
        lines = f"# mine\n127.0.0.1:5432:*:{user}:no\n*:*:*:{user}:{others.password}\n"
        elsewhere = _secret_file(tmp_path, "pgpass", lines)
        variable = "PGPASSWORD"
        assert paribus("check", plan(database=dsn), PGPASSFILE=str(elsewhere)).code == 0
        elsewhere.rename(tmp_path / ".pgpass")
    assert paribus("check", plan(database=dsn), HOME=str(tmp_path)).code == 0
    assert paribus("check", plan(database=dsn), **{variable: others.password, "HOME": "/nowhere"}).code == 0
    own = _secret_file(tmp_path, "secret", f"{others.password}\n")
    named = plan(database=f'{dsn}password_file = "{own}"')
    assert paribus("check", named).code == 0
    own.chmod(0o644)
    open_to_all = paribus("check", named)
    assert (open_to_all.code, "chmod 600" in open_to_all.err) == (2, True)
    assert others.password not in open_to_all.err


@pytest.mark.parametrize("others", ["mariadb"], indirect=True)
def test_a_plan_that_may_not_or_cannot_is_refused_and_nothing_is_touched(
    paribus: Paribus, others: Others, plan
) -> None:
    name, one, other = AT_A_START[others.kind]
    live, value, _ = LIVE[others.kind]
    family = "mysql" if others.kind == "mariadb" else "postgres"
    held = f'dsn = "{others.dsn}"\npassword_env = "{VARIABLE}"\nsettings = {{ {live} = {value!r} }}'
    for target, database, factor, words in (
        ("", "", "", "allow_live = true"),
        ("", held, '"oltp_update_index.skip_trx" = [false, true]', "allow_live = true"),
        ("allow_live = true", "", f'"{family}.{name}" = [{one!r}, {other!r}]', "a private server is started"),
        ("allow_live = true", f'dsn = "{others.dsn}"\npassword_env = "NO_SUCH_ONE"', "", "no variable NO_SUCH_ONE"),
        (
            "allow_live = true",
            f'dsn = "{others.dsn}"\npassword_env = "HOME"',
            "",
            "denied" if family == "mysql" else "failed",
        ),
        ("allow_live = true", f'dsn = "{_without_port(others.dsn)}:9/"', "", "cannot connect"),
    ):
        refused = paribus("check", plan(target, database, factor))
        assert refused.code == 2, (words, refused.err)
        assert words in refused.err
        assert others.password not in refused.err
    assert others.is_as_before()


def _without_port(dsn: str) -> str:
    return dsn.rpartition(":")[0]


@pytest.mark.parametrize("others", ["postgres"], indirect=True)
def test_a_user_who_may_not_is_told_what_is_missing_and_foreign_databases_stay(
    paribus: Paribus, others: Others, plan
) -> None:
    kind = {
        "mariadb": "CREATE USER small@'127.0.0.1' IDENTIFIED BY 'pw'",
        "postgres": "CREATE ROLE small LOGIN PASSWORD 'pw'",
    }
    others.instance.query(kind[others.kind])
    own = others.dsn.replace(f"//{others.instance.address().user}@", "//small@")
    refused = paribus("check", plan(database=f'dsn = "{own}"\npassword_env = "SMALL"'), SMALL="pw")
    assert refused.code == 2
    assert f"does not let {LIVE[others.kind][0]} be set" in refused.err
    assert "does not let databases paribus_… be made" in refused.err
    others.instance.query("CREATE DATABASE paribus_of_somebody")
    refused = paribus("check", plan())
    assert (refused.code, "has a database paribus_of_somebody already" in refused.err) == (2, True)
    elsewhere = plan(database=f'dsn = "{others.dsn}"\npassword_env = "{VARIABLE}"\nschema = "lab"')
    assert paribus("check", elsewhere).code == 0
    done = paribus("run", elsewhere)
    assert done.code in RUN_ENDED, done.err
    assert "paribus_of_somebody" in others.databases
    assert not [name for name in others.databases if name.startswith("lab")]


@pytest.mark.parametrize(("loopback", "others"), [(False, "mariadb")], indirect=["others"])
def test_the_example_runs(paribus: Paribus, others: Others, tmp_path: Path) -> None:
    example = Path(__file__).parents[3] / "examples/running-server.toml"
    sets = {"target.path": str(tmp_path), "database.dsn": others.dsn, "protocol.trial": "300ms"}
    sets |= {"limits.response_p99_s": "60s", "workload.0.table_size": "500", "protocol.settle": "20ms"}
    arguments = [part for key, value in sets.items() for part in ("--set", f"{key}={value}")]
    done = paribus("run", str(example), *arguments, DB_PASSWORD="")
    assert done.code in RUN_ENDED, done.err
    assert others.is_as_before()


def test_two_experiments_do_not_share_a_server(paribus: Paribus, others: Others, plan) -> None:
    """Not even those of different machines, which see each other's journals as little as this connection's."""
    others.instance.query(TAKE_LOCK[others.kind])
    done = paribus("run", plan())
    assert done.code == 3, done.err
    assert "another experiment uses the server" in done.err and "wait until that experiment has ended" in done.err
    assert others.is_as_before()
    others.instance.query(FREE_LOCK[others.kind])
    assert paribus("run", plan()).code in RUN_ENDED


def test_the_servers_process_is_told_from_others(others: Others) -> None:
    at = others.instance.address()
    assert at.password is not None
    server = RunningServer(
        protocol=at.driver, socket=None, host="127.0.0.1", port=at.port, user=at.user, database=at.database,
        credential={"env": VARIABLE},
    )  # fmt: skip
    live = LiveServer(LocalHost(), binary(), others.kind, server)
    assert live.process() == others.instance.pid
    live.close()
    elsewhere = LiveServer(LocalHost(), binary(), others.kind, dataclasses.replace(server, host="192.0.2.1"))
    assert elsewhere.process() is None


@pytest.mark.parametrize(("loopback", "others"), [(False, "mariadb")], indirect=["others"])
def test_side_effects_of_variables_are_listed(others: Others) -> None:
    socket = others.instance.address().socket
    server = RunningServer(protocol="mysql", socket=socket, host=None, port=None, user="root", database="mysql")
    live = LiveServer(LocalHost(), binary(), "mariadb", server)
    variables = live.variables()
    unlisted = {}
    for name, variable in variables.items():
        innodb = name.startswith(("innodb_", "binlog_", "expire_", "slave_", "key_", "query_", "aria_"))
        if not innodb or variable.takes_effect is not TakesEffect.LIVE or variable.kind not in ("int", "float"):
            continue
        for value in {f"{bound:.0f}" for bound in (variable.minimum, variable.maximum) if bound is not None}:
            before = _values(live)
            with contextlib.suppress(QueryRefused):
                others.instance.query(f"SET GLOBAL {name} = {value}")
            moved = {other for other, now in _values(live).items() if now != before[other]} - {name}
            if moved - set(live.moved_by(name)):
                unlisted[name, value] = moved
            for other in (name, *moved):
                with contextlib.suppress(QueryRefused):
                    others.instance.query(f"SET GLOBAL {other} = {variables[other].value}")
    live.close()
    assert not unlisted


def _values(live: LiveServer) -> dict[str, str]:
    return {name: one.value for name, one in live.variables().items() if one.takes_effect is TakesEffect.LIVE}


CONNECTING = {"run", "sql", "sample", "journal"}


@pytest.mark.parametrize("variable", [VARIABLE, "usual"])
def test_only_programs_that_connect_have_the_password(
    others: Others, plan: Callable[..., str], monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    database = f'dsn = "{others.dsn}"\npassword_env = "{VARIABLE}"'
    if variable == "usual":
        monkeypatch.delenv(VARIABLE)
        monkeypatch.setenv("MYSQL_PWD" if others.kind == "mariadb" else "PGPASSWORD", others.password)
        database = f'dsn = "{others.dsn}"'
    running = Running("run", plan(database=database))
    having, lacking = programs_until_end(running, others.password)
    done = running.end()
    assert done.code in RUN_ENDED, done.err
    assert having == CONNECTING
    assert lacking - CONNECTING, "no other program was seen"
    assert others.is_as_before()
