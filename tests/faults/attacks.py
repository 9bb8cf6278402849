"""What others do to an experiment that is hurt already: damaged journals, locks, stopped keepers, files that vanish."""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from forked import Forked
from laboratory import Laboratory

Damage = Callable[[Path, random.Random], None]
_LOCKED_S = 5.0


def _empty(path: Path, _: random.Random) -> None:
    path.write_bytes(b"")


def _zeros(path: Path, _: random.Random) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def _cut(path: Path, rng: random.Random) -> None:
    """Somewhere in the header or in a change, so that something is missing."""
    content = path.read_bytes()
    path.write_bytes(content[: rng.randrange(1, max(2, len(content.rstrip(b"\n").rpartition(b"\n")[0])))])


def _flipped(path: Path, rng: random.Random) -> None:
    content = bytearray(path.read_bytes())
    content[rng.randrange(len(content) - 1)] ^= 1 << rng.randrange(7)
    path.write_bytes(content)


def _pipe(path: Path, _: random.Random) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


def _link(path: Path, _: random.Random) -> None:
    path.unlink()
    path.symlink_to(path.with_name("nothing"))


def _folder(path: Path, _: random.Random) -> None:
    path.unlink()
    path.mkdir(mode=0o700)


DAMAGES: dict[str, Damage] = {
    "empty": _empty,
    "zeros": _zeros,
    "cut off": _cut,
    "a flipped bit": _flipped,
    "a pipe": _pipe,
    "a dangling link": _link,
    "a folder": _folder,
}


def damage(places: Sequence[Callable[[Laboratory], Path]]) -> Callable[[Laboratory, random.Random], bool]:
    """Damage the open journal in each of these folders in one way; whether there was one."""

    def do(lab: Laboratory, rng: random.Random) -> bool:
        paths = [
            path for place in places for path in sorted(place(lab).rglob("*.jsonl")) if path.parent.name != "closed"
        ]
        if len(paths) < len(places):
            return False
        how = rng.choice(list(DAMAGES.values()))
        for path in paths:
            lab.damaged.add(path.name.partition(".")[0])
            how(path, rng)
        return True

    return do


def put_right(lab: Laboratory) -> None:
    """What a person does whose journals are damaged: the settings by hand, the journals away."""
    lab.restore_by_hand()
    for folder in (lab.journals, lab.copies):
        for path in [path for path in folder.rglob("*.jsonl") if path.parent.name != "closed"]:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()


class Locker:
    """A program that holds locks on journals."""

    def __init__(self) -> None:
        self._held: list[subprocess.Popen[bytes]] = []

    def take(self, lab: Laboratory, names: str) -> bool:
        """Lock the files of these names; whether there was one."""
        for path in lab.journals.glob(names):
            self._held.append(subprocess.Popen(["flock", "--exclusive", str(path), "sleep", "300"]))
            deadline = time.monotonic() + _LOCKED_S
            while self._is_free(path) and time.monotonic() < deadline:
                time.sleep(0.02)
        return bool(self._held)

    @staticmethod
    def _is_free(path: Path) -> bool:
        return subprocess.run(["flock", "--nonblock", str(path), "true"], check=False).returncode == 0

    def let_go(self, _: Laboratory) -> None:
        """Release them."""
        for process in self._held:
            subprocess.run(["pkill", "--parent", str(process.pid)], check=False)
            process.kill()
            process.wait()
        self._held.clear()


def stop_keepers(lab: Laboratory) -> bool:
    """Stop the keepers, which live and do nothing; whether there was one."""
    keepers = lab.processes("journal")
    for pid in keepers:
        os.kill(pid, signal.SIGSTOP)
    return bool(keepers)


def wake_keepers(lab: Laboratory) -> None:
    """Let stopped keepers go on."""
    for pid in lab.processes("journal"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def delete(path: Path) -> bool:
    """Delete a file; whether it was there."""
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True


def open_to_all(lab: Laboratory, _: Forked, __: random.Random) -> bool:
    """From now on every user can replace what is in the folder of data."""
    lab.disks["data"].path.chmod(0o777)
    return True


def close_to_others(lab: Laboratory) -> None:
    """Only its owner can, again."""
    lab.disks["data"].path.chmod(0o755)
