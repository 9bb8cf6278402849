"""Faults while the definition of a guest is tested: after each, `paribus undo` leaves the guest as it was found."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable

import pytest
from command import Running, run_paribus
from processes import keepers
from waiting import wait_for

from guest.hypervisor import Hypervisor

pytestmark = [pytest.mark.root, pytest.mark.usefixtures("as_root")]

FACTORS = '"guest.disk.cache" = ["none", "writethrough"]'
EACH = 10  # faults of each kind
LATEST_S = 15.0  # after the first change: a shutdown and a boot
IN_GUEST = "cat /sys/block/vda/queue/read_ahead_kb"

Strike = Callable[[Hypervisor, Running, set[int]], None]


def _kill(*pids: int) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def _controller(_hypervisor: Hypervisor, running: Running, _keepers: set[int]) -> None:
    _kill(running.pid)


def _keeper(_hypervisor: Hypervisor, _running: Running, of_run: set[int]) -> None:
    _kill(*of_run)


def _everything(_hypervisor: Hypervisor, running: Running, of_run: set[int]) -> None:
    os.kill(running.pid, signal.SIGSTOP)
    _kill(*of_run, running.pid)


def _guest(hypervisor: Hypervisor, _running: Running, _keepers: set[int]) -> None:
    hypervisor.virsh_code("destroy", hypervisor.name)  # which may be off


def _panic(hypervisor: Hypervisor, _running: Running, _keepers: set[int]) -> None:
    argv = [hypervisor.path / "ssh", "-o", "ConnectTimeout=2", hypervisor.name, "echo c > /proc/sysrq-trigger"]
    subprocess.run(argv, capture_output=True, check=False)


def _daemon(hypervisor: Hypervisor, _running: Running, _keepers: set[int]) -> None:
    hypervisor.kill_daemon()
    time.sleep(2)
    hypervisor.start_daemon()


def _connection(_hypervisor: Hypervisor, running: Running, _keepers: set[int]) -> None:
    listed = subprocess.run(["pgrep", "--parent", str(running.pid), "ssh"], capture_output=True, text=True, check=False)
    _kill(*map(int, listed.stdout.split()))


STRIKES = (_controller, _keeper, _everything, _guest, _panic, _daemon, _connection)


@pytest.mark.parametrize("number", range(EACH))
@pytest.mark.parametrize("strike", STRIKES, ids=lambda strike: strike.__name__.removeprefix("_"))
def test_undo_restores_a_guest_after(
    strike: Strike, number: int, hypervisor: Hypervisor, plan: Callable[..., str]
) -> None:
    moments = random.Random(f"{strike.__name__} {number}")
    before, setting, others = hypervisor.definitions(), hypervisor.run(IN_GUEST), keepers()
    running = Running("run", plan(FACTORS, trial="500ms"))
    wait_for(lambda: hypervisor.cache_mode() == "writethrough", "no setting was changed")
    time.sleep(moments.uniform(0.0, LATEST_S))
    strike(hypervisor, running, keepers() - others)
    running.signal(signal.SIGINT)
    running.end(600)
    wait_for(lambda: run_paribus("undo").code == 0, "the guest was not restored", 600)
    assert hypervisor.definitions() == before
    wait_for(hypervisor.answers, "the guest answers")
    assert run_paribus("undo", "--target", hypervisor.address).code == 0
    assert hypervisor.run(IN_GUEST) == setting
