"""Devices to try the program on, and plans that take seconds."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command import Done, queue_of, run_ceteris

from ceteris.engine.find import binary


@pytest.fixture
def ceteris() -> Callable[..., Done]:
    return run_ceteris


@pytest.fixture
def loop(tmp_path: Path, as_root: None) -> Iterator[str]:
    """A loop device of 64 MiB."""
    image = tmp_path / "disk.img"
    with image.open("wb") as file:
        file.truncate(64 * 2**20)
    made = subprocess.run(["losetup", "--find", "--show", str(image)], capture_output=True, text=True, check=True)
    name = made.stdout.strip()
    yield name
    subprocess.run([binary(), "undo"], capture_output=True, check=False)  # also where a test failed half-way
    (queue_of(name) / "scheduler").write_text("none")  # what a loop device is set to outlives its file
    subprocess.run(["losetup", "--detach", name], check=True)


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
