"""A machine to be hurt: a loop device tuned by hand, small disks that can be filled or break, and a target over SSH.

Both experiments, here and over SSH, change the same device, one after the other. What is set is looked at from here.
"""

import contextlib
import fcntl
import os
import random
import struct
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Literal

from command import queue_of, settings_of
from ssh_target import SshTarget

from ceteris.model import ExperimentState, TrialState
from ceteris.store import read
from ceteris.store.open import open_engine, store_url

HERE = Path(__file__).parent
Where = Literal["here", "there"]
PLANNED = 32  # trials of the plan
_SHUTDOWN, _AT_ONCE = 0x8004587D, 2  # ext4's own: from now on every operation is an I/O error

PLAN = """
name = "{name}"
[target]
{host}
device = "{device}"
path   = "{path}"
[factors]
"block.scheduler" = ["mq-deadline", "none"]
[hold]
"vm.swappiness" = 33
[[workload]]
kind       = "fileio"
total_size = "64KiB"
files      = 1
block_size = "4KiB"
threads    = [1]
data       = "round"
[protocol]
trial  = "20ms"
settle = "5ms"
rounds = 2
margin = "50%"
"""


class SmallDisk:
    """An ext4 of 32 MiB on a loop device, mounted at `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True)
        image = path.with_suffix(".img")
        with image.open("wb") as file:
            file.truncate(32 * 2**20)
        _run("mkfs.ext4", "-q", str(image))
        self._device = _run("losetup", "--find", "--show", str(image)).strip()
        self.mount()

    def mount(self) -> None:
        """Mount it, after it was broken with all that was written whole."""
        _run("mount", self._device, str(self.path))

    def fill(self) -> None:
        """Leave no byte free."""
        with contextlib.suppress(OSError), (self.path / "ballast").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))

    def break_(self) -> None:
        """From now on every operation fails with an I/O error."""
        folder = os.open(self.path, os.O_RDONLY)
        try:
            os.sync()
            fcntl.ioctl(folder, _SHUTDOWN, struct.pack("I", _AT_ONCE))
        finally:
            os.close(folder)

    def mend(self) -> None:
        """Free and whole again; nothing may be using it."""
        with contextlib.suppress(OSError):
            (self.path / "ballast").unlink()
        for _ in range(200):
            if subprocess.run(["umount", str(self.path)], capture_output=True, check=False).returncode == 0:
                break
            time.sleep(0.1)
        subprocess.run(["fsck.ext4", "-fy", self._device], capture_output=True, check=False)
        self.mount()

    def remove(self) -> None:
        """Unmount it and give its loop device back."""
        subprocess.run(["umount", "--lazy", str(self.path)], capture_output=True, check=False)
        subprocess.run(["losetup", "--detach", self._device], capture_output=True, check=False)


def _run(*argv: str) -> str:
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


class Laboratory:
    """The device, the disks, the target, and the experiments on them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        image = folder / "disk.img"
        with image.open("wb") as file:
            file.truncate(64 * 2**20)
        self.device = _run("losetup", "--find", "--show", str(image)).strip()
        for name, value in (("scheduler", "mq-deadline"), ("nr_requests", "100"), ("iosched/read_expire", "770")):
            (queue_of(self.device) / name).write_text(value)
        self.disks = {name: SmallDisk(folder / name) for name in ("store", "journal", "data")}
        (folder / "target").mkdir()
        self.target = SshTarget(folder / "target")
        self.environment = os.environ | {
            "CETERIS_STORE": str(folder / "store" / "ceteris.db"),
            "CETERIS_STATE": str(folder / "journal"),
            "PATH": f"{self.target.path}:{os.environ['PATH']}",
        }
        self.before = self.values()
        self._plans: dict[Where, Path] = {}
        for where, host in (("here", ""), ("there", f'host = "{SshTarget.address}"')):
            path = self._plans[where] = folder / f"{where}.toml"  # type: ignore[index]
            path.write_text(PLAN.format(name=where, host=host, device=self.device, path=self.disks["data"].path))

    def values(self) -> dict[str, str]:
        """Every setting of the device and the sysctl, as they are now."""
        return settings_of(self.device) | {"swappiness": Path("/proc/sys/vm/swappiness").read_text()}

    def different(self) -> dict[str, str]:
        """What is not as it was before anything was tried."""
        now = self.values()
        return {
            name: f"{value} became {now.get(name)}" for name, value in self.before.items() if now.get(name) != value
        }

    def start(self, where: Where, *victim: str) -> "subprocess.Popen[str]":
        """Begin the experiment, or go on with it; killed by itself where `victim` says at which moment."""
        verb = ["resume", self._latest(where)] if self.is_unfinished(where) else ["run", str(self._plans[where])]
        program = [str(HERE / "victim.py"), *victim, "--"] if victim else ["-m", "ceteris.cli.main"]
        with (self.folder / "words").open("w") as words:
            return subprocess.Popen(
                [sys.executable, *program, *verb], env=self.environment, stdout=words, stderr=words, text=True
            )

    def words(self) -> str:
        """What the last experiment said."""
        return (self.folder / "words").read_text()

    def ceteris(self, *arguments: str) -> int:
        """The exit code of a command."""
        done = subprocess.run(
            [sys.executable, "-m", "ceteris.cli.main", *arguments],
            env=self.environment, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        return done.returncode

    def undo(self) -> int:
        """Put back what is open here and there; the worse of the two exit codes."""
        return max(self.ceteris("undo"), self.ceteris("undo", "--target", SshTarget.address))

    def wait_until_nobody_works(self, patience_s: float = 60.0) -> None:
        """Until no engine of an experiment runs any more, here or there."""
        deadline = time.monotonic() + patience_s
        while self.processes("run") or self.processes("sample") or self.processes("journal"):
            if time.monotonic() > deadline:
                raise AssertionError(f"still there: {self.processes('')}")
            time.sleep(0.05)

    def processes(self, verb: str) -> list[int]:
        """The engine's processes with this subcommand, of this laboratory's experiments."""
        pattern = rf"ceteris-engine(-[0-9a-f]+)? {verb}"
        found = subprocess.run(["pgrep", "--full", pattern], capture_output=True, text=True, check=False)
        return [int(pid) for pid in found.stdout.split() if _is_engine(int(pid))]

    # --- what the store holds ---

    def _trials(self, where: Where) -> list[tuple[str, ExperimentState]]:
        if not Path(self.environment["CETERIS_STORE"]).exists():
            return []
        store = open_engine(store_url(self.environment["CETERIS_STORE"]), create=False)
        try:
            return [(one.id, one.state) for one in read.experiments(store) if one.name == where]
        finally:
            store.dispose()

    def _latest(self, where: Where) -> str:
        return self._trials(where)[0][0]

    def is_unfinished(self, where: Where) -> bool:
        """Whether the newest experiment can be resumed."""
        found = self._trials(where)
        return bool(found) and found[0][1] is not ExperimentState.DONE

    def lost_or_double(self, where: Where) -> int:
        """Of the newest experiment: (block, arm) without a counting trial, or with more than one."""
        if not self._trials(where):
            return 0
        store = open_engine(store_url(self.environment["CETERIS_STORE"]), create=False)
        try:
            trials = read.trials(store, self._latest(where))
        finally:
            store.dispose()
        counting = Counter((t.block, t.arm) for t in trials if t.state is not TrialState.SUPERSEDED)
        return abs(PLANNED - len(counting)) + sum(n - 1 for n in counting.values())

    def remove(self) -> None:
        """Put all back and take the laboratory down."""
        self.undo()
        self.target.remove()
        for disk in self.disks.values():
            disk.remove()
        (queue_of(self.device) / "scheduler").write_text("none")
        subprocess.run(["losetup", "--detach", self.device], check=False)


def _is_engine(pid: int) -> bool:
    """Not a shell or an ssh that only has the engine in its arguments."""
    try:
        return "ceteris-engine" in str(Path(f"/proc/{pid}/exe").readlink())
    except OSError:
        return False


def pause(rng: random.Random, process: "subprocess.Popen[str]", longest_s: float) -> bool:
    """Wait for a random time; whether the process still runs then."""
    until = time.monotonic() + rng.uniform(0.4, longest_s)
    while time.monotonic() < until and process.poll() is None:
        time.sleep(0.005)
    return process.poll() is None
