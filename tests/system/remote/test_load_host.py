"""The load of a running server from another machine: settings are tried on the target, and nothing on the load host."""

import contextlib
import functools
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from command import PYTHON, RUN_ENDED, Done, Running, queue_of, settings_of
from network_server import NetworkServer, network_server
from ssh_target import HERE, THERE, SshTarget, wait_until_reachable
from waiting import wait_for

from paribus.engine.find import binary
from paribus.hosts.ssh import SshHost
from paribus.model import Change, Experiment, Measurement, Trial, TrialState
from paribus.store import read
from paribus.store.open import open_engine, store_url

pytestmark = [pytest.mark.root, pytest.mark.usefixtures("as_root")]

Paribus = Callable[..., Done]
READ_AHEAD = '"block.read_ahead_kb" = [64, 256]'
VARIABLE = {"mariadb": "mysql.innodb_io_capacity", "postgres": "postgres.work_mem"}
SATURATED = 0.90  # of the processors of a load host
LEVELS = {"mariadb": [200, 5000], "postgres": ["4MB", "1MB"]}


@pytest.fixture(params=["mariadb"])
def server(request: pytest.FixtureRequest) -> Iterator[NetworkServer]:
    with network_server(request.param) as started:
        yield started


def write_plan(
    folder: Path, device: str, server: NetworkServer, factor: str = READ_AHEAD, load: str = "ssh://target",
    host: str = HERE, threads: str = "rate = [100]\nthreads = [2]", workload: str = "oltp_point_select",
) -> str:  # fmt: skip
    """Write a plan whose target is this machine, and return its path."""
    secret = folder / "secret"
    secret.write_text(server.password)
    secret.chmod(0o600)
    path = folder / "plan.toml"
    path.write_text(
        f'name = "two hosts"\n[target]\npath = "{folder}"\ndevice = "{device}"\nallow_live = true\n'
        f'[load]\nhost = "{load}"\n'
        f'[database]\nkind = "{server.kind}"\ndsn = "{server.dsn(host)}"\npassword_file = "{secret}"\n'
        f'[factors]\n{factor}\n[[workload]]\nkind = "{workload}"\ntable_size = 1000\n{threads}\n'
        f'[protocol]\ntrial = "400ms"\nsettle = "50ms"\nrounds = 2\nplacebo = false\n'
    )
    return str(path)


@pytest.fixture
def plan(server: NetworkServer, target: SshTarget, loop: str, tmp_path: Path) -> Callable[..., str]:
    """Write a plan whose load host is reached over SSH, and return its path."""
    assert target.address == "ssh://target"
    return functools.partial(write_plan, tmp_path, loop, server)


@dataclass(frozen=True)
class Stored:
    """The last experiment, its trials and changes, the metrics by order of trial, and the conditions of each trial."""

    experiment: Experiment
    trials: list[Trial]
    changes: list[Change]
    metrics: dict[int, dict[str, Measurement]]
    conditions: list[set[str]]


def _stored() -> Stored:
    store = open_engine(store_url(None), create=False)
    experiment = read.find(store, "last")
    trials = read.trials(store, experiment.id)
    changes = [change for _, change in read.changes(store, experiment.id)]
    metrics = read.summaries(store, experiment.id)
    conditions = [set(facts) for facts in read.conditions(store, experiment.id).values()]
    store.dispose()
    return Stored(experiment, trials, changes, metrics, conditions)


def _read_ahead(device: str) -> str:
    return (queue_of(device) / "read_ahead_kb").read_text()


@pytest.mark.parametrize("server", ["mariadb", "postgres"], indirect=True)
def test_the_load_comes_from_one_machine_and_settings_are_tried_on_the_other(
    paribus: Paribus, plan: Callable[..., str], server: NetworkServer, target: SshTarget, loop: str
) -> None:
    before = settings_of(loop)
    first, second = LEVELS[server.kind]
    factors = f'{READ_AHEAD}\n"{VARIABLE[server.kind]}" = [{first!r}, {second!r}]'
    checked = paribus("check", plan(factors))
    assert checked.code == 0, checked.err
    assert f"load from {target.address}" in checked.out
    done = paribus("run", plan(factors))
    assert done.code in RUN_ENDED, done.err
    stored = _stored()
    wanted = {"cpu_user_share", "load_host_cpu_user_share", "server_cpu_cores", "throughput_per_s"}
    assert any(wanted <= metrics.keys() for metrics in stored.metrics.values()), (
        "on a busy machine a short trial may have no sample"
    )
    assert {"kernel", "load host: kernel", "load host: vm.swappiness"} <= set.intersection(*stored.conditions)
    assert {"host", "load_host", "load_host_kernel"} <= set(stored.experiment.fingerprint)
    tried = {(change.knob, str(change.observed)) for change in stored.changes}
    assert {("block.read_ahead_kb", "64"), ("block.read_ahead_kb", "256")} <= tried
    assert settings_of(loop) == before
    assert not server.databases
    assert not target.engines()
    assert not list(target.state.glob("**/*.jsonl")), "nothing is changed on a load host"
    assert "load host kernel" in paribus("report", "last").out


