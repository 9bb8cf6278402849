"""A tiny plan, and stores: of a scripted experiment, of a real one, and of one that was interrupted."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import scripted
from plan_samples import FILEIO, checked, simple

from paribus import Lab
from paribus.lab.listening import DiscardingListener
from paribus.model import Trial, TrialState
from paribus.store.open import open_engine, store_url

TINY = """
name = "tiny"
[target]
path = "{path}"
[factors]
"fileio.direct" = [false, true]
[[workload]]
kind       = "fileio"
total_size = "1MiB"
block_size = "4KiB"
mode       = "rndrd"
threads    = [1]
[protocol]
trial  = "20ms"
settle = "1ms"
rounds = 2
margin = "50%"
"""


class Interrupting(DiscardingListener):
    """Presses Ctrl-C, so to speak, while a trial is measured."""

    def on_trial_state(self, trial: Trial) -> None:
        """Interrupt the third trial."""
        if trial.order == 3 and trial.state is TrialState.MEASURING:
            raise KeyboardInterrupt


@pytest.fixture(scope="session")
def store_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a scripted experiment in which one level is 6 % better."""
    return _scripted_store(tmp_path_factory)


@pytest.fixture(scope="session")
def second_store_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the same experiment again."""
    return _scripted_store(tmp_path_factory)


def _scripted_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("store") / "s.db"
    store = open_engine(store_url(str(file)), create=True)
    plan = checked(simple('"vm.swappiness" = [60, 1]', FILEIO, '[protocol]\nbudget = "2h"'))
    scripted.carry_out(store, plan, lambda trial: 0.06 * (trial.arm == "1"), wobble=0.01)
    store.dispose()
    return file


@pytest.fixture
def plan_file(tmp_path: Path) -> Path:
    """A plan without a setting of the machine, whose experiment takes some seconds."""
    return _tiny_plan(tmp_path)


def _tiny_plan(folder: Path) -> Path:
    file = folder / "plan.toml"
    file.write_text(TINY.format(path=folder))
    return file


@pytest.fixture(scope="session")
def journals(
    tmp_path_factory: pytest.TempPathFactory, state_folder: Callable[[Path], Path]
) -> Iterator[pytest.MonkeyPatch]:
    """Journals for fixtures of a whole session."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        state = state_folder(tmp_path_factory.mktemp("journals"))
        monkeypatch.setenv("PARIBUS_STATE", str(state))
        monkeypatch.setenv("PARIBUS_REGISTER", str(state.with_name(f"{state.parent.name}-register")))
        yield monkeypatch


@pytest.fixture(scope="session")
def measured_lab(tmp_path_factory: pytest.TempPathFactory, journals: pytest.MonkeyPatch) -> Lab:
    """A laboratory with two real experiments; the plan and the data are in the folder of its store."""
    folder = tmp_path_factory.mktemp("measured")
    lab = Lab(folder / "s.db")
    for seed in (1, 2):
        lab.run(_tiny_plan(folder), {"protocol.seed": seed})
    return lab


@pytest.fixture
def interrupted_lab(tmp_path: Path) -> Lab:
    """A laboratory with an experiment that was interrupted in its third trial."""
    lab = Lab(tmp_path / "interrupted.db")
    with pytest.raises(KeyboardInterrupt):
        lab.run(_tiny_plan(tmp_path), listener=Interrupting())
    return lab
