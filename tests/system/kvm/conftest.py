"""A libvirt daemon with a guest that is reached over SSH."""

import os
from collections.abc import Iterator

import pytest
from devices import new_loop

from guest.hypervisor import Hypervisor

DISK_BYTES = 256 << 20


@pytest.fixture(scope="module")
def of_this_module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Hypervisor, str]]:
    """The hypervisor and the disk of its guest; the tests of a module are one group (tests/conftest.py)."""
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
