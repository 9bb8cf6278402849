"""A real program on a real machine: the command as a person types it, and devices to try it on."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def run_ceteris(*arguments: str, **env: str) -> Done:
    """Run the command to its end."""
    done = subprocess.run(
        [sys.executable, "-m", "ceteris.cli.main", *arguments],
        env=os.environ | env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


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
    run_ceteris("undo")  # also where a test failed half-way
    subprocess.run(["losetup", "--detach", name], check=True)


def queue_of(device: str) -> Path:
    return Path("/sys/block") / Path(device).name / "queue"


def settings_of(device: str) -> dict[str, str]:
    """Every setting of the device's queue as it is now."""
    found = {}
    for path in sorted(queue_of(device).rglob("*")):
        if path.is_file():
            try:
                found[str(path.relative_to(queue_of(device)))] = path.read_text().strip()
            except OSError:
                found[str(path)] = "unreadable"
    return found


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
