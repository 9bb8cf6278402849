"""Devices to try the program on, and plans that take seconds."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import web_samples as samples
from command import Done, Filesystem, end_all, run_paribus
from devices import new_loop
from hostile_target import HostileTarget
from lab_sandbox import LabSandbox
from others import VARIABLE, Others
from sqlalchemy.engine import Engine as Store
from ssh_target import SshTarget

from paribus.databases import Instance
from paribus.engine.find import binary
from paribus.hosts.local import LocalHost
from paribus.store.open import open_engine, store_url


@pytest.fixture(scope="session")
def sandbox() -> Iterator[LabSandbox]:
    """A virtual machine with four limited disks and others; its tests are one group (tests/conftest.py)."""
    made = LabSandbox(f"t{os.getpid()}", packages=["zfs-dkms"] if "PARIBUS_EXPLORE" in os.environ else [])
    yield made
    made.remove()


@pytest.fixture
def paribus() -> Callable[..., Done]:
    return run_paribus


@pytest.fixture(autouse=True)
def no_command_left() -> Iterator[None]:
    """End the commands that a test has started and not waited for, so that they disturb no later test."""
    yield
    end_all()


@pytest.fixture
def loop(tmp_path: Path, as_root: None) -> Iterator[str]:
    """A new loop device of 64 MiB."""
    with new_loop(tmp_path / "disk.img", 64 * 2**20) as name:
        yield name
        end_all()
        subprocess.run([binary(), "undo", "--kept"], capture_output=True, check=False)  # for a test that failed


@pytest.fixture
def filesystem(tmp_path: Path, as_root: None) -> Iterator[Filesystem]:
    """Make and mount a file system, and return its mount point."""
    points: list[Path] = []
    with contextlib.ExitStack() as devices:

        def make(kind: str, options: str = "rw") -> Path:
            point = tmp_path / f"on {kind}"
            point.mkdir()
            device = "none" if kind == "tmpfs" else devices.enter_context(_formatted(kind, tmp_path / f"{kind}.img"))
            subprocess.run(["mount", "-t", kind, "-o", options, device, str(point)], check=True)
            points.append(point)
            return point

        yield make
        end_all()
        subprocess.run([binary(), "undo"], capture_output=True, check=False)
        for point in points:
            subprocess.run(["umount", "--lazy", str(point)], check=False)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that a server's user can pass, with one for data in it."""
    folder = Path(tempfile.mkdtemp(prefix="paribus-served-", dir="/var/tmp"))
    folder.chmod(0o755)
    (folder / "data").mkdir()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def long_list(tmp_path: Path) -> Store:
    """The store that `paribus serve` shows, with a list of a few hundred experiments."""
    made = open_engine(store_url(str(tmp_path / "paribus.db")), create=True)
    for number in range(300):
        samples.begin(made, 2, f"a long name of experiment {number}", f"20260101-{number:06}-abcd")
    return made


@contextlib.contextmanager
def _formatted(kind: str, image: Path) -> Iterator[str]:
    with new_loop(image, 400 * 2**20) as name:
        subprocess.run([f"mkfs.{kind}", "-q", name], check=True, capture_output=True)
        yield name


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SshTarget]:
    """A machine to reach over SSH."""
    made = SshTarget(tmp_path / "target")
    monkeypatch.setenv("PATH", str(made.path), prepend=os.pathsep)
    yield made
    made.remove()


@pytest.fixture
def db1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HostileTarget]:
    """A machine to reach over SSH that answers as a test wants."""
    made = HostileTarget(tmp_path / "db1")
    monkeypatch.setenv("PATH", str(made.path), prepend=os.pathsep)
    yield made
    made.stop()


@pytest.fixture
def loopback() -> bool:
    """Whether the server is reached by the network with a password, or by its socket, which stays where it is."""
    return True


@pytest.fixture(params=["mariadb", "postgres"])
def others(request: pytest.FixtureRequest, loopback: bool, monkeypatch: pytest.MonkeyPatch) -> Iterator[Others]:
    folder = Path(tempfile.mkdtemp(prefix="paribus-others-", dir="/var/tmp"))
    folder.chmod(0o755)
    instance = Instance(LocalHost(), binary(), str(folder / "db"), request.param, loopback=loopback)
    instance.create()
    try:
        instance.start()
        password = instance.address().password
        secret = password.get_secret_value() if password else ""
        monkeypatch.setenv(VARIABLE, secret)
        yield Others(request.param, folder, instance, secret)
    finally:
        instance.remove()
        shutil.rmtree(folder)


TINY = """
name = "tiny"
[target]
path = "{path}"
{target}
[factors]
{factors}
[[workload]]
kind       = "fileio"
total_size = "1MiB"
block_size = "4KiB"
threads    = {threads}
[protocol]
trial  = "{trial}"
settle = "10ms"
rounds = 2
margin = "50%"
method = "fixed"
seed   = 1
"""


@pytest.fixture
def plan(tmp_path: Path) -> Callable[..., str]:
    """Write a plan that takes seconds, and return its path."""

    def write(
        factors: str = '"fileio.direct" = [false, true]', target: str = "", threads: str = "[1]", trial: str = "50ms"
    ) -> str:
        path = tmp_path / "plan.toml"
        path.write_text(TINY.format(path=tmp_path, factors=factors, target=target, threads=threads, trial=trial))
        return str(path)

    return write
