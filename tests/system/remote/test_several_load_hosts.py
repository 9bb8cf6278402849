"""One load from several machines: in the same time, with other transactions each, ended where one is lost."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command import RUN_ENDED, Done, Running, settings_of
from network_server import NetworkServer, network_server
from ssh_target import HERE, SshTarget
from waiting import wait_for

from paribus.model import TrialState
from paribus.store import read
from paribus.store.open import open_engine, store_url

pytestmark = [pytest.mark.root, pytest.mark.usefixtures("as_root")]

Paribus = Callable[..., Done]

SEQUENCE = """
[[workload]]
kind = "sqlmix"
schema = ["CREATE TABLE entries (id BIGINT PRIMARY KEY, worker INT NOT NULL)"]
rows = [{ count = 10, insert = "INSERT INTO entries VALUES (?, ?)", arguments = [{sequence = 1}, {int = [1, 9]}] }]
threads = [4]
[[workload.transactions]]
name = "enter"
statements = [{ sql = "INSERT INTO entries VALUES (?, ?)", arguments = [{sequence = 1000}, {int = [1, 9]}] }]
"""


@pytest.fixture
def server() -> Iterator[NetworkServer]:
    with network_server("mariadb") as started:
        yield started


@pytest.fixture
def plan(server: NetworkServer, target: SshTarget, loop: str, tmp_path: Path) -> Callable[[str], str]:
    """Write a plan whose load comes from this machine and from one over SSH, and return its path."""

    def write(workload: str) -> str:
        secret = tmp_path / "secret"
        secret.write_text(server.password)
        secret.chmod(0o600)
        path = tmp_path / "plan.toml"
        path.write_text(
            f'name = "several"\n[target]\npath = "{tmp_path}"\ndevice = "{loop}"\nallow_live = true\n'
            f'[load]\nhosts = ["local", "{target.address}"]\n'
            f'[database]\nkind = "mariadb"\ndsn = "{server.dsn(HERE)}"\npassword_file = "{secret}"\n'
            f'[factors]\n"block.read_ahead_kb" = [64, 256]\n{workload}\n'
            f'[protocol]\ntrial = "400ms"\nsettle = "50ms"\nrounds = 2\nplacebo = false\n'
        )
        return str(path)

    return write


@pytest.mark.parametrize(
    "workload",
    [
        '[[workload]]\nkind = "tpcc"\nwarehouses = 1\nhome = "fixed"\nthreads = [3]\n',
        pytest.param(
            '[[workload]]\nkind = "oltp_read_only"\ntable_size = 1000\nrate = [100]\nthreads = [4]\n',
            marks=pytest.mark.gate,
        ),
        SEQUENCE,
    ],
    ids=["tpcc", "open loop", "sequence"],
)
def test_several_machines_make_one_load(
    paribus: Paribus, plan: Callable[[str], str], server: NetworkServer, target: SshTarget, loop: str, workload: str
) -> None:
    before = settings_of(loop)
    checked = paribus("check", plan(workload))
    assert checked.code == 0, checked.err
    assert f"load from local, {target.address}, where no setting is changed" in checked.out
    done = paribus("run", plan(workload))
    assert done.code in RUN_ENDED, done.err
    store = open_engine(store_url(None), create=False)
    experiment = read.find(store, "last")
    trials = read.trials(store, experiment.id)
    usable = [trial for trial in trials if trial.state in (TrialState.DONE, TrialState.INVALID)]
    assert usable, [trial.failure_message for trial in trials]
    assert not [reason for trial in trials for reason in trial.invalid_because if "errors" in reason]
    metrics = read.summaries(store, experiment.id)
    assert all({"throughput_per_s", "load_skew_s", "load_clock_error_s"} <= metrics[t.order].keys() for t in usable)
    conditions = [set(facts) for facts in read.conditions(store, experiment.id).values()]
    names = {"kernel", "load host local: kernel", f"load host {target.address}: kernel"}
    assert names <= set.intersection(*conditions)
    assert {"load_host", "load_host_2", "load_host_2_kernel"} <= set(experiment.fingerprint)
    store.dispose()
    assert settings_of(loop) == before
    assert not server.databases
    assert not target.engines()
    assert "load host 2: kernel" in paribus("report", "last").out


def test_a_lost_load_host_ends_the_load_of_the_others_and_the_experiment_continues(
    plan: Callable[[str], str], target: SshTarget, server: NetworkServer, loop: str
) -> None:
    before = settings_of(loop)
    running = Running("run", plan('[[workload]]\nkind = "oltp_read_write"\ntable_size = 1000\nthreads = [4]\n'))
    wait_for(lambda: settings_of(loop) != before, "a setting is changed")
    target.cut_link()
    wait_for(lambda: settings_of(loop) == before, "the target is restored while a load host is lost")
    wait_for(lambda: not server.databases, "the transactions of both load hosts have left the database")
    assert running.goes_on()
    target.mend_link()
    done = running.end(300)
    assert done.code in RUN_ENDED, done.err
    assert settings_of(loop) == before
    assert not server.databases
