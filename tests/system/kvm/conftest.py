"""A libvirt daemon with a guest that is reached over SSH."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from devices import new_loop

from guest.hypervisor import Hypervisor

DISK_BYTES = 256 << 20
PLAN = """
name = "guest"
[target]
host = "{host}"
path = "{path}"
guest = "{guest}"
hypervisor = "{uri}"
[factors]
{factors}
{more}
[[workload]]
kind       = "fileio"
total_size = "1MiB"
block_size = "4KiB"
threads    = [1]
[protocol]
trial  = "{trial}"
settle = "10ms"
rounds = 2
sub_trials = 1
margin = "50%"
method = "fixed"
seed   = 1
"""


@pytest.fixture(scope="module")
def of_this_module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Hypervisor, str]]:
    """The hypervisor and the disk of its guest; the tests of a module are one group (tests/conftest.py)."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    folder = tmp_path_factory.mktemp("kvm")
    with new_loop(folder / "disk.img", DISK_BYTES) as disk:
        made = Hypervisor(folder / "hypervisor", disk)
        yield made, disk
        made.remove()


@pytest.fixture
def hypervisor(of_this_module: tuple[Hypervisor, str], monkeypatch: pytest.MonkeyPatch) -> Hypervisor:
    """The hypervisor, whose guest is on and is reached as `ssh://db1`."""
    made, _ = of_this_module
    monkeypatch.setenv("PATH", str(made.path), prepend=os.pathsep)
    return made


@pytest.fixture
def disk(of_this_module: tuple[Hypervisor, str]) -> str:
    """The block device of this machine that the guest's disk is."""
    return of_this_module[1]


@pytest.fixture
def plan(hypervisor: Hypervisor, tmp_path: Path) -> Callable[..., str]:
    """Write a plan whose target is the guest, and return its path."""

    def write(
        factors: str,
        guest: str = Hypervisor.name,
        host: str = Hypervisor.address,
        path: str = Hypervisor.data,
        trial: str = "200ms",
        more: str = '[hold]\n"block.read_ahead_kb" = 256',
    ) -> str:
        file = tmp_path / "plan.toml"
        text = PLAN.format(
            factors=factors, guest=guest, host=host, path=path, uri=hypervisor.uri, trial=trial, more=more
        )
        file.write_text(text)
        return str(file)

    return write
