"""A machine to be hurt: a loop device tuned by hand, small disks that can be filled or break, and targets over SSH.

Experiments here and over SSH change the same device, one after the other; what is set is looked at from here. A guest
is a machine of its own, with a kernel, a disk and power to lose; it is made when a fault first wants it.
"""

import contextlib
import functools
import json
import os
import random
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from command import queue_of, settings_of
from forked import Forked, import_everything
from small_disk import SmallDisk
from ssh_target import SshTarget
from victim import run

from guest.image import command
from guest.target import GuestTarget
from paribus.model import Experiment, ExperimentState, TrialState
from paribus.store import read
from paribus.store.open import open_engine, store_url

Where = Literal["here", "mount", "there", "guest"]
LOCAL = ("here", "mount")  # without a connection
PLANNED = 32  # trials of the plan, the fewest that can be judged
SYSCTLS = Path("/proc/sys/vm")
CHANGED = ("swappiness", "compaction_proactiveness")  # sysctls that the plan sets
UNCOUNTED = (TrialState.SUPERSEDED,)

PLAN = """
name = "{name}"
[target]
{host}
device = "{device}"
path   = "{path}"
{settings}
[[workload]]
kind       = "fileio"
total_size = "64KiB"
files      = 1
block_size = "4KiB"
threads    = [1]
data       = "round"
[protocol]
trial  = "{trial}"
settle = "5ms"
rounds = 2
margin = "50%"
"""

SETTINGS = """
[hold]
"vm.swappiness" = 33
"block.scheduler" = "mq-deadline"
[[combination]]
name = "none"
settings = { "block.scheduler" = "none", "vm.compaction_proactiveness" = 33 }
"""
MOUNT_SETTINGS = """
[[combination]]
name = "writeback"
settings = { "mount.data" = "writeback" }
"""