def test_the_load_comes_from_here_and_settings_are_tried_over_ssh(
    paribus: Paribus, target: SshTarget, loop: str, tmp_path: Path
) -> None:
    before = settings_of(loop)
    host = SshHost(target.address, binary())
    with contextlib.closing(host), network_server("mariadb", host) as server:
        plan = write_plan(tmp_path, loop, server, load="local", host=THERE)
        sets = ("--set", f"target.host={target.address}")
        checked = paribus("check", plan, *sets)
        assert checked.code == 0, checked.err
        assert "load from local" in checked.out
        done = paribus("run", plan, *sets)
        assert done.code in RUN_ENDED, done.err
        stored = _stored()
        assert any(
            {"server_cpu_cores", "load_host_cpu_user_share"} <= metrics.keys() for metrics in stored.metrics.values()
        )
        assert "load host: kernel" in set.intersection(*stored.conditions)
        assert {"64", "256"} <= {str(change.observed) for change in stored.changes}
        assert settings_of(loop) == before
        assert list(target.state.glob("journal/closed/*.jsonl")), "the journal is the target's"
        assert not server.databases


def test_conditions_of_the_load_are_set_and_read_back_on_the_load_host(
    paribus: Paribus, plan: Callable[..., str]
) -> None:
    done = paribus("run", plan('"process.load.cpus" = ["0", "1"]'))
    assert done.code in RUN_ENDED, done.err
    changes = [change for change in _stored().changes if change.knob == "process.load.cpus"]
    assert {change.observed for change in changes} == {"0", "1"}
    assert all("paribus-engine" in change.address for change in changes)


@pytest.fixture
def busy_processors() -> Iterator[None]:
    """Other work on every processor of this machine, which is target and load host at once."""
    with contextlib.ExitStack() as stack:
        for _ in range(len(os.sched_getaffinity(0))):
            stack.callback(stack.enter_context(subprocess.Popen([PYTHON, "-c", "while True: pass"])).kill)
        yield


@pytest.mark.usefixtures("busy_processors")
def test_a_saturated_load_host_makes_trials_invalid_and_is_named(
    paribus: Paribus, plan: Callable[..., str], target: SshTarget
) -> None:
    done = paribus("run", plan(threads="threads = [8]"))
    assert done.code in RUN_ENDED, done.err
    stored = _stored()
    reasons = [reason for trial in stored.trials for reason in trial.invalid_because]
    named = [reason for reason in reasons if reason.startswith(f"on the load host {target.address}: the processors")]
    assert named, reasons
    for trial in stored.trials:
        if trial.state is TrialState.DONE:  # its threads may have had to wait, as for a busy machine below this one
            shares = [stored.metrics[trial.order].get(f"load_host_cpu_{mode}_share") for mode in ("user", "system")]
            assert sum(share.mean for share in shares if share) < SATURATED
    assert "the load engine" in paribus("report", "last").out


def _lost_under_load(plan: Callable[..., str], target: SshTarget, server: NetworkServer, loop: str) -> Running:
    """An experiment whose load host is lost in mid-transaction, and whose target is restored since."""
    before = _read_ahead(loop)
    running = Running("run", plan(threads="threads = [4]", workload="oltp_read_write"))
    wait_for(lambda: _read_ahead(loop) != before, "a setting is changed")
    target.cut_link()
    wait_for(lambda: _read_ahead(loop) == before, "the target is restored while its load host is lost")
    wait_for(lambda: not server.databases, "the open transactions of the lost load host leave the database")
    assert running.goes_on()
    return running


def test_a_lost_load_host_fails_the_trial_and_the_target_is_restored(
    plan: Callable[..., str], target: SshTarget, server: NetworkServer, loop: str
) -> None:
    before = settings_of(loop)
    running = _lost_under_load(plan, target, server, loop)
    target.mend_link()
    done = running.end(300)
    assert done.code in RUN_ENDED, done.err
    trials = _stored().trials
    failures = [trial.failure_message for trial in trials if trial.failure_message]
    assert failures and all(target.address in message for message in failures), failures
    assert any(trial.state in (TrialState.DONE, TrialState.INVALID) for trial in trials)
    assert settings_of(loop) == before
    assert not server.databases


def test_without_its_load_host_an_experiment_can_be_interrupted_and_resumed(
    paribus: Paribus, plan: Callable[..., str], target: SshTarget, server: NetworkServer, loop: str
) -> None:
    before = settings_of(loop)
    running = _lost_under_load(plan, target, server, loop)
    running.signal(signal.SIGINT)
    assert running.end(90).code == 130
    target.mend_link()
    wait_until_reachable(target.path / "ssh", "target")
    resumed = paribus("resume")
    assert resumed.code in RUN_ENDED, resumed.err
    assert settings_of(loop) == before
    assert not server.databases


def test_a_load_host_that_cannot_work_on_the_server_is_refused(
    paribus: Paribus, plan: Callable[..., str], target: SshTarget, server: NetworkServer
) -> None:
    """The loopback is another machine's on the load host, and a server must run on the target."""
    itself = paribus("check", plan(host="127.0.0.1"))
    assert (itself.code, "is the load host itself when ssh://target connects to it" in itself.err) == (2, True), (
        itself.err
    )
    load = '"process.load.cpus" = ["0", "1"]'
    elsewhere = paribus("check", plan(load, load="local"), "--set", f"target.host={target.address}")
    assert (elsewhere.code, "does not run on" in elsewhere.err) == (2, True), elsewhere.err
    unreached = paribus("check", plan(), "--set", "load.host=ssh://root@127.0.0.1:9")
    assert (unreached.code, "ssh://root@127.0.0.1:9" in unreached.err) == (3, True), unreached.err
    server.instance.query("DROP USER bench@'%'")
    server.instance.query(f"CREATE USER bench@'{HERE}' IDENTIFIED BY '{server.password}'")
    server.instance.query(f"GRANT ALL ON *.* TO bench@'{HERE}'")
    let_in_from_here = paribus("check", plan())
    assert let_in_from_here.code == 2, let_in_from_here.err
    assert "ssh://target cannot work on the server" in let_in_from_here.err
