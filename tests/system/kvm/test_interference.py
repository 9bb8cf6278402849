"""Trials in a guest that another guest disturbs, or whose guest changes: unusable, with the cause by name."""

import contextlib
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command import Running
from waiting import wait_for

from guest.hypervisor import Hypervisor
from paribus.model import TrialState
from paribus.store import read
from paribus.store.open import open_engine, store_url

pytestmark = [pytest.mark.root, pytest.mark.usefixtures("as_root")]

Plan = Callable[..., str]
FACTORS = '"block.read_ahead_kb" = [64, 256]'
DONE = 6  # trials without disturbance, before there is one
# A kernel without a root boots, panics, and boots again.
BUSY = """
<domain type="qemu">
  <name>db2</name>
  <memory unit="MiB">128</memory>
  <vcpu>2</vcpu>
  <os>
    <type arch="x86_64" machine="pc">hvm</type>
    <kernel>{kernel}</kernel>
    <cmdline>panic=-1</cmdline>
  </os>
  <on_reboot>restart</on_reboot>
  <devices><emulator>/usr/bin/qemu-system-x86_64</emulator></devices>
</domain>
"""


@pytest.fixture
def running(plan: Plan) -> Iterator[Running]:
    """An experiment whose first trials are done."""
    file = Path(plan(FACTORS, trial="1s", more=""))
    file.write_text(file.read_text().replace("rounds = 2", "rounds = 16"))
    experiment = Running("run", str(file))
    experiment.wait_for("trial")
    wait_for(lambda: len(_trials(TrialState.DONE)) >= DONE, "trials are done")
    yield experiment
    experiment.signal(signal.SIGINT)
    experiment.end(300)


@pytest.fixture
def busy_guest(hypervisor: Hypervisor, tmp_path: Path) -> Iterator[Callable[[], None]]:
    """Start another guest, whose processor is always busy."""

    def start() -> None:
        kernel = hypervisor.virsh("dumpxml", hypervisor.name).partition("<kernel>")[2].partition("</kernel>")[0]
        file = tmp_path / "db2.xml"
        file.write_text(BUSY.format(kernel=kernel))
        hypervisor.virsh("create", file)

    yield start
    with contextlib.suppress(subprocess.CalledProcessError):
        hypervisor.virsh("destroy", "db2")


def test_another_guest_that_becomes_busy_is_named(running: Running, busy_guest: Callable[[], None]) -> None:
    assert running.goes_on()
    busy_guest()
    wait_for(lambda: any("on the hypervisor: " in reason and "guest db2 (" in reason for reason in _reasons()), "named")


def test_a_changed_definition_is_named(running: Running, hypervisor: Hypervisor) -> None:
    limit = ("blkdeviotune", hypervisor.name, "vda", "--live", "--total-iops-sec")
    values = iter(range(100_000, 200_000))
    expected = "on the hypervisor: the definition of the guest db1 changed meanwhile: devices/disk"

    def is_named() -> bool:
        hypervisor.virsh(*limit, str(next(values)))
        return expected in _reasons()

    assert running.goes_on()
    wait_for(is_named, "named")
    hypervisor.virsh(*limit, "0")


def _trials(state: TrialState) -> list[str]:
    """The reasons of the trials of the last experiment that have this state."""
    store = open_engine(store_url(None), create=False)
    try:
        trials = read.trials(store, read.find(store, "last").id)
    finally:
        store.dispose()
    return [" ".join(trial.invalid_because) for trial in trials if trial.state is state]


def _reasons() -> list[str]:
    return _trials(TrialState.INVALID)
