"""Attacks on a damaged experiment: corrupt journals, locks, stopped keepers, files that vanish."""

import contextlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from forked import Forked
from laboratory import Laboratory
from ssh_target import HONEST

Damage = Callable[[Path, random.Random], None]
_LOCKED_S = 5.0
_NOBODY = 65534


def _empty(path: Path, _: random.Random) -> None:
    path.write_bytes(b"")


def _zeros(path: Path, _: random.Random) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def _cut(path: Path, rng: random.Random) -> None:
    """Somewhere in the header or in a change, so that something is missing."""
    content = path.read_bytes()
    path.write_bytes(content[: rng.randrange(1, max(2, len(content.rstrip(b"\n").rpartition(b"\n")[0])))])


def _cut_at_a_line(path: Path, rng: random.Random) -> None:
    """Cut a file after a line; what is left is sound, and ends as a journal does."""
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[: rng.randrange(1, max(2, len(lines)))]))


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
    "cut off at the end of a line": _cut_at_a_line,
    "a flipped bit": _flipped,
    "a pipe": _pipe,
    "a dangling link": _link,
    "a folder": _folder,
}


def damage(places: Sequence[Callable[[Laboratory], Path]]) -> Callable[[Laboratory, random.Random], bool]:
    """Damage the open journal in each of these folders in one way; whether there was one."""

    def do(lab: Laboratory, rng: random.Random) -> bool:
        paths = [
            path
            for place in places
            for path in sorted(place(lab).rglob("*.jsonl"))
            if path.parent.name != "closed" and path.is_file()  # what was damaged before may lie there still
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
    """Restore the settings by hand and file the damaged journals as closed, as the message asks a person to do."""
    lab.restore_by_hand()
    closed = lab.journals / "closed"
    closed.mkdir(mode=0o700, exist_ok=True)
    for path in list(lab.journals.glob("*.jsonl")):
        path.rename(closed / path.name)


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
    """Let stopped keepers continue."""
    for pid in lab.processes("journal"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


ANSWERS = {
    "garbage": "head -c 65536 /dev/urandom",
    "no end": "exec yes",
    "nothing": "exit 1",
    "a greeting before each answer": f"echo Welcome; {HONEST}",
    "an error of the engine": """echo '{"event":"error","message":"owned"}'""",
    "half an answer": f"{HONEST.removeprefix('exec ')} | head -c 40",
}


def lie(lab: Laboratory, _: Forked, rng: random.Random) -> bool:
    """The target is taken over: it ends all connections, and what answers from now on is not a shell."""
    lab.target.answer(rng.choice(list(ANSWERS.values())))
    lab.target.kill_connections()
    return True


def be_honest(lab: Laboratory) -> None:
    """The target is its owner's again."""
    lab.target.answer_honestly()


def replace_engine(lab: Laboratory, process: Forked, __: random.Random) -> bool:
    """SIGKILL of everything; another user's program stands where the engine was pushed to."""
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    lab.target.kill_all()
    for engine in (lab.target.folder / "cache/paribus").glob("paribus-engine-*"):
        engine.unlink()
        engine.write_text(f"#!/bin/sh\ntouch {lab.proof}\n")
        engine.chmod(0o755)
        os.chown(engine, _NOBODY, _NOBODY)
    return True


_KILL_ENGINES = """
for process in /proc/[0-9]*; do
    case $(readlink $process/exe) in *paribus-engine*) kill -9 ${process#/proc/} ;; esac
done; true
"""


def set_clock_back(lab: Laboratory, process: Forked, rng: random.Random) -> bool:
    """In the guest by up to ten days, and all that could restore it is killed; the controller waits for its turn."""
    process.send_signal(signal.SIGSTOP)
    lab.guest.run(f"date -s @$(($(date +%s) - {rng.randrange(10 * 86400)}))")
    lab.guest.run(_KILL_ENGINES)
    process.send_signal(signal.SIGKILL)
    return True


def delete(path: Path) -> bool:
    """Delete a file; whether it was there."""
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True


def open_to_all(lab: Laboratory, _: Forked, __: random.Random) -> bool:
    """From now on every user can replace the content of the data folder."""
    lab.disks["data"].path.chmod(0o777)
    return True


def close_to_others(lab: Laboratory) -> None:
    """Only its owner can, again."""
    lab.disks["data"].path.chmod(0o755)
