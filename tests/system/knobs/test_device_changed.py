"""A device's name is given to another device during an experiment or while it is paused: that one is not written to."""

import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from command import Running

pytestmark = [pytest.mark.root, pytest.mark.usefixtures("as_root")]
BYTES = 16 * 2**20
LOOP_CTL_REMOVE = 0x4C81
NUMBER = 611  # far above those that `losetup --find` hands out
PLAN = """
name = "changed"
[target]
path = "{path}"
may_destroy = [{named}]
[factors]
"fileio.sync_writes" = ["none", "dsync"]
[[workload]]
kind       = "fileio"
device     = "{device}"
mode       = "rndwr"
total_size = "1MiB"
threads    = [1]
[protocol]
trial  = "500ms"
settle = "10ms"
rounds = 2
margin = "50%"
"""


@dataclass
class Images:
    """Two files, each of which a device may be made of; both are named in the plan."""

    first: Path
    second: Path

    def second_is_empty(self) -> bool:
        return self.second.read_bytes().strip(b"\0") == b""


@pytest.fixture
def images(tmp_path: Path) -> Images:
    made = Images(tmp_path / "first.img", tmp_path / "second.img")
    for image in (made.first, made.second):
        with image.open("wb") as file:
            file.truncate(BYTES)
    return made


# Said by the engine in the next trial, or by the guard before a block that has to be made again.
OTHER = "another device than the one"


@pytest.fixture
def attach() -> Iterator[Callable[[Path, str], str]]:
    """Make a loop device of an image, of that name or of a free one."""
    made: set[str] = set()

    def make(image: Path, name: str = "--find") -> str:
        argv = ["losetup", "--show", name, str(image)]
        device = subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip() or name
        made.add(device)
        return device

    yield make
    with Path("/dev/loop-control").open("rb") as control:
        for device in made:
            subprocess.run(["losetup", "--detach", device], check=False, capture_output=True)
            if (number := int(device.removeprefix("/dev/loop"))) >= NUMBER:
                fcntl.ioctl(control, LOOP_CTL_REMOVE, number)


def _plan(folder: Path, device: str | Path, images: Images) -> str:
    path = folder / "plan.toml"
    named = f'"{images.first}", "{images.second}"'
    path.write_text(PLAN.format(path=folder, named=named, device=device))
    return str(path)


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _is_loaded(device: str, controller: int) -> bool:
    """Whether an engine of this controller has the device open."""
    argv = ["pgrep", "--parent", str(controller), "--full", "paribus-engine run"]
    pids = subprocess.run(argv, capture_output=True, text=True, check=False).stdout.split()
    files = [file for pid in pids for file in Path("/proc", pid, "fd").glob("*")]
    return any(os.path.realpath(file) == device for file in files)


def _stopped_under_load(plan: str, device: str) -> Running:
    """An experiment whose controller is stopped while the first trial of its second block is measured."""
    running = Running("run", plan)
    running.wait_for("trial 2")
    _until(lambda: _is_loaded(device, running.pid))
    running.signal(signal.SIGSTOP)
    return running


def _detach(device: str) -> None:
    """Take the image from the device when the last engine has closed it."""
    subprocess.run(["losetup", "--detach", device], check=True)
    _until(lambda: not (Path("/sys/block") / Path(device).name / "loop").exists())


def test_a_link_that_is_flipped_between_two_trials_leads_to_no_write(tmp_path: Path, images: Images, attach) -> None:
    first, second = attach(images.first), attach(images.second)
    link = tmp_path / "disk"
    link.symlink_to(first)
    named = Path("/dev") / f"paribus-test-{os.getpid()}"
    named.symlink_to(link)  # a plan names a device below /dev
    try:
        running = _stopped_under_load(_plan(tmp_path, named, images), first)
        link.unlink()
        link.symlink_to(second)
        running.signal(signal.SIGCONT)
        ended = running.end()
    finally:
        named.unlink()
    assert images.second_is_empty()
    assert ended.code == 3, ended.err
    assert OTHER in ended.err


def test_a_loop_name_that_is_given_to_another_file_between_two_trials_leads_to_no_write(
    tmp_path: Path, images: Images, attach
) -> None:
    device = attach(images.first, f"/dev/loop{NUMBER}")
    running = _stopped_under_load(_plan(tmp_path, device, images), device)
    _detach(device)
    attach(images.second, device)
    running.signal(signal.SIGCONT)
    ended = running.end()
    assert images.second_is_empty()
    assert ended.code == 3, ended.err
    assert OTHER in ended.err
    assert "diskseq was" in ended.err


def test_a_loop_name_that_is_given_to_another_file_during_a_pause_is_not_resumed_on(
    paribus, tmp_path: Path, images: Images, attach
) -> None:
    device = attach(images.first, f"/dev/loop{NUMBER + 1}")
    running = Running("run", _plan(tmp_path, device, images))
    running.wait_for("trial 1")
    _until(lambda: _is_loaded(device, running.pid))
    running.signal(signal.SIGINT)
    assert running.end().code == 130
    _detach(device)
    attach(images.second, device)
    resumed = paribus("resume")
    assert images.second_is_empty()
    assert resumed.code == 3, resumed.err
    assert "another device than the one this experiment began on" in resumed.err


def test_the_same_device_is_resumed_on(paribus, tmp_path: Path, images: Images, attach) -> None:
    device = attach(images.first)
    running = Running("run", _plan(tmp_path, device, images))
    running.wait_for("trial 2")
    running.signal(signal.SIGINT)
    assert running.end().code == 130
    assert paribus("resume").code in (0, 3)
    assert images.second_is_empty()