class Laboratory:
    """The device, the disks, the targets, and the experiments on them."""

    def __init__(self, folder: Path) -> None:
        import_everything()
        self.folder = folder
        image = folder / "disk.img"
        with image.open("wb") as file:
            file.truncate(64 * 2**20)
        self.device = command("losetup", "--find", "--show", image).strip()
        for name, value in (("scheduler", "mq-deadline"), ("nr_requests", "100"), ("iosched/read_expire", "770")):
            (queue_of(self.device) / name).write_text(value)
        self.disks = {name: SmallDisk(folder / name) for name in ("store", "journal", "data")}
        self.journals, self.copies = folder / "journal" / "journal", folder / "copies"
        self.copies.mkdir(mode=0o700)
        self.damaged: set[str] = set()
        self.wrong: list[str] = []  # what was seen during a fault, as a sentence
        self.proof = folder / "proof"  # is there once a program of another user was run
        (folder / "target").mkdir()
        self.target = SshTarget(folder / "target")
        self.environment = os.environ | {
            "PARIBUS_STORE": str(folder / "store" / "paribus.db"),
            "PARIBUS_STATE": str(folder / "journal"),
            "PARIBUS_STATE_COPY": str(self.copies),
            "PARIBUS_REGISTER": str(folder / "register"),
            "PATH": f"{self.target.path}:{os.environ['PATH']}",
        }
        self._guest: GuestTarget | None = None
        self._before: dict[Where, dict[str, str]] = {"here": self._values("here")}
        self._before["there"] = self._before["here"]
        self._before["mount"] = self._values("mount")
        self._plan("here", "", self.device, str(self.disks["data"].path), "20ms")
        self._plan("mount", "", self.device, str(self.disks["data"].path), "20ms", MOUNT_SETTINGS)
        self._plan("there", f'host = "{SshTarget.address}"', self.device, str(self.disks["data"].path), "20ms")

    def _plan(self, where: Where, host: str, device: str, path: str, trial: str, settings: str = SETTINGS) -> None:
        text = PLAN.format(name=where, host=host, device=device, path=path, trial=trial, settings=settings)
        (self.folder / f"{where}.toml").write_text(text)

    @property
    def guest(self) -> GuestTarget:
        """The machine whose power can be cut, booted."""
        if self._guest is None:
            (self.folder / "guest").mkdir()
            self._guest = made = GuestTarget(self.folder / "guest")
            self._before["guest"] = self._values("guest")
            self._plan("guest", f'host = "{made.address}"', made.device, made.data, "50ms")  # it is slow
        return self._guest

    # --- what is set ---

    def _values(self, where: Where) -> dict[str, str]:
        """Every setting of the device and the sysctls of the plan, as they are now."""
        if where == "guest":
            return self.guest.settings()
        if where == "mount":
            return {"mount options": self.disks["data"].options}
        return settings_of(self.device) | {name: (SYSCTLS / name).read_text() for name in CHANGED}

    def different(self, where: Where) -> dict[str, str]:
        """Return the values that differ from those before the campaign, or set by hand in this boot of the guest."""
        before = self._before[where] | (self.guest.by_hand() if where == "guest" else {})
        now = self._values(where)
        return {name: f"{value} became {now.get(name)}" for name, value in before.items() if now.get(name) != value}

    def is_changed(self, where: Where) -> bool:
        """Whether the experiment has set something; in the guest, which is slow to be asked, after its first trial."""
        return "\ntrial " in self.words() if where == "guest" else bool(self.different(where))

    def open_journals(self, where: Where) -> dict[str, str]:
        """The journals that are not closed, and any that cannot be read, with what they say."""
        if where == "guest":
            texts = {path: text for path, text in self.guest.texts("/data/state").items() if path.endswith(".jsonl")}
        else:
            state = Path(self.environment["PARIBUS_STATE"]) if where in LOCAL else self.target.state
            texts = {str(path): _text(path) for path in state.rglob("*.jsonl") if not self._was_damaged(path)}
        return {path: text for path, text in texts.items() if "/closed/" not in path or not _is_readable(text)}

    def _was_damaged(self, path: Path) -> bool:
        """Whether it is a closed journal, and was damaged on purpose when it was open."""
        return path.parent.name == "closed" and path.name.partition(".")[0] in self.damaged

    def restore_by_hand(self) -> None:
        """Set everything of this machine as it was, as a person does without a journal."""
        (queue_of(self.device) / "scheduler").write_text("mq-deadline")  # first: it moves others
        for name in self.different("here"):
            path = SYSCTLS / name if name in CHANGED else queue_of(self.device) / name
            with contextlib.suppress(OSError):  # read-only ones follow
                path.write_text(self._before["here"][name])

    # --- experiments ---

    def _environment(self, where: Where) -> dict[str, str]:
        path = {"PATH": f"{self.guest.path}:{os.environ['PATH']}"} if where == "guest" else {}
        return self.environment | path

    def start(self, where: Where, *victim: str) -> Forked:
        """Begin the experiment, or resume it; killed by itself where `victim` says at which moment."""
        environment = self._environment(where)
        begun = self._unfinished(where)
        verb = ["resume", begun.id] if begun else ["run", str(self.folder / f"{where}.toml")]
        (self.folder / "words").write_text("")
        return Forked(functools.partial(run, verb, victim), environment, self.folder / "words")

    def words(self) -> str:
        """Return the output of the last experiment."""
        return (self.folder / "words").read_text()

    def paribus(self, where: Where, *arguments: str) -> int:
        """The exit code of a command."""
        call = functools.partial(run, arguments)
        return Forked(call, self._environment(where), self.folder / "words of a command").wait(300)

    def words_of_command(self) -> str:
        """Return the output of the last command."""
        return (self.folder / "words of a command").read_text()

    def undo(self, where: Where) -> int:
        """Put back what is open there; the exit code."""
        addresses = {"there": SshTarget.address, "guest": GuestTarget.address}
        target = ["--target", addresses[where]] if where in addresses else []
        return self.paribus(where, "undo", *target)

    def wait_until_nobody_works(self, where: Where, patience_s: float = 60.0) -> None:
        """Until no engine of an experiment runs any more."""
        verbs = ("run", "sample", "journal")
        if where == "guest":
            self._wait(lambda: "paribus-engine" not in self.guest.run("ps"), patience_s, "engines in the guest")
        self._wait(lambda: not any(self.processes(verb) for verb in verbs), patience_s, "engines")

    @staticmethod
    def _wait(ends: Callable[[], bool], patience_s: float, what: str) -> None:
        deadline = time.monotonic() + patience_s
        while not ends():
            if time.monotonic() > deadline:
                raise AssertionError(f"still there after {patience_s:.0f} s: {what}")
            time.sleep(0.05)

    def processes(self, verb: str) -> list[int]:
        """The engine's processes with this subcommand, of this laboratory's experiments."""
        pattern = rf"paribus-engine(-[0-9a-f]+)? {verb}"
        found = subprocess.run(["pgrep", "--full", pattern], capture_output=True, text=True, check=False)
        return [int(pid) for pid in found.stdout.split() if self._is_ours(int(pid))]

    def _is_ours(self, pid: int) -> bool:
        """An engine, not a shell or an ssh that only has one in its arguments, and not one of somebody else's."""
        with contextlib.suppress(OSError):
            process = Path(f"/proc/{pid}")
            state = f"PARIBUS_STATE={self.folder}/"
            return "paribus-engine" in str((process / "exe").readlink()) and state in (process / "environ").read_text()
        return False

    # --- what the store holds ---

    def _newest(self, where: Where) -> Experiment | None:
        if not Path(self.environment["PARIBUS_STORE"]).exists():
            return None
        store = open_engine(store_url(self.environment["PARIBUS_STORE"]), create=False)
        try:
            return next((one for one in read.experiments(store) if one.name == where), None)
        finally:
            store.dispose()

    def _unfinished(self, where: Where) -> Experiment | None:
        found = self._newest(where)
        return found if found and found.state is not ExperimentState.DONE else None

    def is_unfinished(self, where: Where) -> bool:
        """Whether the newest experiment can be resumed."""
        return self._unfinished(where) is not None

    def lost_or_double(self, where: Where) -> int:
        """Of the newest experiment: places in blocks without a counting trial, or with more than one."""
        newest = self._newest(where)
        if newest is None:
            return 0
        store = open_engine(store_url(self.environment["PARIBUS_STORE"]), create=False)
        try:
            trials = read.trials(store, newest.id)
        finally:
            store.dispose()
        counting = Counter((t.block, t.position) for t in trials if t.state not in UNCOUNTED)
        return abs(PLANNED - len(counting)) + sum(n - 1 for n in counting.values())

    def remove(self) -> None:
        """Put all back and take the laboratory down."""
        self.undo("here")
        self.undo("there")
        if self._guest is not None:
            self._guest.remove()
        self.target.remove()
        for disk in self.disks.values():
            disk.remove()
        (queue_of(self.device) / "scheduler").write_text("none")
        subprocess.run(["losetup", "--detach", self.device], check=False)


def _text(path: Path) -> str:
    """Of a regular file; of anything else, and on a disk that fails, nothing that is a journal."""
    try:
        return path.read_text(errors="replace") if path.is_file() else "no regular file\n"
    except OSError:
        return "cannot be read\n"


def _is_readable(journal: str) -> bool:
    """Whether its lines are JSON; what follows the last newline was never finished, and says nothing."""
    try:
        return all(isinstance(json.loads(line), dict) for line in journal.split("\n")[:-1])
    except ValueError:
        return False


def pause(rng: random.Random, process: Forked, longest_s: float) -> bool:
    """Wait for a random time; whether the process still runs then."""
    until = time.monotonic() + rng.uniform(0, longest_s)
    while time.monotonic() < until and process.poll() is None:
        time.sleep(0.005)
    return process.poll() is None
