"""A guest against its hypervisor in one experiment: each trial on its machine, and both left as found."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from command import RUN_ENDED, Done, Running
from waiting import wait_for

from guest.hypervisor import Hypervisor
from paribus.store import read
from paribus.store.open import open_engine, store_url

pytestmark = [pytest.mark.root, pytest.mark.usefixtures("as_root")]

Paribus = Callable[..., Done]
Plan = Callable[..., str]
FACTORS = 'platform = ["host", "guest"]'
GROUPS = Path("/sys/fs/cgroup")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder for the data on the hypervisor."""
    made = tmp_path / "host"
    made.mkdir(mode=0o700)
    return made


@pytest.fixture
def compares(plan: Plan, folder: Path) -> Callable[..., str]:
    """Write a plan that compares the platforms, and return its path."""

    def write(trial: str = "500ms") -> str:
        file = Path(plan(FACTORS, trial=trial, more=""))
        file.write_text(file.read_text().replace("[factors]", f'[target.bound]\npath = "{folder}"\n[factors]'))
        return str(file)

    return write


def test_each_trial_runs_on_its_machine(
    paribus: Paribus, compares: Callable[..., str], hypervisor: Hypervisor, folder: Path
) -> None:
    groups = _groups()
    done = paribus("run", compares())
    assert done.code in RUN_ENDED, done.err
    store = open_engine(store_url(None), create=False)
    experiment = read.find(store, "last").id
    trials = {trial.order: trial.settings for trial in read.trials(store, experiment)}
    kernels = {
        (trials[order]["platform"], facts["kernel"]) for order, facts in read.conditions(store, experiment).items()
    }
    limited = {(trials[order]["platform"], change.knob) for order, change in read.changes(store, experiment)}
    store.dispose()
    here = Path("/proc/sys/kernel/osrelease").read_text().strip()
    assert kernels == {("host", here), ("guest", hypervisor.run("uname -r").strip())}
    assert limited == {("host", "cgroup.load.cpus"), ("host", "cgroup.load.memory_max")}
    assert (_groups(), list(folder.rglob("*")), hypervisor.run(f"ls {hypervisor.data}")) == (groups, [], "")


def test_a_killed_controller_leaves_no_control_group(compares: Callable[..., str]) -> None:
    groups = _groups()
    running = Running("run", compares(trial="2s"))
    wait_for(lambda: _groups() != groups, "no group was made")
    running.signal(signal.SIGKILL)
    running.end()
    wait_for(lambda: _groups() == groups, "the group was not removed")


def test_an_interrupted_comparison_is_resumed(paribus: Paribus, compares: Callable[..., str], folder: Path) -> None:
    running = Running("run", compares(trial="1s"))
    running.wait_for("trial")
    running.signal(signal.SIGINT)
    assert running.end(120).code == 130
    resumed = paribus("resume")
    assert resumed.code in RUN_ENDED, resumed.err
    assert list(folder.rglob("*")) == []


def test_check_tells_the_size_of_the_hypervisor(paribus: Paribus, compares: Callable[..., str], folder: Path) -> None:
    checked = paribus("check", compares(), "--json")
    assert checked.code == 0, checked.err
    bound = checked.json["bound"]
    assert (bound["path"], bound["cpus"]) == (str(folder), "0-1")
    folder.rmdir()
    refused = paribus("check", compares())
    assert refused.code == 2 and f"target.bound.path: on the hypervisor, {folder} does not exist" in refused.err


def _groups() -> set[str]:
    """The control groups of Paribus on this machine."""
    return {str(path) for path in GROUPS.rglob("paribus-*")}
